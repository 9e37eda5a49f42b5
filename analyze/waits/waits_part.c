/* waits_part.c - what may be missing in the events that report waits. */
#include "analyze/waits/waits_part.h"

#include "analyze/samples/events.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

#define CPUS_MAX 65536 /* losses of further ones are of any */

/* A capture that reports all waits that begin in its time: of all threads, or
 * of those only that have an event of its type. */
struct waits_reported {
	int64_t from, to;
	bool of_all;
	struct table tids; /* of_all: empty */
};

/* Adds a part; its time is that of its captures. */
static void waits_add_part(struct waits_parts *p, const struct causes_kernel *k,
			   const struct causes_capture *measured)
{
	const struct causes_capture *c = k ? k->capture : measured;
	struct waits_part *add = mem_add(p->part, p->n, p->cap);

	*add = (struct waits_part){ .kernel = k,
				    .measured = measured,
				    .start = c->begin,
				    .end = c->end };
	for (size_t i = 0; k && i < k->n; i++) {
		c = k->span[i].capture;
		lower_to(add->start, c->begin);
		raise_to(add->end, c->end);
	}
}

int waits_parts_load(struct waits_parts *p, struct store *db, struct err *err)
{
	struct causes_spans *s = causes_spans_load(db, true, err);

	p->spans = s;
	for (size_t i = 0; s && i < s->n; i++)
		waits_add_part(p, &s->kernel[i], NULL);
	/* Waits that the kernel has measured are read after all switches,
	 * which report the same ones as far as they were recorded. */
	for (size_t i = 0; s && i < s->n_measured; i++)
		waits_add_part(p, NULL, &s->measured[i]);
	return s ? 0 : -1;
}

