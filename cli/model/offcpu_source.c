/* offcpu_source.c - iterates over the scheduler events of a database. */
#include "cli/model/offcpu_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/filter.h"
#include "cli/model/offcpu_told.h"
#include "cli/model/row_cursor.h"
#include "cli/model/stacks.h"
#include "cli/model/switches.h"
#include "schema/columns.h"
#include "schema/db/int_rows.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/verdict.h"

#define STREAMS_MAX 8

/* Roles by their word in query offcpu_types, with what fills offcpu_event. */
static const struct {
	const char *word, *who, *rows;
	enum offcpu_role role;
	bool fields; /* needs the ev_ table */
} words[] = {
	{ "switch", "offcpu_switch", "offcpu_switch_from", OFFCPU_SWITCH,
	  true },
	{ "switch_tid", "offcpu_switch_tid", "offcpu_switch_from",
	  OFFCPU_SWITCH, true },
	{ "record", "offcpu_record", "offcpu_record_from", OFFCPU_RECORD,
	  false },
	{ "stack", "offcpu_stack", "offcpu_stack_from", OFFCPU_STACK, false },
	{ "wait", "offcpu_stack", "offcpu_wait_from", OFFCPU_WAIT, false },
};

/* An event_type with switches, or waits. */
struct type {
	int64_t id, capture;
	size_t word; /* in words[] */
	const char *table;
	bool system_wide;	      /* or not known */
	bool whole;		      /* known to be so */
	int64_t together, start, end; /* of the capture */
	int64_t events, weight;	      /* recorded, and hit */
	struct capture_events all;    /* of the capture */
};

/* The types of one capture, as indexes of type[]; -1: none. */
struct part {
	int switches;
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
	struct row_cursor c;
	enum offcpu_role role;
	uint32_t type; /* event_type.id */
};

struct span {
	int64_t from, to;
};

/* A thread; one of its id begins where another one has ended. */
struct life {
	int64_t tid, from, to;
};

struct offcpu_source {
	struct stream stream[STREAMS_MAX];
	size_t n;
	struct row_cursor chosen; /* what filters let through; else empty */
	struct span *lost;	  /* disjoint, ordered */
	size_t n_lost, cap_lost;
	struct life *life; /* by id, then by time */
	size_t n_life, cap_life;
	struct offcpu_told *told; /* OFFCPU_WAIT: by those opened before */
	int64_t start, end;
	const struct capture_events *switches; /* NULL: has no sched_switch */
	bool whole, partial; /* all CPUs were recorded, or only some tasks */
};

/* Returns the most frequent type of a capture with that role; -1: none. */
static int offcpu_source_find_type(const struct offcpu_sources *s,
				   int64_t capture, enum offcpu_role role)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->type[i].capture == capture &&
		    words[s->type[i].word].role == role)
			return (int)i;
	}
	return -1;
}

static int64_t offcpu_source_kernel(const struct type *t)
{
	return t->together ? t->together : t->capture;
}

/* Returns whether another capture of the same kernel and time is in part[]. */
static bool is_taken(const struct offcpu_sources *s, const struct type *t)
{
	for (size_t i = 0; i < s->n_part; i++)
		if (offcpu_source_kernel(&s->type[s->part[i].switches]) ==
		    offcpu_source_kernel(t))
			return true;
	return false;
}

static bool is_sampled(const struct type *t)
{
	return words[t->word].role == OFFCPU_SWITCH && t->weight > t->events;
}

/* sched_switch of a single process is hit when it leaves the CPU, not when it
 * comes back: then switch records are used, which exist for both. So they are
 * where sched_switch was sampled. */
static void offcpu_source_choose_types(struct offcpu_sources *s,
				       const struct type *t)
{
	int point = offcpu_source_find_type(s, t->capture, OFFCPU_SWITCH);
	int record = offcpu_source_find_type(s, t->capture, OFFCPU_RECORD);
	bool by_record =
		point < 0 || (record >= 0 &&
			      (!t->system_wide || is_sampled(&s->type[point])));
	struct part p = {
		.switches = by_record ? record : point,
		.stack = { -1, -1 },
	};

	if (p.switches < 0 || is_taken(s, t))
		return;
	if (by_record) {
		p.stack[0] =
			offcpu_source_find_type(s, t->capture, OFFCPU_STACK);
		p.stack[1] = point;
	}
	*mem_add(s->part, s->n_part, s->cap_part) = p;
}

