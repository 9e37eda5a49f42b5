/* switches.c - the context switches among the events of a database. */
#include "cli/model/switches.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/model/row_cursor.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* An ev_ table of sched_switch; or switch records, whose name is "". */
struct switch_rows {
	char *name;
	struct row_cursor c;
	size_t prev, next, comm, state; /* columns; 0: there is none */
};

/* Where the switches of an event type are. */
struct source {
	size_t cursor; /* index in cursor[] + 1; 0: no switches */
	int64_t kernel, events;
	bool sample;
	uint64_t happened; /* of sampled switches; else 0 */
};

struct switches {
	struct store *db;
	struct switch_rows *cursor;
	size_t n_cursor, cap_cursor;
	struct source *type; /* by event_type.id */
	size_t n_type, cap_type;
	uint64_t bare;
	uint64_t sampled, happened; /* see switches_sampled() */
};

/* Returns the index of the cursor + 1, which is opened if it is new; 0 and
 * *err. */
static size_t open_switch_rows(struct switches *s, const char *name,
			       struct err *err)
{
	static const char *const names[][2] = {
		{ "prev_pid", "prev_tid" },
		{ "next_pid", "next_tid" },
		{ "next_comm", "next_comm" },
		{ "prev_state", "prev_state" },
	};
	struct switch_rows *c;
	int rc;

	for (size_t i = 0; i < s->n_cursor; i++)
		if (!strcmp(s->cursor[i].name, name))
			return i + 1;
	c = mem_add(s->cursor, s->n_cursor, s->cap_cursor);
	*c = (struct switch_rows){ .name = mem_strdup(name) };
	if (*name)
		rc = row_cursor_open_table(&c->c, s->db, name, err);
	else
		rc = row_cursor_open(&c->c, s->db, store_sql("switch_records"),
				     err);
	if (rc)
		return 0;

	size_t *const column[] = { &c->prev, &c->next, &c->comm, &c->state };

	for (size_t i = 1; *name && i < rows_columns(c->c.rows); i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!strcmp(rows_name(c->c.rows, i), names[k][0]) ||
			    !strcmp(rows_name(c->c.rows, i), names[k][1]))
				*column[k] = i;
	return s->n_cursor;
}

/* Returns whether the name is "sched:sched_switch", possibly with an instance
 * in front, modifiers behind ("sched_switch:k", "sched_switch/max-stack=8/"),
 * or without the system. */
static bool is_sched_switch(const char *name)
{
	static const char word[] = "sched_switch";

	for (const char *s = name; (s = strstr(s, word)); s++) {
		char end = s[sizeof(word) - 1];

		if ((s == name || s[-1] == ':' || s[-1] == '/') &&
		    (!end || end == ':' || end == '/'))
			return true;
	}
	return false;
}

static int switches_read_types(struct switches *s, struct err *err)
{
	struct rows *r = rows_dense(s->db, "switch_types", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, SWITCH_TYPES_NAME);
		const char *fields = rows_text(r, SWITCH_TYPES_FIELDS);
		bool sampled = rows_int(r, SWITCH_TYPES_IS_SAMPLE) != 0;
		bool record = !sampled && !strcmp(name, "switch");
		int64_t weight = rows_int(r, SWITCH_TYPES_WEIGHT);
		struct source src = {
			.sample = sampled && is_sched_switch(name),
			.events = rows_int(r, SWITCH_TYPES_EVENTS),
			.kernel = rows_int(r, SWITCH_TYPES_TOGETHER),
		};

		if (src.sample && weight > src.events) {
			src.happened = (uint64_t)weight;
		} else if (record ||
			   (src.sample && row_cursor_is_table(fields))) {
			src.cursor =
				open_switch_rows(s, record ? "" : fields, err);
			if (!src.cursor)
				return rows_stop(r);
		} else if (src.sample && src.events > 0) {
			s->bare += (uint64_t)src.events;
		}
		s->type = mem_grow(s->type, &s->cap_type, s->n_type + 2,
				   sizeof(*s->type));
		s->type[++s->n_type] = src;
	}
	return rows_end(r, err);
}

/* Adds up the sampled switches of the kernels that have nothing better, such as
 * perf's switch records. */