void waits_parts_release(struct waits_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		waits_part_release(&p->part[i]);
	free(p->part);
	causes_spans_free(p->spans);
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

static void waits_lose_on(struct waits_part *p, int64_t cpu, int64_t from,
			  int64_t to)
{
	size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

	mem_reach(p->of, p->n_of, p->cap_of, at + 1);
	waits_lose(&p->of[at], from, to);
	waits_lose(&p->lost, from, to);
}

static void waits_take_loss(void *arg, const struct causes_span *s,
			    const struct timeline_loss *l)
{
	struct waits_part *p = arg;

	if (l) {
		p->records += l->n > 0 ? (uint64_t)l->n : 0;
		p->some_unknown |= l->n < 0;
		waits_lose_on(p, l->cpu, l->from, l->to);
		return;
	}
	/* what one capture tells no more, and the next not yet */
	if (s > p->kernel->span && s == &p->kernel->span[s->line])
		waits_lose_on(p, -1, s[-1].to, s->from);
	if (causes_capture_sampled(s->capture))
		waits_lose_on(p, -1, s->from, s->to);
}

COMPARE_FUNCTION(waits_compare_lives, struct waits_life,
		 compare_numbers(x->tid, y->tid)
			 ?: compare_numbers(x->from, y->from)
			 ?: compare_numbers(y->to, x->to));

/* Of a thread that several captures know, one may tell when it exited. Those
 * that were recorded together have their threads in common. */
static int waits_load_lives(struct waits_part *p, struct store *db,
			    struct err *err)
{
	const struct causes_kernel *k = p->kernel;

	for (size_t i = 0; i < k->n; i++) {
		int64_t together = k->span[i].capture->together;
		size_t before = 0;

		while (k->span[before].capture->together != together)
			before++;
		if (before < i)
			continue;
		struct rows *r = ROWS_BY(db, "offcpu_exits", err, together);

		while (rows_step(r))
			*mem_add(p->life, p->n_life, p->cap_life) =
				(struct waits_life){
					rows_int(r, OFFCPU_EXITS_TID),
					rows_int(r, OFFCPU_EXITS_START_NS),
					rows_int(r, OFFCPU_EXITS_END_NS),
				};
		if (rows_end(r, err))
			return -1;
	}
	sort_items(p->life, p->n_life, waits_compare_lives);
	return 0;
}

/* ---- measured waits */

/* Notes that a capture reports waits by its switches. */
static int waits_add_reported(struct waits_part *p, struct store *db,
			      const struct causes_capture *by, struct err *err)
{
	struct waits_reported *t = mem_add(p->told, p->n_told, p->cap_told);
	struct rows *r;

	*t = (struct waits_reported){ .from = by->begin,
				      .to = by->end,
				      .of_all = !by->some };
	if (t->of_all)
		return 0;
	r = ROWS_BY(db, "offcpu_told", err, by->type);
	while (rows_step(r))
		table_add(&t->tids,
			  hash_u64((uint64_t)rows_int(r, OFFCPU_TOLD_TID)), 0);
	return rows_end(r, err);
}

static bool waits_is_reported(const struct waits_part *p, int64_t tid,
			      int64_t from, int64_t to)
{
	uint64_t hash = hash_u64((uint64_t)tid);

	for (size_t i = 0; i < p->n_told; i++) {
		const struct waits_reported *t = &p->told[i];

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
	const struct causes_capture *m = p->measured;

	if (!m)
		return causes_kernel_losses(p->kernel, db, "offcpu_losses",
					    waits_take_loss, p, err) ||
				       waits_load_lives(p, db, err)
			       ? -1
			       : 0;
	for (size_t k = 0; k < i && !all->part[k].measured; k++) {
		const struct causes_kernel *by = all->part[k].kernel;

		for (size_t j = 0; j < by->n; j++)
			if (by->span[j].capture->together == m->together &&
			    waits_add_reported(p, db, by->span[j].capture, err))
				return -1;
	}
	p->rows = ROWS_BY(db, "offcpu_measured", err, m->type, m->first_event,
			  m->last_event);
	return p->rows ? 0 : -1;
}

/* A sum is of waits that began at any time of its capture, which was being
 * recorded when the first of the other waits began. Sums stand after these. */
static void waits_place(struct waits_part *p, struct waits_measured *w,
			int64_t time)
{
	w->sum = !time;
	w->to = time ? time : w->ns;
	if (!time) {
		w->told = waits_is_reported(p, w->tid, p->start, p->end);
		return;
	}
	if (__builtin_sub_overflow(time, w->ns, &w->from))
		w->from = INT64_MIN;
	lower_to(p->start, w->from);
	raise_to(p->end, time);
	w->told = waits_is_reported(p, w->tid, w->from, w->from);
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
		.type = (uint32_t)p->measured->type,
		.comm = id_of_row(rows_int(r, OFFCPU_MEASURED_COMM)),
		.kraw = id_of_row(rows_int(r, OFFCPU_MEASURED_KRAW)),
		.uraw = id_of_row(rows_int(r, OFFCPU_MEASURED_URAW)),
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
	free_all(p->told, p->of, p->life);
	*p = (struct waits_part){ .kernel = p->kernel,
				  .measured = p->measured };
}

/* Widens `in` by what is lost between from and to. */
static bool waits_is_lost(const struct waits_lost *l, int64_t from, int64_t to,
			  struct waits_span *in)
{
	size_t at = search_where(l->n, i, l->span[i].to > from);
	size_t end = search_where(l->n, i, l->span[i].from >= to);

	if (at >= end)
		return false;
	lower_to(in->from, l->span[at].from > from ? l->span[at].from : from);
	raise_to(in->to, l->span[end - 1].to < to ? l->span[end - 1].to : to);
	return true;
}

bool waits_part_lost(const struct waits_part *p, int32_t cpu, int64_t from,
		     int64_t to, struct waits_span *in)
{
	size_t at = (size_t)(cpu + 1);
	struct waits_span lost = { to, from };
	bool any;

	if (cpu < 0) {
		any = waits_is_lost(&p->lost, from, to, &lost);
	} else {
		any = p->n_of && waits_is_lost(&p->of[0], from, to, &lost);
		any |= at < p->n_of &&
		       waits_is_lost(&p->of[at], from, to, &lost);
	}
	if (any && in)
		*in = lost;
	return any;
}

static const struct waits_life *waits_part_life(const struct waits_part *p,
						int64_t tid, int64_t time)
{
	static const struct waits_life unknown = { 0, INT64_MIN, INT64_MAX };
	size_t at =
		search_where(p->n_life, i,
			     p->life[i].tid > tid || (p->life[i].tid == tid &&
						      p->life[i].from > time));

	return at && p->life[at - 1].tid == tid ? &p->life[at - 1] : &unknown;
}

int64_t waits_part_exit(const struct waits_part *p, int64_t tid, int64_t time)
{
	return waits_part_life(p, tid, time)->to;
}

int64_t waits_part_born(const struct waits_part *p, int64_t tid, int64_t time)
{
	return waits_part_life(p, tid, time)->from;
}