/* Finds where the events of each capture are, so that each is read once. */
static int offcpu_source_find_events(struct offcpu_sources *s, struct err *err)
{
	struct rows *r = rows_dense(s->db, "offcpu_types_of", err);
	struct capture_events *of = NULL; /* by event_type.id - 1 */
	size_t n = 0;
	size_t cap = 0;
	struct int_rows *ids;
	struct int_row row;
	int rc;

	while (rows_step(r))
		*mem_add(of, n, cap) = (struct capture_events){
			rows_int(r, OFFCPU_TYPES_OF_CAPTURE), INT64_MAX,
			INT64_MIN
		};
	rc = rows_end(r, err);
	ids = rc ? NULL : int_rows_open(s->db, store_sql("offcpu_ids"), err);
	rc = ids ? 1 : -1;
	while (rc > 0 && (rc = int_rows_next(ids, &row, err)) > 0) {
		uint64_t type = (uint64_t)row.v[1] - 1;

		if (type >= n)
			continue;
		if (row.v[0] < of[type].first)
			of[type].first = row.v[0];
		of[type].last = row.v[0];
	}
	int_rows_close(ids);
	for (size_t i = 0; i < s->n; i++) {
		struct capture_events *all = &s->type[i].all;

		all->first = INT64_MAX;
		all->last = INT64_MIN;
		for (size_t k = 0; k < n; k++) {
			if (of[k].capture != all->capture)
				continue;
			if (of[k].first < all->first)
				all->first = of[k].first;
			if (of[k].last > all->last)
				all->last = of[k].last;
		}
	}
	free(of);
	return rc;
}

struct offcpu_sources *offcpu_sources_load(struct store *db, const char *path,
					   struct err *err)
{
	struct offcpu_sources *s = mem_new(1, sizeof(*s));
	struct rows *r = rows_of(db, "offcpu_types", err);

