/* switches.c - the context switches among the events of a database. */
#include "cli/model/switches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* One table that is read along with the events. */
struct cursor {
	char *name; /* "": switch records */
	struct rows *rows;
	bool more;
	size_t prev, next, comm, state; /* columns; 0: there is none */
};

/* What an event type says of switches. */
struct source {
	size_t cursor; /* place in cursor[] + 1; 0: nothing */
	int64_t kernel, events;
	bool sample;
};

struct switches {
	struct store *db;
	struct cursor *cursor;
	size_t n_cursor, cap_cursor;
	struct source *type; /* by event_type.id */
	size_t n_type, cap_type;
	uint64_t bare;
};

static int step(struct cursor *c, struct err *err)
{
	int ret = rows_next(c->rows, err);

	c->more = ret > 0;
	return ret < 0 ? -1 : 0;
}

static void find_columns(struct cursor *c)
{
	static const char *const names[][2] = { { "prev_pid", "prev_tid" },
						{ "next_pid", "next_tid" },
						{ "next_comm", "next_comm" },
						{ "prev_state",
						  "prev_state" } };
	size_t *const column[] = { &c->prev, &c->next, &c->comm, &c->state };

	for (size_t i = 1; i < rows_columns(c->rows); i++)
		for (size_t k = 0; k < 4; k++)
			if (!strcmp(rows_name(c->rows, i), names[k][0]) ||
			    !strcmp(rows_name(c->rows, i), names[k][1]))
				*column[k] = i;
}

/* The place of the cursor + 1; 0 and *err. */
static size_t open_cursor(struct switches *s, const char *name, const char *sql,
			  struct err *err)
{
	struct cursor c = { .name = mem_strdup(name) };

	c.rows = rows_open(s->db, sql, NULL, 0, err);
	if (c.rows && *name)
		find_columns(&c);
	if (!c.rows || step(&c, err)) {
		rows_close(c.rows);
		free(c.name);
		return 0;
	}
	*mem_add(s->cursor, s->n_cursor, s->cap_cursor) = c;
	return s->n_cursor;
}

static size_t cursor_of(struct switches *s, const char *name, struct err *err)
{
	char sql[STORE_NAME_MAX + 256];

	for (size_t i = 0; i < s->n_cursor; i++)
		if (!strcmp(s->cursor[i].name, name))
			return i + 1;
	if (!*name)
		return open_cursor(s, name, store_sql("switch_records"), err);
	snprintf(sql, sizeof(sql), "%s \"%s\" ORDER BY event_id",
		 store_sql("print_ev_rows"), name);
	return open_cursor(s, name, sql, err);
}

/* "sched:sched_switch": with the name of an instance in front, modifiers behind
 * ("sched_switch:k", "sched_switch/max-stack=8/"), or without the system. */
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

/* Names of tables are the store's own: letters, digits and '_'. */
static bool is_table(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len < STORE_NAME_MAX;
}

static int take_type(void *arg, const struct rows *r, struct err *err)
{
	struct switches *s = arg;
	const char *name = rows_text(r, 1);
	const char *fields = rows_text(r, 3);
	bool record = !rows_int(r, 2) && !strcmp(name, "switch");
	bool sample = rows_int(r, 2) && is_sched_switch(name);
	struct source src = { .sample = sample,
			      .events = rows_int(r, 4),
			      .kernel = rows_int(r, 5) };

	if (record || (sample && is_table(fields))) {
		src.cursor = cursor_of(s, record ? "" : fields, err);
		if (!src.cursor)
			return -1;
	} else if (sample && rows_int(r, 4) > 0) {
		s->bare += (uint64_t)rows_int(r, 4);
	}
	s->type = mem_grow(s->type, &s->cap_type, s->n_type + 2,
			   sizeof(*s->type));
	s->type[++s->n_type] = src;
	return 0;
}

static bool is_better(const struct source *a, const struct source *b)
{
	return a->sample != b->sample ? a->sample : a->events > b->events;
}

/* Of several that saw the same kernel only one: sched_switch says more than
 * records do, and more switches than fewer. */
static void choose(struct switches *s)
{
	for (size_t i = 1; i <= s->n_type; i++)
		for (size_t k = 1; k <= s->n_type && s->type[i].cursor; k++)
			if (k != i && s->type[k].cursor &&
			    s->type[k].kernel == s->type[i].kernel &&
			    (is_better(&s->type[k], &s->type[i]) ||
			     (k < i && !is_better(&s->type[i], &s->type[k]))))
				s->type[i].cursor = 0;
}

struct switches *switches_open(struct store *db, struct err *err)
{
	struct switches *s = mem_new(1, sizeof(*s));

	s->db = db;
	if (!rows_each_dense(db, "switch_types", take_type, s, err)) {
		choose(s);
		return s;
	}
	switches_close(s);
	return NULL;
}

void switches_close(struct switches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_cursor; i++) {
		rows_close(s->cursor[i].rows);
		free(s->cursor[i].name);
	}
	free(s->cursor);
	free(s->type);
	free(s);
}

static int64_t tid_in(const struct rows *r, size_t column)
{
	return column && rows_value(r, column).kind == VALUE_INT
		       ? rows_int(r, column)
		       : -1;
}

static void from_record(const struct rows *r, struct context_switch *out)
{
	out->has_out = rows_int(r, 1) != 0;
	out->has_in = !out->has_out;
	out->preempt = rows_int(r, 2) != 0;
}

static void from_fields(const struct cursor *c, struct context_switch *out)
{
	out->out_tid = tid_in(c->rows, c->prev);
	out->in_tid = tid_in(c->rows, c->next);
	out->has_out = true;
	out->has_in = out->in_tid >= 0;
	if (c->comm && rows_value(c->rows, c->comm).kind == VALUE_TEXT)
		out->in_comm = rows_text(c->rows, c->comm);
	out->state = tid_in(c->rows, c->state);
}

int switches_get(struct switches *s, const struct event_row *e,
		 struct context_switch *out, struct err *err)
{
	size_t at = e->type >= 1 && (uint64_t)e->type <= s->n_type
			    ? s->type[e->type].cursor
			    : 0;
	struct cursor *c;

	if (!at)
		return 0;
	c = &s->cursor[at - 1];
	while (c->more && rows_int(c->rows, 0) < e->id)
		if (step(c, err))
			return -1;
	if (!c->more || rows_int(c->rows, 0) != e->id)
		return 0;
	*out = (struct context_switch){ .out_tid = -1,
					.in_tid = -1,
					.state = -1 };
	if (*c->name)
		from_fields(c, out);
	else
		from_record(c->rows, out);
	return 1;
}

bool switches_any(const struct switches *s)
{
	return s->n_cursor > 0;
}

uint64_t switches_without_fields(const struct switches *s)
{
	return s->bare;
}
