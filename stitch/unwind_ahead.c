/* unwind_ahead.c - gives stack dumps to the unwinder's threads before their
 * samples are due. */
#include "stitch/unwind_ahead.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/base/thread.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/tasks/space.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

/* Maximum number of dumps that were begun, or wait to be. */
#define AHEAD_MAX 512
/* Records to examine for each one that is due, so that records without a dump
 * cause no delay. */
#define AHEAD_LOOK 8
#define VIEWS_MAX 256
/* Entries in which a view may be; if dumps use all of them, another process
 * gets none. */
#define VIEW_WAYS 16
/* Processes with more mappings are not unwound ahead: 12 MiB for all views. */
#define VIEW_REGIONS_MAX 1024
/* Lists of dumps that wait, by the record that they wait for. */
#define WAITS 1024
/* Number of entries for changes of processes; processes that share an entry
 * only wait for each other. */
#define CHANGES 1024

/* The mappings of a process's code at one time, which threads read. */
struct ahead_view {
	struct region *r; /* sorted by start */
	size_t n, cap;
	uint32_t process;
	uint64_t epoch;
	uint32_t any;  /* struct space.any */
	uint32_t refs; /* dumps that were begun with it */
};

struct ahead_dump {
	const struct record *rec;
	struct unwind_job *job; /* NULL: not begun */
	struct ahead_view *view;
	uint64_t turn;	/* number of the record */
	uint64_t after; /* the dump can be begun once this record was taken */
	struct ahead_list *list; /* list in which it waits; NULL: none */
	struct ahead_dump *next; /* next dump in that list */
};

struct ahead_list {
	struct ahead_dump *first, **end;
};

struct unwind_ahead {
	struct order *ord;
	struct unwinder *uw;
	uint64_t turn;	      /* the last record taken */
	uint64_t used, asked; /* dumps for which unwind_ahead_take() returned
			       * true, and was called */
	struct ahead_dump dump[AHEAD_MAX]; /* a ring, in the order of records */
	size_t first, n;
	/* dumps that will be begun: by the record that they wait for; and those
	 * that only wait for a thread */
	struct ahead_list waits[WAITS], ready;
	/* The last record seen that changes the threads or mappings of a
	 * process; indexed by a hash of the process. */
	uint64_t change[CHANGES];
	struct ahead_view view[VIEWS_MAX];
};

struct unwind_ahead *unwind_ahead_new(struct order *ord, struct unwinder *uw)
{
	if (!uw || !uw->ops->begin || !order_has_dumps(ord))
		return NULL;
	struct unwind_ahead *a = mem_new(1, sizeof(*a));

	a->ord = ord;
	a->uw = uw;
	for (size_t i = 0; i < WAITS; i++)
		a->waits[i].end = &a->waits[i].first;
	a->ready.end = &a->ready.first;
	return a;
}

static struct ahead_dump *ahead_at(struct unwind_ahead *a, size_t i)
{
	return &a->dump[(a->first + i) % AHEAD_MAX];
}

static void ahead_list_add(struct ahead_list *l, struct ahead_dump *d)
{
	d->list = l;
	d->next = NULL;
	*l->end = d;
	l->end = &d->next;
}

static void ahead_list_remove(struct ahead_dump *d)
{
	struct ahead_list *l = d->list;
	struct ahead_dump **at = &l->first;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	if (!*at)
		l->end = at;
	d->list = NULL;
}

/* Ends the first dump. Returns whether *out has its result. */
static bool ahead_end_first(struct unwind_ahead *a, struct unwind_out *out,
			    bool *dated)
{
	struct ahead_dump *d = ahead_at(a, 0);
	bool done = false;

	if (d->job) {
		done = a->uw->ops->finish(a->uw, d->job, out, dated);
		d->view->refs--;
	}
	if (d->list)
		ahead_list_remove(d);
	a->first = (a->first + 1) % AHEAD_MAX;
	a->n--;
	return done;
}

static void ahead_drop_first(struct unwind_ahead *a)
{
	struct unwind_out none = { .max = 0 };
	bool dated;

	ahead_end_first(a, &none, &dated);
}

void unwind_ahead_free(struct unwind_ahead *a)
{
	if (!a)
		return;
	while (a->n)
		ahead_drop_first(a);
	thread_used("unwinding", a->used, a->asked, "stacks");
	for (size_t i = 0; i < VIEWS_MAX; i++)
		free(a->view[i].r);
	free(a);
}

/* The unwind_in.find of threads: finds only mappings of code. */
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

/* Returns the current mappings of a process; NULL: there are too many, or all
 * views are in use. */
