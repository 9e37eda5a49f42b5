/* offcpu_source.c - the events of the scheduler in one database, capture by
 * capture, in time order. */
#include "cli/model/offcpu_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/filter.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define SQL_MAX 20000
#define BIND_MAX 256
#define STREAMS_MAX 8

/* What a role of the query is here, and the text of its own columns. */
static const struct {
	const char *word, *sql;
	enum offcpu_role role;
	bool fields; /* needs the ev_ table */
} words[] = {
	{ "switch", "offcpu_switch", OFFCPU_SWITCH, true },
	{ "switch_tid", "offcpu_switch_tid", OFFCPU_SWITCH, true },
	{ "record", "offcpu_record", OFFCPU_RECORD, false },
	{ "waking", "offcpu_waking", OFFCPU_WAKING, true },
	{ "waking_tid", "offcpu_waking_tid", OFFCPU_WAKING, true },
	{ "wakeup", "offcpu_waking", OFFCPU_WAKEUP, true },
	{ "wakeup_tid", "offcpu_waking_tid", OFFCPU_WAKEUP, true },
	{ "stack", "offcpu_stack", OFFCPU_STACK, false },
};

/* One event_type that tells of switches. */
struct type {
	int64_t id, capture;
	size_t word; /* in words[] */
	const char *table;
	bool system_wide;
	int64_t together, end;
};

/* One capture that is read: places of its types; -1: none. */
struct part {
	int switches, waking, wakeup;
	int stack[2]; /* for records: context-switches, sched_switch */
};

struct offcpu_sources {
	struct store *db;
	struct type *type;
	size_t n, cap;
	struct part *part;
	size_t n_part, cap_part;
	struct arena text;
	bool no_fields; /* an event has no ev_ table */
};

struct stream {
	struct rows *rows;
	enum offcpu_role role;
	bool have;
	int64_t id;
};

struct span {
	int64_t from, to;
};

struct offcpu_source {
	struct stream stream[STREAMS_MAX];
	size_t n;
	struct rows *chosen; /* NULL: all are */
	bool has_chosen;
	int64_t chosen_id;
	struct span *lost; /* apart, in order */
	size_t n_lost, cap_lost;
	int64_t end;
};

static int take_type(void *arg, const struct rows *r, struct err *err)
{
	struct offcpu_sources *s = arg;
	const char *word = rows_text(r, 2);
	const char *table = rows_text(r, 3);
	size_t at = 0;

	(void)err;
	while (at < sizeof(words) / sizeof(*words) &&
	       strcmp(words[at].word, word))
		at++;
	if (at == sizeof(words) / sizeof(*words))
		return 0;
	/* table names are made by us; in a foreign database they may not be */
	if (words[at].fields && (!table[0] || strchr(table, '"'))) {
		s->no_fields |= words[at].role == OFFCPU_SWITCH;
		return 0;
	}
	s->type = mem_grow(s->type, &s->cap, s->n + 1, sizeof(*s->type));
	s->type[s->n++] = (struct type){
		.id = rows_int(r, 0),
		.capture = rows_int(r, 1),
		.word = at,
		.table = arena_strdup(&s->text, table),
		.system_wide = rows_int(r, 5) != 0,
		.together = rows_int(r, 6),
		.end = rows_int(r, 7),
	};
	return 0;
}

/* The most frequent type of a capture with that role; -1: none. */
static int find(const struct offcpu_sources *s, int64_t capture,
		enum offcpu_role role)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->type[i].capture == capture &&
		    words[s->type[i].word].role == role)
			return (int)i;
	}
	return -1;
}

/* Another capture of the same kernel at the same time has been taken. */
static bool is_taken(const struct offcpu_sources *s, const struct type *t)
{
	int64_t kernel = t->together ? t->together : t->capture;

	for (size_t i = 0; i < s->n_part; i++) {
		const struct type *o = &s->type[s->part[i].switches];

		if (o->capture == t->capture ||
		    (o->together ? o->together : o->capture) == kernel)
			return true;
	}
	return false;
}

/* A tracepoint that was set on one process is hit when it leaves, not when it
 * comes back: then only the records of switches tell both. */
static void choose(struct offcpu_sources *s, const struct type *t)
{
	int point = find(s, t->capture, OFFCPU_SWITCH);
	int record = find(s, t->capture, OFFCPU_RECORD);
	bool by_record = point < 0 || (!t->system_wide && record >= 0);
	struct part p = {
		.switches = by_record ? record : point,
		.waking = find(s, t->capture, OFFCPU_WAKING),
		.wakeup = find(s, t->capture, OFFCPU_WAKEUP),
		.stack = { -1, -1 },
	};

	if (p.switches < 0 || is_taken(s, t))
		return;
	if (by_record) {
		p.stack[0] = find(s, t->capture, OFFCPU_STACK);
		p.stack[1] = point;
	}
	s->part = mem_grow(s->part, &s->cap_part, s->n_part + 1,
			   sizeof(*s->part));
	s->part[s->n_part++] = p;
}

