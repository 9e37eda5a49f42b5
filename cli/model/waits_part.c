/* waits_part.c - which events of a database tell of waits. */
#include "cli/model/waits_part.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/row_cursor.h"
#include "schema/columns.h"
#include "schema/db/int_rows.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

#define CPUS_MAX 65536 /* losses of further ones are of any */

/* A capture that tells of all waits that begin in its time: of all threads, or
 * of those only that have an event of its type. */
struct waits_told {
	int64_t from, to;
	bool of_all;
	struct table tids; /* of_all: empty */
};

struct waits_parts {
	struct waits_part *type; /* the most frequent of a capture first */
	size_t n_type, cap_type;
	struct waits_part *part; /* some of them */
	size_t n, cap;
	uint64_t bare; /* events of sched_switch without an ev_ table */
};

bool waits_part_sampled(const struct waits_part *p)
{
	return p->role == WAITS_SWITCH && p->recorded < p->happened;
}

/* Returns the most frequent type of a capture with that role; NULL: none. */
static const struct waits_part *waits_find_type(const struct waits_parts *p,
						int64_t capture,
						enum waits_role role)
{
	for (size_t i = 0; i < p->n_type; i++)
		if (p->type[i].only.capture == capture &&
		    p->type[i].role == role)
			return &p->type[i];
	return NULL;
}

/* Returns whether another capture of the same kernel and time is a part. */
static bool waits_is_taken(const struct waits_parts *p, int64_t kernel)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->part[i].kernel == kernel)
			return true;
	return false;
}

/* sched_switch of a single process is hit when it leaves the CPU, not when it
 * comes back: then switch records are used, which exist for both. So they are
 * where sched_switch was sampled. */
static void waits_choose_part(struct waits_parts *p, const struct waits_part *t)
{
	int64_t capture = t->only.capture;
	const struct waits_part *point =
		waits_find_type(p, capture, WAITS_SWITCH);
	const struct waits_part *record =
		waits_find_type(p, capture, WAITS_RECORD);
	const struct waits_part *sample =
		waits_find_type(p, capture, WAITS_SAMPLE);
	bool by_record =
		!point || (record && (t->partial || waits_part_sampled(point)));
	struct waits_part *add;

	if ((by_record && !record) || waits_is_taken(p, t->kernel))
		return;
	add = mem_add(p->part, p->n, p->cap);
	*add = by_record ? *record : *point;
	if (by_record) {
		add->only.records = true;
		add->only.sample[0] = sample ? sample->only.type : 0;
		add->only.sample[1] = point ? point->only.type : 0;
	}
}

/* Finds where the events of each capture are, so that each is read once. */
static int waits_find_events(struct waits_parts *p, struct store *db,
			     struct err *err)
{
	static const char *const column[] = { "id", "type" };
	struct rows *r = rows_dense(db, "offcpu_types_of", err);
	struct causes_only *of = NULL; /* by event_type.id - 1 */
	size_t n = 0;
	size_t cap = 0;
	struct int_rows *ids;
	struct int_row row;
	int rc;

	while (rows_step(r))
		*mem_add(of, n, cap) = (struct causes_only){
			.capture = rows_int(r, OFFCPU_TYPES_OF_CAPTURE),
			.first = INT64_MAX,
			.last = INT64_MIN,
		};
	rc = rows_end(r, err);
	ids = rc ? NULL : int_rows_of(db, "event", column, 2, err);
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
	for (size_t i = 0; i < p->n; i++) {
		struct causes_only *o = &p->part[i].only;

		o->first = INT64_MAX;
		o->last = INT64_MIN;
		for (size_t k = 0; k < n; k++) {
			if (of[k].capture != o->capture)
				continue;
			if (of[k].first < o->first)
				o->first = of[k].first;
			if (of[k].last > o->last)
				o->last = of[k].last;
		}
	}
	free(of);
	return rc;
}

static int waits_read_types(struct waits_parts *p, struct store *db,
			    struct err *err)
{
	static const char *const word[] = { "switch", "record", "sample",
					    "wait" };
	struct rows *r = rows_of(db, "offcpu_types", err);

	while (rows_step(r)) {
		const char *role = rows_text(r, OFFCPU_TYPES_ROLE);
		const char *fields = rows_text(r, OFFCPU_TYPES_FIELDS);
		size_t at = 0;

		while (at < ARRAY_SIZE(word) && strcmp(word[at], role))
			at++;
		if (at == ARRAY_SIZE(word))
			continue;
		/* the store makes no such name, but the database may be from
		 * elsewhere */
		if (at == WAITS_SWITCH && !row_cursor_is_table(fields)) {
			p->bare += (uint64_t)rows_int(r, OFFCPU_TYPES_EVENTS);
			continue;
		}
		*mem_add(p->type, p->n_type, p->cap_type) = (struct waits_part){
			.role = (enum waits_role)at,
			.only = { .capture = rows_int(r, OFFCPU_TYPES_CAPTURE),
				  .first = INT64_MIN,
				  .last = INT64_MAX,
				  .type = rows_int(r, OFFCPU_TYPES_ID) },
			.kernel = rows_int(r, OFFCPU_TYPES_KERNEL),
			.whole = rows_int(r, OFFCPU_TYPES_SYSTEM_WIDE) > 0,
			.partial = !rows_int(r, OFFCPU_TYPES_SYSTEM_WIDE),
			.start = rows_int(r, OFFCPU_TYPES_FIRST_NS),
			.end = rows_int(r, OFFCPU_TYPES_LAST_NS),
			.recorded = rows_int(r, OFFCPU_TYPES_EVENTS),
			.happened = rows_int(r, OFFCPU_TYPES_WEIGHT),
		};
	}
	return rows_end(r, err);
}