	s->db = db;
	while (rows_step(r)) {
		const char *word = rows_text(r, OFFCPU_TYPES_ROLE);
		const char *table = rows_text(r, OFFCPU_TYPES_FIELDS);
		size_t at = 0;

		while (at < ARRAY_SIZE(words) && strcmp(words[at].word, word))
			at++;
		if (at == ARRAY_SIZE(words))
			continue;
		/* the store makes no such name, but the database may be from
		 * elsewhere */
		if (words[at].fields && (!table[0] || strchr(table, '"'))) {
			s->no_fields |= words[at].role == OFFCPU_SWITCH;
			continue;
		}
		*mem_add(s->type, s->n, s->cap) = (struct type){
			.id = rows_int(r, OFFCPU_TYPES_ID),
			.capture = rows_int(r, OFFCPU_TYPES_CAPTURE),
			.word = at,
			.table = arena_strdup(&s->text, table),
			.system_wide =
				rows_int(r, OFFCPU_TYPES_SYSTEM_WIDE) != 0,
			.whole = rows_int(r, OFFCPU_TYPES_SYSTEM_WIDE) > 0,
			.together = rows_int(r, OFFCPU_TYPES_TOGETHER),
			.start = rows_int(r, OFFCPU_TYPES_FIRST_NS),
			.end = rows_int(r, OFFCPU_TYPES_LAST_NS),
			.events = rows_int(r, OFFCPU_TYPES_EVENTS),
			.weight = rows_int(r, OFFCPU_TYPES_WEIGHT),
			.all = { rows_int(r, OFFCPU_TYPES_CAPTURE), INT64_MIN,
				 INT64_MAX },
		};
	}
	if (rows_end(r, err))
		goto fail;
	for (size_t i = 0; i < s->n; i++)
		offcpu_source_choose_types(s, &s->type[i]);
	/* Waits that the kernel has measured are read behind all switches,
	 * which tell of the same ones as far as they were recorded. */
	for (size_t i = 0; i < s->n; i++)
		if (words[s->type[i].word].role == OFFCPU_WAIT)
			*mem_add(s->part, s->n_part, s->cap_part) =
				(struct part){ .switches = (int)i,
					       .stack = { -1, -1 } };
	if (s->n_part > 1 && offcpu_source_find_events(s, err))
		goto fail;
	if (s->n_part)
		return s;
	if (s->no_fields)
		err_set(err, ERR_FORMAT,
			"%s: the database has no fields of sched_switch; "
			"ingest with --fields 'sched:*'",
			path);
	else
		switches_missing(db, path,
				 "perf record -a -e sched:sched_switch, with "
				 "--switch-events, or trace-cmd record -e "
				 "sched_switch",
				 err);
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

/* Opens the rows of a type, an index of type[]; -1: there is none. */
static int add_stream(struct offcpu_sources *all, struct offcpu_source *s,
		      int type, enum offcpu_role role, struct err *err)
{
	struct stream *st = &s->stream[s->n];

	if (type < 0)
		return 0;

	const struct type *t = &all->type[type];
	const struct sql_gap table = { "table", t->table };
	char *rows = store_sql_fill(words[t->word].rows, &table, 1);
	const struct sql_gap gap[] = {
		{ "who", store_sql(words[t->word].who) },
		{ "rows", rows },
	};
	char *sql = store_sql_fill("offcpu_event", gap, ARRAY_SIZE(gap));
	const struct value bind[] = {
		{ .kind = VALUE_INT, .num = t->id },
		{ .kind = VALUE_INT, .num = t->all.first },
		{ .kind = VALUE_INT, .num = t->all.last },
	};

	st->role = role;
	st->type = (uint32_t)t->id;
	st->c.rows = rows_open(all->db, sql, bind, ARRAY_SIZE(bind), err);
	free(sql);
	free(rows);
	if (!st->c.rows)
		return -1;
	s->n++;
	return row_cursor_step(&st->c, err);
}

/* Opens the switches that the filters select. */
static int open_chosen(struct offcpu_sources *all, struct offcpu_source *s,
		       int64_t type, struct err *err)
{
	char number[24];
	const struct sql_gap gap = { "type", number };

	snprintf(number, sizeof(number), "%" PRId64, type);
	s->chosen.rows = filter_rows(all->db, "offcpu_chosen", &gap, 1, err);
	return s->chosen.rows ? row_cursor_step(&s->chosen, err) : -1;
}

/* Loads the intervals with losses. They are ordered by start; those that touch
 * are merged. */
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

	while (rows_step(r)) {
		struct span now = { INT64_MIN, INT64_MAX };

		if (rows_value(r, OFFCPU_LOSSES_T0).kind != VALUE_NULL)
			now.from = rows_int(r, OFFCPU_LOSSES_T0);
		if (rows_value(r, OFFCPU_LOSSES_T1).kind != VALUE_NULL)
			now.to = rows_int(r, OFFCPU_LOSSES_T1);
		sums->lost += (uint64_t)rows_int(r, OFFCPU_LOSSES_N);
		sums->lost_unknown |=
			rows_value(r, OFFCPU_LOSSES_N).kind == VALUE_NULL;
		if (s->n_lost && s->lost[s->n_lost - 1].to >= now.from) {
			if (now.to > s->lost[s->n_lost - 1].to)
				s->lost[s->n_lost - 1].to = now.to;
			continue;
		}
		*mem_add(s->lost, s->n_lost, s->cap_lost) = now;
	}
	return rows_end(r, err);
}

static int open_lives(struct offcpu_sources *all, struct offcpu_source *s,
		      const struct type *t, struct err *err)
{
	const struct value kernel = { .kind = VALUE_INT,
				      .num = offcpu_source_kernel(t) };
	struct rows *r =
		rows_open(all->db, store_sql("offcpu_exits"), &kernel, 1, err);

	while (rows_step(r))
		*mem_add(s->life, s->n_life, s->cap_life) = (struct life){
			rows_int(r, OFFCPU_EXITS_TID),
			rows_int(r, OFFCPU_EXITS_START_NS),
			rows_int(r, OFFCPU_EXITS_END_NS),
		};
	return rows_end(r, err);
}