static struct ahead_view *ahead_view_of(struct unwind_ahead *a,
					const struct process *p, uint64_t epoch)
{
	const size_t first = hash_u32s(p->id, p->space.any) % VIEWS_MAX;
	struct ahead_view *v = NULL;

	if (p->space.now.n > VIEW_REGIONS_MAX)
		return NULL;
	for (size_t i = 0; i < VIEW_WAYS; i++) {
		struct ahead_view *w = &a->view[(first + i) % VIEWS_MAX];

		if (w->process == p->id && w->epoch == epoch &&
		    w->any == p->space.any && w->epoch)
			return w;
		if (!w->refs && !v)
			v = w;
	}
	if (!v)
		return NULL;
	v->n = 0;
	v->process = p->id;
	v->epoch = epoch;
	v->any = p->space.any;
	regions_each(&p->space.now, false, ahead_add_region, v);
	return v;
}

static uint64_t *ahead_change(struct unwind_ahead *a, const struct record *rec)
{
	uint64_t h = hash_u32s(rec->source, (uint32_t)rec->pid);

	return &a->change[h % CHANGES];
}

/* Hands a dump to a thread. The dump waits if the mappings of its process are
 * not known yet, or if no thread is free. If the mappings will not be known, or
 * there is no room for them, it is unwound when its sample is due. soon: the
 * dump is due before most dumps that were begun so far. */
static void ahead_try(struct unwind_ahead *a, struct ahead_dump *d,
		      struct stitch *st, unwind_ahead_fn *fn, bool soon)
{
	const struct rec_sample *s = &d->rec->sample;
	struct unwind_in in = {
		.find = ahead_find,
		.dumped = true,
		.regs = &s->user_regs,
		.stack = s->stack,
		.len = s->stack_len,
	};
	const struct process *p;
	int when = fn(st, d->rec, &in, &p);

	if (when == AHEAD_LATER) {
		uint64_t *change = ahead_change(a, d->rec);

		/* no record seen so far will show the mappings: wait for the
		 * sample itself */
		if (*change <= a->turn)
			*change = d->turn;
		d->after = *change;
		ahead_list_add(&a->waits[d->after % WAITS], d);
		return;
	}
	d->view = when == AHEAD_NOW ? ahead_view_of(a, p, in.epoch) : NULL;
	if (!d->view)
		return;
	in.arg = d->view;
	d->job = a->uw->ops->begin(a->uw, &in, soon);
	d->view->refs += d->job != NULL;
	if (!d->job)
		ahead_list_add(&a->ready, d);
}

void unwind_ahead_begin(struct unwind_ahead *a, struct stitch *st,
			unwind_ahead_fn *fn)
{
	a->turn++;
	while (a->n && ahead_at(a, 0)->turn <= a->turn)
		ahead_drop_first(a);
	for (int i = 0; a->n < AHEAD_MAX && i < AHEAD_LOOK; i++) {
		uint64_t turn;
		const struct record *rec = order_peek(a->ord, &turn);

		if (!rec)
			break;
		/* Notes a later record's change, or begins its dump. */
		uint64_t *change = ahead_change(a, rec);

		if ((rec->kind == REC_MAP && !(rec->flags & REC_F_DATA)) ||
		    (rec->kind == REC_COMM && rec->flags & REC_F_EXEC) ||
		    rec->kind == REC_FORK)
			*change = turn;
		if (rec->kind != REC_SAMPLE || !rec->sample.stack ||
		    !rec->sample.user_regs.abi)
			continue;
		struct ahead_dump *d = ahead_at(a, a->n++);

		*d = (struct ahead_dump){ .rec = rec,
					  .turn = turn,
					  .after = *change };
		if (*change <= a->turn)
			ahead_try(a, d, st, fn, false);
		else
			ahead_list_add(&a->waits[*change % WAITS], d);
	}
	/* Begins the dumps whose processes no earlier record will change. */
	struct ahead_dump *next = a->waits[a->turn % WAITS].first;
	struct ahead_dump *d;

	while ((d = next)) {
		next = d->next;
		if (d->after > a->turn)
			continue;
		ahead_list_remove(d);
		ahead_list_add(&a->ready, d);
	}
	while ((d = a->ready.first)) {
		ahead_list_remove(d);
		ahead_try(a, d, st, fn, true);
		if (d->list == &a->ready)
			return; /* no thread is free */
	}
}

bool unwind_ahead_take(struct unwind_ahead *a, const struct unwind_in *in,
		       const struct process *p, struct unwind_out *out)
{
	if (!a)
		return false;
	a->asked++;
	if (!a->n || ahead_at(a, 0)->turn != a->turn + 1)
		return false;
	const struct ahead_view *v = ahead_at(a, 0)->view;
	bool dated;

	bool used = ahead_end_first(a, out, &dated) && in->epoch &&
		    v->process == p->id && v->epoch == in->epoch &&
		    (!dated || v->any == p->space.any);

	a->used += used;
	return used;
}