struct waits_parts *waits_parts_load(struct store *db, struct err *err)
{
	struct waits_parts *p = mem_new(1, sizeof(*p));
	int rc = waits_read_types(p, db, err);

	for (size_t i = 0; i < p->n_type; i++)
		waits_choose_part(p, &p->type[i]);
	/* Waits that the kernel has measured are read behind all switches,
	 * which tell of the same ones as far as they were recorded. */
	for (size_t i = 0; i < p->n_type; i++)
		if (p->type[i].role == WAITS_MEASURED)
			*mem_add(p->part, p->n, p->cap) = p->type[i];
	if (!rc && p->n > 1)
		rc = waits_find_events(p, db, err);
	if (!rc)
		return p;
	waits_parts_free(p);
	return NULL;
}

void waits_parts_free(struct waits_parts *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		waits_part_release(&p->part[i]);
	free(p->part);
	free(p->type);
	free(p);
}

uint64_t waits_parts_bare(const struct waits_parts *p)
{
	return p->bare;
}

size_t waits_parts_count(const struct waits_parts *p)
{
	return p->n;
}

struct waits_part *waits_parts_get(struct waits_parts *p, size_t i)
{
	return &p->part[i];
}

/* ---- what is missing in a part */

/* Adds a time; they come by their starts. Those that touch are merged. */
static void waits_lose(struct waits_lost *l, int64_t from, int64_t to)
{
	struct waits_span *last = l->n ? &l->span[l->n - 1] : NULL;

	if (!last || last->to < from)
		*mem_add(l->span, l->n, l->cap) =
			(struct waits_span){ from, to };
	else if (to > last->to)
		last->to = to;
}

static int waits_load_losses(struct waits_part *p, struct store *db,
			     struct err *err)
{
	const struct value bind[2] = {
		{ .kind = VALUE_INT, .num = p->only.capture },
		{ .kind = VALUE_INT, .num = p->only.type },
	};
	struct rows *r =
		rows_open(db, store_sql("offcpu_losses"), bind, 2, err);
	while (rows_step(r)) {
		int64_t from = rows_int_or(r, OFFCPU_LOSSES_T0, INT64_MIN);
		int64_t to = rows_int_or(r, OFFCPU_LOSSES_T1, INT64_MAX);
		int64_t cpu = rows_int(r, OFFCPU_LOSSES_CPU);
		size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

		p->records += (uint64_t)rows_int(r, OFFCPU_LOSSES_N);
		p->some_unknown |=
			rows_value(r, OFFCPU_LOSSES_N).kind == VALUE_NULL;
		p->of = mem_reach(p->of, &p->n_of, &p->cap_of, at + 1,
				  sizeof(*p->of));
		waits_lose(&p->of[at], from, to);
		waits_lose(&p->lost, from, to);
	}
	if (waits_part_sampled(p)) {
		p->lost.n = 0;
		waits_lose(&p->lost, INT64_MIN, INT64_MAX);
	}
	return rows_end(r, err);
}

static int waits_load_lives(struct waits_part *p, struct store *db,
			    struct err *err)
{
	const struct value kernel = { .kind = VALUE_INT, .num = p->kernel };
	struct rows *r =
		rows_open(db, store_sql("offcpu_exits"), &kernel, 1, err);

	while (rows_step(r))
		*mem_add(p->life, p->n_life, p->cap_life) = (struct waits_life){
			rows_int(r, OFFCPU_EXITS_TID),
			rows_int(r, OFFCPU_EXITS_START_NS),
			rows_int(r, OFFCPU_EXITS_END_NS),
		};
	return rows_end(r, err);
}

/* ---- measured waits */

/* Notes that another part tells of waits. */
static int waits_add_told(struct waits_part *p, struct store *db,
			  const struct waits_part *by, struct err *err)
{
	const struct value type = { .kind = VALUE_INT, .num = by->only.type };
	struct waits_told *t = mem_add(p->told, p->n_told, p->cap_told);
	struct rows *r;

	*t = (struct waits_told){ .from = by->start,
				  .to = by->end,
				  .of_all = !by->partial };
	if (t->of_all)
		return 0;
	r = rows_open(db, store_sql("offcpu_told"), &type, 1, err);
	while (rows_step(r))
		table_add(&t->tids,
			  hash_u64((uint64_t)rows_int(r, OFFCPU_TOLD_TID)), 0);
	return rows_end(r, err);
}