/* Of waits: what the parts in front of this one tell of. A capture of some
 * tasks tells of these only. */
static int open_told(struct offcpu_sources *all, struct offcpu_source *s,
		     size_t at, struct err *err)
{
	const struct type *t = &all->type[all->part[at].switches];

	s->told = offcpu_told_new();
	for (size_t i = 0; words[t->word].role == OFFCPU_WAIT && i < at; i++) {
		const struct type *o = &all->type[all->part[i].switches];

		if (offcpu_source_kernel(o) == offcpu_source_kernel(t) &&
		    offcpu_told_add(s->told, all->db, o->id, o->start, o->end,
				    o->system_wide, err))
			return -1;
	}
	return 0;
}

struct offcpu_source *offcpu_source_open(struct offcpu_sources *all, size_t i,
					 struct offcpu_sums *sums,
					 struct err *err)
{
	struct offcpu_source *s = mem_new(1, sizeof(*s));
	const struct part *p = &all->part[i];
	const struct type *t = &all->type[p->switches];
	enum offcpu_role role = words[t->word].role;

	s->start = t->start;
	s->end = t->end;
	s->switches = role == OFFCPU_SWITCH ? &t->all : NULL;
	s->whole = t->whole;
	s->partial = !t->system_wide;
	sums->partial |= !t->system_wide && role == OFFCPU_SWITCH;
	sums->records |= role == OFFCPU_RECORD;
	if (role == OFFCPU_SWITCH) {
		sums->recorded += (uint64_t)t->events;
		sums->happened +=
			(uint64_t)(is_sampled(t) ? t->weight : t->events);
	}
	sums->whole |= role == OFFCPU_WAIT;
	if (add_stream(all, s, p->switches, role, err) ||
	    add_stream(all, s, p->stack[0], OFFCPU_STACK, err) ||
	    add_stream(all, s, p->stack[1], OFFCPU_STACK, err) ||
	    (filter_given() && open_chosen(all, s, t->id, err)) ||
	    open_losses(all, s, t, sums, err) || open_lives(all, s, t, err) ||
	    open_told(all, s, i, err)) {
		offcpu_source_close(s);
		return NULL;
	}
	if (is_sampled(t)) {
		s->n_lost = 0;
		*mem_add(s->lost, s->n_lost, s->cap_lost) =
			(struct span){ INT64_MIN, INT64_MAX };
	}
	return s;
}

void offcpu_source_close(struct offcpu_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		row_cursor_close(&s->stream[i].c);
	row_cursor_close(&s->chosen);
	offcpu_told_free(s->told);
	free(s->lost);
	free(s->life);
	free(s);
}

static uint32_t offcpu_source_id_of(int64_t v)
{
	return v > 0 && v < INT32_MAX ? (uint32_t)v : 0;
}

/* States by bit since Linux 4.14; the first ones are the same in older kernels.
 */
static const struct {
	int64_t state;
	const char *name;
} states[] = {
	{ 0x000, "R" }, { 0x001, "S" },	 { 0x002, "D" }, { 0x004, "T" },
	{ 0x008, "t" }, { 0x010, "X" },	 { 0x020, "Z" }, { 0x040, "P" },
	{ 0x080, "I" }, { 0x100, "R+" },
};
#define N_STATES ARRAY_SIZE(states)

const char *offcpu_state(int64_t state)
{
	for (size_t i = 0; i < N_STATES; i++) {
		if (states[i].state == state)
			return states[i].name;
	}
	/* other kernels may add bits: use the lowest known one */
	for (size_t i = 1; state > 0 && i < N_STATES; i++) {
		if (states[i].state & state)
			return states[i].name;
	}
	return "?";
}

int64_t offcpu_state_bits(const struct value *v)
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