static void switches_sum_sampled(struct switches *s)
{
	for (size_t i = 1; i <= s->n_type; i++) {
		bool others = false;

		if (!s->type[i].happened)
			continue;
		for (size_t k = 1; k <= s->n_type; k++)
			others |= s->type[k].cursor && s->type[k].events > 0 &&
				  s->type[k].kernel == s->type[i].kernel;
		if (others)
			continue;
		s->sampled += (uint64_t)s->type[i].events;
		s->happened += s->type[i].happened;
	}
}

static bool switches_is_better(const struct source *a, const struct source *b)
{
	return a->sample != b->sample ? a->sample : a->events > b->events;
}

struct switches *switches_open(struct store *db, struct err *err)
{
	struct switches *s = mem_new(1, sizeof(*s));

	s->db = db;
	if (switches_read_types(s, err)) {
		switches_close(s);
		return NULL;
	}
	/* Keeps one event type for each kernel: sched_switch rather than
	 * records, as it has more fields, and the most frequent. */
	for (size_t i = 1; i <= s->n_type; i++)
		for (size_t k = 1; k <= s->n_type && s->type[i].cursor; k++)
			if (k != i && s->type[k].cursor &&
			    s->type[k].kernel == s->type[i].kernel &&
			    (switches_is_better(&s->type[k], &s->type[i]) ||
			     (k < i &&
			      !switches_is_better(&s->type[i], &s->type[k]))))
				s->type[i].cursor = 0;
	switches_sum_sampled(s);
	return s;
}

void switches_close(struct switches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_cursor; i++) {
		row_cursor_close(&s->cursor[i].c);
		free(s->cursor[i].name);
	}
	free(s->cursor);
	free(s->type);
	free(s);
}

static int64_t switches_tid_in(const struct rows *r, size_t column)
{
	return column && rows_value(r, column).kind == VALUE_INT
		       ? rows_int(r, column)
		       : -1;
}

int switches_get(struct switches *s, const struct event_row *e,
		 struct context_switch *out, struct err *err)
{
	size_t at = e->type >= 1 && (uint64_t)e->type <= s->n_type
			    ? s->type[e->type].cursor
			    : 0;
	struct switch_rows *c;
	const struct rows *r;
	int rc;

	if (!at)
		return 0;
	c = &s->cursor[at - 1];
	rc = row_cursor_seek(&c->c, e->id, err);
	if (rc <= 0)
		return rc;
	*out = (struct context_switch){ .out_tid = -1,
					.in_tid = -1,
					.state = -1 };
	r = c->c.rows;
	if (!*c->name) {
		out->has_out = rows_int(r, SWITCH_RECORDS_AWAY) != 0;
		out->has_in = !out->has_out;
		out->preempt = rows_int(r, SWITCH_RECORDS_PREEMPT) != 0;
		return 1;
	}
	out->out_tid = switches_tid_in(r, c->prev);
	out->in_tid = switches_tid_in(r, c->next);
	out->has_out = true;
	out->has_in = out->in_tid >= 0;
	if (c->comm && rows_value(r, c->comm).kind == VALUE_TEXT)
		out->in_comm = rows_text(r, c->comm);
	out->state = switches_tid_in(r, c->state);
	return 1;
}

uint64_t switches_sampled(const struct switches *s, uint64_t *happened)
{
	*happened = s->happened;
	return s->sampled;
}

bool switches_any(const struct switches *s)
{
	return s->n_cursor > 0;
}

uint64_t switches_without_fields(const struct switches *s)
{
	return s->bare;
}

int switches_missing(struct store *db, const char *path, const char *advice,
		     struct err *err)
{
	struct rows *r = rows_of(db, "switches_unnamed", err);
	int64_t n = 0;
	bool cut = false;

	if (rows_step(r)) {
		n = rows_int(r, SWITCHES_UNNAMED_N);
		cut = rows_int(r, SWITCHES_UNNAMED_CUT) != 0;
	}
	if (rows_end(r, err))
		return -1;
	/* perf.data has the names and formats behind all records */
	if (n)
		return err_set(err, ERR_FORMAT,
			       "%s: nothing says who left a CPU and came back, "
			       "but the names of %lld tracepoint%s are missing"
			       "%s: sched_switch may be one of them",
			       path, (long long)n, n == 1 ? "" : "s",
			       cut ? ", as the capture is cut off or damaged"
				   : "");
	return err_set(err, ERR_FORMAT,
		       "%s: nothing says who left a CPU and came back; record "
		       "with %s",
		       path, advice);
}