struct offcpu_sources *offcpu_sources_load(struct store *db, const char *path,
					   struct err *err)
{
	struct offcpu_sources *s = mem_new(1, sizeof(*s));

	s->db = db;
	if (rows_each(db, "offcpu_types", take_type, s, err))
		goto fail;
	for (size_t i = 0; i < s->n; i++)
		choose(s, &s->type[i]);
	if (s->n_part)
		return s;
	if (s->no_fields)
		err_set(err, ERR_FORMAT,
			"%s: the database has no fields of sched_switch; "
			"ingest with --fields 'sched:*'",
			path);
	else
		err_set(err, ERR_FORMAT,
			"%s: nothing says who left a CPU and came back; "
			"record with perf record -a -e sched:sched_switch, "
			"with --switch-events, or trace-cmd record -e "
			"sched_switch",
			path);
fail:
	offcpu_sources_free(s);
	return NULL;
}

void offcpu_sources_free(struct offcpu_sources *s)
{
	if (!s)
		return;
	arena_release(&s->text);
	free(s->part);
	free(s->type);
	free(s);
}

size_t offcpu_sources_count(const struct offcpu_sources *s)
{
	return s->n_part;
}

/* The statement for one type. */
static struct rows *open_type(struct offcpu_sources *s, const struct type *t,
			      enum offcpu_role role, struct err *err)
{
	struct value id = { .kind = VALUE_INT, .num = t->id };
	char *sql = mem_new(SQL_MAX, 1);
	struct rows *r;

	if (words[t->word].fields)
		snprintf(sql, SQL_MAX, "%s %s %s JOIN \"%s\" f %s",
			 store_sql("offcpu_event"),
			 store_sql(words[t->word].sql),
			 store_sql("offcpu_from"), t->table,
			 store_sql("offcpu_of_type"));
	else
		snprintf(sql, SQL_MAX, "%s %s %s", store_sql("offcpu_event"),
			 store_sql(words[t->word].sql),
			 store_sql(role == OFFCPU_RECORD
					   ? "offcpu_record_from"
					   : "offcpu_stack_from"));
	r = rows_open(s->db, sql, &id, 1, err);
	free(sql);
	return r;
}

static int pull(struct stream *st, struct err *err)
{
	int rc = rows_next(st->rows, err);

	st->have = rc > 0;
	if (st->have)
		st->id = rows_int(st->rows, 0);
	return rc < 0 ? -1 : 0;
}

static int add_stream(struct offcpu_sources *all, struct offcpu_source *s,
		      int type, enum offcpu_role role, struct err *err)
{
	struct stream *st = &s->stream[s->n];

	if (type < 0)
		return 0;
	st->role = role;
	st->rows = open_type(all, &all->type[type], role, err);
	if (!st->rows)
		return -1;
	s->n++;
	return pull(st, err);
}

static int next_chosen(struct offcpu_source *s, struct err *err)
{
	int rc = rows_next(s->chosen, err);

	s->has_chosen = rc > 0;
	s->chosen_id = rc > 0 ? rows_int(s->chosen, 0) : 0;
	return rc < 0 ? -1 : 0;
}

/* The switches that the filters let through, as one more stream. */
static int open_chosen(struct offcpu_sources *all, struct offcpu_source *s,
		       int64_t type, struct err *err)
{
	char *cond = mem_new(SQL_MAX, 1);
	char *sql = mem_new(SQL_MAX, 2);
	struct value *bind = mem_new(BIND_MAX, sizeof(*bind));
	size_t n = 0;
	int rc = -1;

	if (filter_sql(all->db, cond, SQL_MAX, bind, BIND_MAX, &n, err))
		goto out;
	snprintf(sql, SQL_MAX * 2, "%s %s %s %lld) ORDER BY event_id",
		 store_sql("offcpu_chosen"), cond,
		 store_sql("offcpu_chosen_type"), (long long)type);
	s->chosen = rows_open(all->db, sql, bind, n, err);
	rc = s->chosen ? next_chosen(s, err) : -1;
out:
	free(bind);
	free(sql);
	free(cond);
	return rc;
}

/* Intervals come by their beginning: those that touch become one. */
static int open_losses(struct offcpu_sources *all, struct offcpu_source *s,
		       const struct type *t, struct offcpu_sums *sums,
		       struct err *err)
{
	struct value bind[2] = {
		{ .kind = VALUE_INT, .num = t->capture },
		{ .kind = VALUE_INT, .num = t->id },
	};
	struct rows *r =
		rows_open(all->db, store_sql("offcpu_losses"), bind, 2, err);
	int rc = r ? 0 : -1;