struct stacks_group offcpu_group(const struct offcpu_stack *s)
{
	return (struct stacks_group){
		.type = s->type,
		.comm = s->comm,
		.cpu = -1,
		.kraw = s->kraw,
		.uraw = s->uraw,
		.verdict = s->verdict,
		.flags = s->flags,
	};
}

/* A sum is of waits that began at any time of its capture, which was being
 * recorded when the first of the other waits began. Sums stand behind these. */
static void offcpu_source_fill_wait(struct offcpu_source *s,
				    struct offcpu_event *e)
{
	if (!e->time) {
		e->told = offcpu_told_has(s->told, e->out, s->start, s->end);
		return;
	}
	if (__builtin_sub_overflow(e->time, e->ns, &e->from))
		e->from = INT64_MIN;
	if (e->from < s->start)
		s->start = e->from;
	e->told = offcpu_told_has(s->told, e->out, e->from, e->from);
}

int offcpu_source_next(struct offcpu_source *s, struct offcpu_event *e,
		       struct err *err)
{
	struct stream *first = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct stream *st = &s->stream[i];

		if (st->c.more && (!first || st->c.event < first->c.event))
			first = st;
	}
	if (!first)
		return 0;

	const struct rows *r = first->c.rows;
	const struct value state = rows_value(r, OFFCPU_EVENT_STATE);

	*e = (struct offcpu_event){
		.role = first->role,
		.id = first->c.event,
		.time = rows_int(r, OFFCPU_EVENT_TIME_NS),
		.ns = rows_int(r, OFFCPU_EVENT_WEIGHT),
		.cpu = (int32_t)rows_int(r, OFFCPU_EVENT_CPU),
		.stack = {
			.type = first->type,
			.comm = offcpu_source_id_of(rows_int(r, OFFCPU_EVENT_COMM)),
			.kraw = offcpu_source_id_of(rows_int(r, OFFCPU_EVENT_KRAW)),
			.uraw = offcpu_source_id_of(rows_int(r, OFFCPU_EVENT_URAW)),
			.verdict = (uint8_t)rows_int(r, OFFCPU_EVENT_VERDICT),
			.flags = (uint8_t)rows_int(r, OFFCPU_EVENT_FLAGS) & VERDICT_EXEC,
		},
		.has_out = rows_value(r, OFFCPU_EVENT_LEAVES).kind != VALUE_NULL,
		.out = rows_int(r, OFFCPU_EVENT_LEAVES),
		.state = offcpu_state_bits(&state),
		.has_in = rows_value(r, OFFCPU_EVENT_COMES).kind != VALUE_NULL,
		.in = rows_int(r, OFFCPU_EVENT_COMES),
		.chosen = true,
	};
	if (e->time > s->end)
		s->end = e->time;
	if (e->role == OFFCPU_WAIT)
		offcpu_source_fill_wait(s, e);
	if (s->chosen.rows) {
		int rc = row_cursor_seek(&s->chosen, e->id, err);

		if (rc < 0)
			return -1;
		e->chosen = rc > 0;
	}
	return row_cursor_step(&first->c, err) ? -1 : 1;
}

int64_t offcpu_source_exit(const struct offcpu_source *s, int64_t tid,
			   int64_t time)
{
	size_t at =
		search_where(s->n_life, i,
			     s->life[i].tid > tid || (s->life[i].tid == tid &&
						      s->life[i].from > time));

	return at && s->life[at - 1].tid == tid ? s->life[at - 1].to
						: INT64_MAX;
}

const struct capture_events *
offcpu_source_switches(const struct offcpu_source *s)
{
	return s->switches;
}

bool offcpu_source_lost(const struct offcpu_source *s, int64_t from, int64_t to)
{
	size_t at = search_where(s->n_lost, i, s->lost[i].to > from);

	return at < s->n_lost && s->lost[at].from < to;
}

bool offcpu_source_stays(const struct offcpu_source *s, bool torn)
{
	return s->whole || (!s->partial && !torn);
}

int64_t offcpu_source_end(const struct offcpu_source *s)
{
	return s->end;
}
