/* timeline_seal.c - the end of a timeline: losses that no record tells, and the
 * lists of what each thread and each CPU has. */

#include "analyze/causes/timeline_inner.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/task_state.h"

static void timeline_lose_wakes(struct timeline *t, const struct ring_part *p)
{
	for (unsigned int i = 1; i < 3; i++) {
		unsigned int type = 1u << i;
		int64_t on = p->since_on[i] < p->to ? p->since_on[i] : p->to;

		/* sched_wakeup is not needed where sched_waking is recorded */
		if (!(t->types & type) || (type != TIMELINE_HAS_WAKING &&
					   t->types & TIMELINE_HAS_WAKING))
			continue;
		if (p->since_on[i] > p->since_on[0])
			timeline_add_loss(t, p->from, on, p->cpu)->only_wakes =
				true;
		if (p->since_on[i] < TIMELINE_END && p->until[i] < p->last)
			timeline_add_loss(t, p->until[i], p->to, p->cpu)
				->only_wakes = true;
	}
}

COMPARE_BY(timeline_compare_losses, struct timeline_loss, from, to, cpu);

/* Stays of a task that no record knows, with as many losses after: fewer may
 * be chance, of a thread that ran that often only. Where one task is
 * silent, others that are never heard are so too. */
#define SILENT_GAPS 4

static bool voice_is_silent(const struct voice *v, uint32_t gaps)
{
	return v && !v->heard && v->gaps >= gaps;
}

/* Lists the silent tasks, and drops the doubts that they explain. A loss that
 * was put down to a task that is not silent is a contradiction. */
static void timeline_end_silence(struct timeline *t)
{
	uint32_t most = 0;

	for (size_t i = 0; i < t->n_ring; i++)
		if (!t->ring[i].idle.heard)
			raise_to(most, t->ring[i].idle.gaps);
	for (size_t i = 0; i < t->n_thread; i++)
		if (!t->thread[i].voice.heard)
			raise_to(most, t->thread[i].voice.gaps);
	uint32_t gaps = most >= SILENT_GAPS ? 1 : SILENT_GAPS;
	size_t kept = 0;

	for (size_t i = 0; i < t->n_ring; i++)
		if (voice_is_silent(&t->ring[i].idle, gaps))
			*mem_add(t->silent, t->n_silent, t->cap_silent) =
				(struct timeline_silent){
					0, (int32_t)i, t->ring[i].idle.gaps
				};
	for (size_t i = 0; i < t->n_thread; i++)
		if (voice_is_silent(&t->thread[i].voice, gaps))
			*mem_add(t->silent, t->n_silent,
				 t->cap_silent) = (struct timeline_silent){
				t->thread[i].tid, -1, t->thread[i].voice.gaps
			};
	for (size_t i = 0; i < t->n_loss; i++) {
		struct timeline_loss *l = &t->loss[i];

		if (!l->of_task ||
		    voice_is_silent(
			    timeline_voice(t, &t->ring[l->cpu], l->before),
			    gaps))
			continue;
		l->of_task = false;
		t->contradictions++;
	}
	for (size_t i = 0; i < t->n_doubt; i++) {
		const struct doubt d = t->doubt[i];
		int64_t idle = -2 - d.task;
		struct voice *v =
			d.task == -1 ? NULL
			: d.task < 0
				? &t->ring[idle].idle
				: timeline_voice(t, t->ring, (int32_t)d.task);

		if (!voice_is_silent(v, gaps))
			t->doubt[kept++] = d;
	}
	t->n_doubt = kept;
}

COMPARE_BY(timeline_compare_doubts, struct doubt, from);