	while (!rc && (rc = rows_next(r, err)) > 0) {
		struct span now = { INT64_MIN, INT64_MAX };

		if (rows_value(r, 0).kind != VALUE_NULL)
			now.from = rows_int(r, 0);
		if (rows_value(r, 1).kind != VALUE_NULL)
			now.to = rows_int(r, 1);
		sums->lost += (uint64_t)rows_int(r, 2);
		sums->lost_unknown |= rows_value(r, 2).kind == VALUE_NULL;
		rc = 0;
		if (s->n_lost && s->lost[s->n_lost - 1].to >= now.from) {
			if (now.to > s->lost[s->n_lost - 1].to)
				s->lost[s->n_lost - 1].to = now.to;
			continue;
		}
		s->lost = mem_grow(s->lost, &s->cap_lost, s->n_lost + 1,
				   sizeof(*s->lost));
		s->lost[s->n_lost++] = now;
	}
	rows_close(r);
	return rc;
}

struct offcpu_source *offcpu_source_open(struct offcpu_sources *all, size_t i,
					 struct offcpu_sums *sums,
					 struct err *err)
{
	struct offcpu_source *s = mem_new(1, sizeof(*s));
	const struct part *p = &all->part[i];
	const struct type *t = &all->type[p->switches];
	enum offcpu_role role = words[t->word].role;

	s->end = t->end;
	sums->wakes |= p->waking >= 0 || p->wakeup >= 0;
	sums->partial |= !t->system_wide && role == OFFCPU_SWITCH;
	sums->records |= role == OFFCPU_RECORD;
	if (add_stream(all, s, p->switches, role, err) ||
	    add_stream(all, s, p->waking, OFFCPU_WAKING, err) ||
	    add_stream(all, s, p->wakeup, OFFCPU_WAKEUP, err) ||
	    add_stream(all, s, p->stack[0], OFFCPU_STACK, err) ||
	    add_stream(all, s, p->stack[1], OFFCPU_STACK, err) ||
	    (filter_given() && open_chosen(all, s, t->id, err)) ||
	    open_losses(all, s, t, sums, err)) {
		offcpu_source_close(s);
		return NULL;
	}
	return s;
}

void offcpu_source_close(struct offcpu_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		rows_close(s->stream[i].rows);
	rows_close(s->chosen);
	free(s->lost);
	free(s);
}

static uint32_t id_of(int64_t v)
{
	return v > 0 && v < INT32_MAX ? (uint32_t)v : 0;
}

/* Texts of ftrace have the letter where binary forms have the number. */
static int64_t state_of(const struct value *v)
{
	if (v->kind == VALUE_INT)
		return v->num;
	if (v->kind == VALUE_TEXT) {
		for (int64_t bit = 0; bit <= 0x100; bit = bit ? bit * 2 : 1)
			if (!strcmp(v->text, offcpu_state(bit)))
				return bit;
	}
	return -1;
}

static void fill(const struct stream *st, struct offcpu_event *e)
{
	const struct rows *r = st->rows;
	const struct value state = rows_value(r, 9);

	*e = (struct offcpu_event){
		.role = st->role,
		.id = st->id,
		.time = rows_int(r, 1),
		.stack = {
			.comm = id_of(rows_int(r, 3)),
			.kraw = id_of(rows_int(r, 4)),
			.uraw = id_of(rows_int(r, 5)),
			.verdict = (uint8_t)rows_int(r, 6),
			.flags = (uint8_t)rows_int(r, 7) & VERDICT_EXEC,
		},
		.has_out = rows_value(r, 8).kind != VALUE_NULL,
		.out = rows_int(r, 8),
		.state = state_of(&state),
		.has_in = rows_value(r, 10).kind != VALUE_NULL,
		.in = rows_int(r, 10),
		.chosen = true,
	};
}

/* Streams are few: looking at all of them is quick. */
int offcpu_source_next(struct offcpu_source *s, struct offcpu_event *e,
		       struct err *err)
{
	struct stream *first = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct stream *st = &s->stream[i];

		if (st->have && (!first || st->id < first->id))
			first = st;
	}
	if (!first)
		return 0;
	fill(first, e);
	if (e->time > s->end)
		s->end = e->time;
	while (s->chosen && s->has_chosen && s->chosen_id < e->id) {
		if (next_chosen(s, err))
			return -1;
	}
	if (s->chosen)
		e->chosen = s->has_chosen && s->chosen_id == e->id;
	return pull(first, err) ? -1 : 1;
}

bool offcpu_source_lost(const struct offcpu_source *s, int64_t from, int64_t to)
{
	size_t low = 0;
	size_t high = s->n_lost;

	/* the first interval that ends behind `from` */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->lost[mid].to > from)
			high = mid;
		else
			low = mid + 1;
	}
	return low < s->n_lost && s->lost[low].from < to;
}

int64_t offcpu_source_end(const struct offcpu_source *s)
{
	return s->end;
}
