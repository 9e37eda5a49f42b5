/* ahead.c - gives stack dumps to the unwinder's threads before their samples
 * are due. */
#include "stitch/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/tasks/regions.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

/* Dumps that were begun. */
#define AHEAD_MAX 128
/* Records to look at for each that is due, so that those without a dump do not
 * hold the records up. */
#define AHEAD_LOOK 4
#define VIEWS_MAX 32
/* Processes with more mappings are not unwound ahead. */
#define VIEW_REGIONS_MAX 4096

/* The mappings of code that a process had at a time. Threads read them. */
struct ahead_view {
	struct region *r; /* sorted by start */
	size_t n, cap;
	uint32_t process;
	uint64_t epoch;
	uint32_t any;  /* struct space.any */
	uint32_t refs; /* dumps that were begun with it */
};

struct ahead_dump {
	struct unwind_job *job;
	struct ahead_view *view;
	const void *stack;
};

struct ahead {
	struct order *ord;
	struct unwinder *uw;
	struct ahead_dump dump[AHEAD_MAX]; /* a ring */
	size_t first, n;
	struct ahead_view view[VIEWS_MAX];
	size_t last_view;
};

struct ahead *ahead_new(struct order *ord, struct unwinder *uw)
{
	if (!uw || !uw->ops->begin || !order_has_dumps(ord))
		return NULL;
	struct ahead *a = mem_new(1, sizeof(*a));

	a->ord = ord;
	a->uw = uw;
	return a;
}

/* Ends the first dump. Returns whether out has its result. */
static bool ahead_end_first(struct ahead *a, struct unwind_out *out,
			    bool *dated)
{
	struct ahead_dump *d = &a->dump[a->first];
	bool done = a->uw->ops->finish(a->uw, d->job, out, dated);

	d->view->refs--;
	a->first = (a->first + 1) % AHEAD_MAX;
	a->n--;
	return done;
}

static void ahead_drop_first(struct ahead *a)
{
	struct unwind_out none = { .max = 0 };
	bool dated;

	ahead_end_first(a, &none, &dated);
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	while (a->n)
		ahead_drop_first(a);
	for (size_t i = 0; i < VIEWS_MAX; i++)
		free(a->view[i].r);
	free(a);
}

/* Called by threads: struct unwind_in.find. Mappings without code are as if
 * nothing was there. */
static int ahead_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	const struct ahead_view *v = arg;
	size_t i = search_where(v->n, k, v->r[k].end - 1 >= addr);

	if (i == v->n || addr < v->r[i].start)
		return 0;
	*map = (struct unwind_map){
		.start = v->r[i].start,
		.end = v->r[i].end,
		.pgoff = v->r[i].pgoff,
		.image = v->r[i].image,
		.exec = true,
	};
	return 1;
}

static void ahead_add_region(void *arg, const struct region *r)
{
	struct ahead_view *v = arg;

	if (region_is_code(r))
		*mem_add(v->r, v->n, v->cap) = *r;
}

/* Returns the process's mappings of now, or NULL if all views are in use. */
static struct ahead_view *ahead_view_of(struct ahead *a,
					const struct process *p, uint64_t epoch)
{
	struct ahead_view *v = NULL;

	for (size_t i = 0; i < VIEWS_MAX; i++) {
		struct ahead_view *w = &a->view[(a->last_view + i) % VIEWS_MAX];

		if (w->process == p->id && w->epoch == epoch &&
		    w->any == p->space.any && w->epoch)
			return w;
		if (!w->refs)
			v = w;
	}
	if (!v || p->space.now.n > VIEW_REGIONS_MAX)
		return NULL;
	v->n = 0;
	v->process = p->id;
	v->epoch = epoch;
	v->any = p->space.any;
	a->last_view = (size_t)(v - a->view);
	regions_each(&p->space.now, false, ahead_add_region, v);
	return v;
}

void ahead_begin(struct ahead *a, struct stitch *st, ahead_fn *fn)
{
	for (int i = 0; a && a->n < AHEAD_MAX && i < AHEAD_LOOK; i++) {
		struct unwind_in in = { .find = ahead_find, .dumped = true };
		const struct record *rec = order_peek(a->ord);

		if (!rec)
			return;
		if (rec->kind != REC_SAMPLE || !rec->sample.stack ||
		    !rec->sample.user_regs.abi)
			continue;
		const struct process *p = fn(st, rec, &in);

		if (!p || !in.epoch || !in.machine)
			continue;
		struct ahead_view *v = ahead_view_of(a, p, in.epoch);

		if (!v)
			continue;
		in.arg = v;
		in.regs = &rec->sample.user_regs;
		in.stack = rec->sample.stack;
		in.len = rec->sample.stack_len;
		struct unwind_job *job = a->uw->ops->begin(a->uw, &in);

		if (!job)
			return; /* no thread has time */
		v->refs++;
		a->dump[(a->first + a->n++) % AHEAD_MAX] =
			(struct ahead_dump){ job, v, in.stack };
	}
}

bool ahead_take(struct ahead *a, const struct unwind_in *in,
		const struct process *p, struct unwind_out *out)
{
	size_t i = 0;

	if (!a)
		return false;
	while (i < a->n &&
	       a->dump[(a->first + i) % AHEAD_MAX].stack != in->stack)
		i++;
	if (i == a->n)
		return false;
	while (i--)
		ahead_drop_first(a);
	const struct ahead_view *v = a->dump[a->first].view;
	bool dated;

	return ahead_end_first(a, out, &dated) && in->epoch &&
	       v->process == p->id && v->epoch == in->epoch &&
	       (!dated || v->any == p->space.any);
}
