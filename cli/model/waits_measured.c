/* waits_measured.c - the waits that the kernel itself measured. */
#include "cli/model/waits_measured.h"

#include <stdlib.h>

#include "cli/model/waits_part.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

/* A capture that tells of all waits that begin in its time: of all threads, or
 * of those only that have an event of its type. */
struct told {
	int64_t from, to;
	bool of_all;
	struct table tids; /* of_all: empty */
};

struct waits_measured {
	struct rows *rows;
	uint32_t type;
	int64_t start, end; /* of the capture */
	struct told *told;
	size_t n, cap;
};

static int measured_add_told(struct waits_measured *m, struct store *db,
			     const struct waits_part *p, struct err *err)
{
	const struct value type = { .kind = VALUE_INT, .num = p->only.type };
	struct told *t = mem_add(m->told, m->n, m->cap);
	struct rows *r;

	*t = (struct told){ .from = p->start,
			    .to = p->end,
			    .of_all = !p->partial };
	if (t->of_all)
		return 0;
	r = rows_open(db, store_sql("offcpu_told"), &type, 1, err);
	while (rows_step(r))
		table_add(&t->tids,
			  hash_u64((uint64_t)rows_int(r, OFFCPU_TOLD_TID)), 0);
	return rows_end(r, err);
}

static bool measured_is_told(const struct waits_measured *m, int64_t tid,
			     int64_t from, int64_t to)
{
	uint64_t hash = hash_u64((uint64_t)tid);

	for (size_t i = 0; i < m->n; i++) {
		const struct told *t = &m->told[i];

		if (from <= t->to && to >= t->from &&
		    (t->of_all ||
		     table_find_hash(&t->tids, hash) != TABLE_NONE))
			return true;
	}
	return false;
}

struct waits_measured *waits_measured_open(struct store *db,
					   struct waits_parts *parts, size_t at,
					   struct err *err)
{
	struct waits_measured *m = mem_new(1, sizeof(*m));
	const struct waits_part *p = waits_parts_get(parts, at);
	const struct value bind[] = {
		{ .kind = VALUE_INT, .num = p->only.type },
		{ .kind = VALUE_INT, .num = p->only.first },
		{ .kind = VALUE_INT, .num = p->only.last },
	};

	m->type = (uint32_t)p->only.type;
	m->start = p->start;
	m->end = p->end;
	for (size_t i = 0; i < at; i++) {
		const struct waits_part *o = waits_parts_get(parts, i);

		if (o->kernel == p->kernel && measured_add_told(m, db, o, err))
			goto fail;
	}
	m->rows = rows_open(db, store_sql("offcpu_measured"), bind,
			    ARRAY_SIZE(bind), err);
	if (m->rows)
		return m;
fail:
	waits_measured_close(m);
	return NULL;
}

void waits_measured_close(struct waits_measured *m)
{
	if (!m)
		return;
	if (m->rows)
		rows_stop(m->rows);
	for (size_t i = 0; i < m->n; i++)
		table_release(&m->told[i].tids);
	free(m->told);
	free(m);
}

/* Returns the id of a row; 0: none. */
static uint32_t measured_id(const struct rows *r, size_t column)
{
	int64_t v = rows_int(r, column);

	return v > 0 && v < INT32_MAX ? (uint32_t)v : 0;
}

/* A sum is of waits that began at any time of its capture, which was being
 * recorded when the first of the other waits began. Sums stand behind these. */
static void measured_place(struct waits_measured *m, struct measured_wait *w,
			   int64_t time)
{
	w->sum = !time;
	w->to = time ? time : w->ns;
	if (!time) {
		w->told = measured_is_told(m, w->tid, m->start, m->end);
		return;
	}
	if (__builtin_sub_overflow(time, w->ns, &w->from))
		w->from = INT64_MIN;
	m->start = w->from < m->start ? w->from : m->start;
	m->end = time > m->end ? time : m->end;
	w->told = measured_is_told(m, w->tid, w->from, w->from);
}

int waits_measured_next(struct waits_measured *m, struct measured_wait *out,
			struct err *err)
{
	const struct rows *r = m->rows;
	int rc;

	if (!rows_step(m->rows)) {
		rc = rows_end(m->rows, err);
		m->rows = NULL;
		return rc;
	}
	*out = (struct measured_wait){
		.event = rows_int(r, OFFCPU_MEASURED_ID),
		.tid = rows_int(r, OFFCPU_MEASURED_TID),
		.ns = rows_int(r, OFFCPU_MEASURED_WEIGHT),
	};
	out->stack = (struct offcpu_stack){
		.type = m->type,
		.comm = measured_id(r, OFFCPU_MEASURED_COMM),
		.kraw = measured_id(r, OFFCPU_MEASURED_KRAW),
		.uraw = measured_id(r, OFFCPU_MEASURED_URAW),
		.verdict = (uint8_t)rows_int(r, OFFCPU_MEASURED_VERDICT),
		.flags = (uint8_t)rows_int(r, OFFCPU_MEASURED_FLAGS) &
			 VERDICT_EXEC,
	};
	measured_place(m, out, rows_int(r, OFFCPU_MEASURED_TIME_NS));
	return 1;
}