static void timeline_end_losses(struct timeline *t)
{
	for (int32_t i = 0; i < t->rules.cpus && i < TIMELINE_CPUS_MAX; i++)
		timeline_ring(t, i);
	timeline_end_part(t, TIMELINE_END);
	for (size_t i = 0; i < t->n_ring; i++) {
		struct ring *r = &t->ring[i];
		const struct timeline_loss tail = {
			.from = r->began ? r->last : TIMELINE_START,
			.to = TIMELINE_END,
			.n = -1,
		};

		timeline_break(t, r, tail, -1);
		timeline_skip_losses(t, r, TIMELINE_END);
	}
	timeline_cut_tails(t);
	for (size_t i = 0; i < t->n_ring_part; i++)
		timeline_lose_wakes(t, &t->ring_part[i]);
	for (size_t i = 0; i < t->n_anywhere; i++) {
		struct timeline_loss l = t->told[t->anywhere[i]];

		l.before = l.after = l.cpu = -1;
		l.n = -1;
		*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	}
	if (!t->rules.cpus || t->stray ||
	    (t->rules.cpus > 0 && (size_t)t->rules.cpus < t->n_ring))
		timeline_add_loss(t, TIMELINE_START, TIMELINE_END, -1);
	timeline_end_silence(t);
	/* Makes a loss of all CPUs of each time in which the recorder may have
	 * paused. */
	if (t->n_doubt && t->rules.pauses < 0 && !timeline_is_blind(t)) {
		/* Sorts the doubts, and makes one of those that touch. */
		struct doubt *d = t->doubt;
		size_t n = 0;

		sort_items(d, t->n_doubt, timeline_compare_doubts);
		for (size_t i = 1; i < t->n_doubt; i++) {
			if (d[i].from > d[n].to)
				d[++n] = d[i];
			else if (d[i].to > d[n].to)
				d[n].to = d[i].to;
		}
		t->n_doubt = n + 1;
		for (size_t i = 0; i < t->n_doubt; i++)
			timeline_add_loss(t, t->doubt[i].from, t->doubt[i].to,
					  -1)
				->silent = true;
		/* Takes the times of doubt out of the stays, each of which may
		 * become several. */
		const struct doubt *doubt = t->doubt;
		struct timeline_stay *stay = NULL;
		size_t count = 0;
		size_t cap = 0;

		for (size_t k = 0; k < t->stay.n; k++) {
			struct timeline_stay s = timeline_stay(t, (uint32_t)k);
			size_t first = search_where(t->n_doubt, i,
						    doubt[i].to > s.from);
			size_t i = first;

			for (; i < t->n_doubt && doubt[i].from < s.to; i++) {
				struct timeline_stay head = s;

				head.to = doubt[i].from;
				head.exact_to = false;
				head.state = -1;
				/* before the one that has the event */
				head.event -= head.told;
				head.told = false;
				if (head.from < head.to)
					*mem_add(stay, count, cap) = head;
				s.from = doubt[i].to;
				s.exact_from = false;
			}
			if (i == first || s.from < s.to)
				*mem_add(stay, count, cap) = s;
		}
		packed_times_release(&t->stay);
		for (size_t k = 0; k < count; k++) {
			stay[k].number = (uint32_t)k;
			timeline_put_stay(t, &stay[k]);
		}
		free(stay);
	}
	sort_items(t->loss, t->n_loss, timeline_compare_losses);
	loss_ends_init(&t->ends, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		loss_ends_put(&t->ends, i, t->loss[i].to);
	loss_ends_seal(&t->ends);
}

static int timeline_compare_stays(const void *a, const void *b, void *arg)
{
	const struct timeline *t = arg;
	const struct timeline_stay x = timeline_stay(t, *(const uint32_t *)a);
	const struct timeline_stay y = timeline_stay(t, *(const uint32_t *)b);

	return compare_numbers(x.from, y.from) ?: compare_numbers(x.to, y.to);
}

/* A stay that a loss ends is added with the record after the loss, when others
 * of the thread may be there already. */
static void timeline_order_stays(struct timeline *t, uint32_t *id, size_t n)
{
	int64_t from = TIMELINE_START;
	size_t k = 0;

	for (; k < n; k++) {
		const struct timeline_stay s = timeline_stay(t, id[k]);

		if (s.from < from)
			break;
		from = s.from;
	}
	if (k < n)
		sort_items_by(id, n, timeline_compare_stays, t);
}

/* Sorts n items by owner, those of each in the order in which they came, or of
 * time. */
static void timeline_make_lists(struct timeline *t, struct lists *l,
				const uint32_t *owner, size_t n, size_t owners)
{
	size_t *first = mem_new(owners + 2, sizeof(*first));
	uint32_t *id;

	for (size_t i = 0; i < n; i++)
		if (owner[i] != TIMELINE_NONE)
			first[owner[i] + 2]++;
	for (size_t i = 2; i < owners + 2; i++)
		first[i] += first[i - 1];
	id = mem_new(first[owners + 1], sizeof(*id));
	for (size_t i = 0; i < n; i++)
		if (owner[i] != TIMELINE_NONE)
			id[first[owner[i] + 1]++] = (uint32_t)i;
	for (size_t i = 0; l == &t->stays && i < owners; i++)
		timeline_order_stays(t, id + first[i], first[i + 1] - first[i]);
	for (size_t i = 0; i < first[owners]; i++)
		packed_times_put(&l->number, i,
				 &(struct packed_time){ .time = id[i] });
	packed_times_close(&l->number);
	l->first = first;
	free(id);
}

void timeline_seal(struct timeline *t)
{
	timeline_end_losses(t);
	/* Nothing says which thread came back without a tid: each that left as
	 * if dead before it may have. */
	for (uint32_t i = 0; t->undead > TIMELINE_START && i < t->stay.n; i++) {
		struct timeline_stay s = timeline_stay(t, i);

		if (s.to > t->undead || !task_state_ends(s.state))
			continue;
		s.state = -1;
		timeline_put_stay(t, &s);
	}
	uint32_t *of = NULL;
	size_t cap = 0;

	mem_grow(of, cap, t->stay.n);
	for (uint32_t i = 0; i < t->stay.n; i++)
		of[i] = timeline_stay(t, i).thread;
	timeline_make_lists(t, &t->stays, of, t->stay.n, t->n_thread);
	for (uint32_t i = 0; i < t->stay.n; i++)
		of[i] = timeline_stay(t, i).cpu;
	timeline_make_lists(t, &t->seats, of, t->stay.n, t->n_ring);
	mem_grow(of, cap, 2 * t->wake.n);
	for (uint32_t i = 0; i < 2 * t->wake.n; i++)
		of[i] = timeline_wake(t, i).waiter;
	timeline_make_lists(t, &t->wakes, of, 2 * t->wake.n, t->n_thread);
	mem_grow(of, cap, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		of[i] = (uint32_t)(t->loss[i].cpu + 1);
	timeline_make_lists(t, &t->losses, of, t->n_loss, t->n_ring + 1);
	free(of);
	loss_ends_init(&t->ends_on, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		loss_ends_put(
			&t->ends_on, i,
			t->loss[packed_times_get(&t->losses.number, i).time]
				.to);
	loss_ends_seal(&t->ends_on);
}

void timeline_settle(struct timeline *t, timeline_settle_fn *fn, void *arg)
{
	for (uint32_t i = 0; i < 2 * t->wake.n; i++) {
		struct timeline_wake w = timeline_wake(t, i);

		if (w.waiter == TIMELINE_NONE ||
		    (w.context != CONTEXT_SOFTIRQ_UNKNOWN &&
		     w.context != CONTEXT_HARDIRQ))
			continue;
		w.context = fn(arg, &w);
		timeline_put_wake(t, &w);
	}
}