static bool waits_is_told(const struct waits_part *p, int64_t tid, int64_t from,
			  int64_t to)
{
	uint64_t hash = hash_u64((uint64_t)tid);

	for (size_t i = 0; i < p->n_told; i++) {
		const struct waits_told *t = &p->told[i];

		if (from <= t->to && to >= t->from &&
		    (t->of_all ||
		     table_find_hash(&t->tids, hash) != TABLE_NONE))
			return true;
	}
	return false;
}

int waits_part_load(struct waits_parts *all, size_t i, struct store *db,
		    struct err *err)
{
	struct waits_part *p = &all->part[i];
	const struct value bind[] = {
		{ .kind = VALUE_INT, .num = p->only.type },
		{ .kind = VALUE_INT, .num = p->only.first },
		{ .kind = VALUE_INT, .num = p->only.last },
	};

	if (waits_load_losses(p, db, err))
		return -1;
	if (p->role != WAITS_MEASURED)
		return waits_load_lives(p, db, err);
	for (size_t k = 0; k < i; k++)
		if (all->part[k].kernel == p->kernel &&
		    waits_add_told(p, db, &all->part[k], err))
			return -1;
	p->rows = rows_open(db, store_sql("offcpu_measured"), bind,
			    ARRAY_SIZE(bind), err);
	return p->rows ? 0 : -1;
}

/* Returns the id of a row; 0: none. */
static uint32_t waits_id(const struct rows *r, size_t column)
{
	int64_t v = rows_int(r, column);

	return v > 0 && v < INT32_MAX ? (uint32_t)v : 0;
}

/* A sum is of waits that began at any time of its capture, which was being
 * recorded when the first of the other waits began. Sums stand behind these. */
static void waits_place(struct waits_part *p, struct waits_measured *w,
			int64_t time)
{
	w->sum = !time;
	w->to = time ? time : w->ns;
	if (!time) {
		w->told = waits_is_told(p, w->tid, p->start, p->end);
		return;
	}
	if (__builtin_sub_overflow(time, w->ns, &w->from))
		w->from = INT64_MIN;
	p->start = w->from < p->start ? w->from : p->start;
	p->end = time > p->end ? time : p->end;
	w->told = waits_is_told(p, w->tid, w->from, w->from);
}

int waits_part_next(struct waits_part *p, struct waits_measured *out,
		    struct err *err)
{
	struct rows *r = p->rows;

	if (!rows_step(r)) {
		p->rows = NULL;
		return rows_end(r, err);
	}
	*out = (struct waits_measured){
		.event = rows_int(r, OFFCPU_MEASURED_ID),
		.tid = rows_int(r, OFFCPU_MEASURED_TID),
		.ns = rows_int(r, OFFCPU_MEASURED_WEIGHT),
	};
	out->stack = (struct offcpu_stack){
		.type = (uint32_t)p->only.type,
		.comm = waits_id(r, OFFCPU_MEASURED_COMM),
		.kraw = waits_id(r, OFFCPU_MEASURED_KRAW),
		.uraw = waits_id(r, OFFCPU_MEASURED_URAW),
		.verdict = (uint8_t)rows_int(r, OFFCPU_MEASURED_VERDICT),
		.flags = (uint8_t)rows_int(r, OFFCPU_MEASURED_FLAGS) &
			 VERDICT_EXEC,
	};
	waits_place(p, out, rows_int(r, OFFCPU_MEASURED_TIME_NS));
	return 1;
}

/* ---- questions */

void waits_part_release(struct waits_part *p)
{
	free(p->lost.span);
	for (size_t i = 0; i < p->n_of; i++)
		free(p->of[i].span);
	for (size_t i = 0; i < p->n_told; i++)
		table_release(&p->told[i].tids);
	if (p->rows)
		rows_stop(p->rows);
	free(p->told);
	free(p->of);
	free(p->life);
	p->lost = (struct waits_lost){ 0 };
	p->of = NULL;
	p->life = NULL;
	p->told = NULL;
	p->rows = NULL;
	p->n_of = p->cap_of = p->n_life = p->cap_life = 0;
	p->n_told = p->cap_told = 0;
}

static bool waits_is_lost(const struct waits_lost *l, int64_t from, int64_t to)
{
	size_t at = search_where(l->n, i, l->span[i].to > from);

	return at < l->n && l->span[at].from < to;
}

bool waits_part_lost(const struct waits_part *p, int64_t from, int64_t to)
{
	return waits_is_lost(&p->lost, from, to);
}

bool waits_part_lost_on(const struct waits_part *p, int32_t cpu, int64_t from,
			int64_t to)
{
	size_t at = (size_t)(cpu + 1);

	if (cpu < 0 || waits_part_sampled(p))
		return waits_part_lost(p, from, to);
	return (p->n_of && waits_is_lost(&p->of[0], from, to)) ||
	       (at < p->n_of && waits_is_lost(&p->of[at], from, to));
}

int64_t waits_part_exit(const struct waits_part *p, int64_t tid, int64_t time)
{
	size_t at =
		search_where(p->n_life, i,
			     p->life[i].tid > tid || (p->life[i].tid == tid &&
						      p->life[i].from > time));

	return at && p->life[at - 1].tid == tid ? p->life[at - 1].to
						: INT64_MAX;
}
