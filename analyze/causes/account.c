/* account.c - how long a thread was in which state, and how often. */
#include "analyze/causes/account.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

struct accounting {
	struct account *a;
	const struct proofs *p;
	uint32_t thread;
	const struct account_ask *ask;
	account_blocked_fn *fn;
	void *arg;
	int32_t cpu;	    /* CPU on which the thread ran last; -1: unknown */
	int64_t ready_from; /* start of the current row of adjacent ready
			     * pieces, ns */
	int64_t ready_to;   /* end of the last piece of that row, ns */
	unsigned int ready_if; /* premises of the last of these pieces: enum
				* limits_premise */
};

static bool account_takes_cpu(const struct account_ask *ask, int32_t cpu)
{
	return !ask->takes_cpu || ask->takes_cpu(ask->arg, cpu);
}

/* Adds the part of a piece between two times to the sum of its state. */
static void account_piece(struct accounting *k, const struct proof_piece *pc,
			  int64_t from, int64_t to)
{
	bool own = pc->state == PIECE_RUN || piece_is_runnable(pc);
	struct account *a = k->a;
	uint64_t ns = (uint64_t)(to - from);

	if (pc->state == PIECE_UNBORN || pc->state == PIECE_DEAD ||
	    !account_takes_cpu(k->ask, own ? pc->cpu : k->cpu))
		return;
	if (pc->proof != PROOF_PROVED) {
		a->unknown += ns;
		return;
	}
	switch (pc->state) {
	case PIECE_RUN:
		a->run += ns;
		break;
	case PIECE_READY: {
		/* Adjacent pieces count as one delay, so a piece may extend
		 * the previous one. */
		const struct limits_answer held =
			proofs_held(k->p, k->thread, pc);
		unsigned int premises = limits_premises(&held);

		if (k->ready_to != from || !a->delays) {
			a->delays++;
			k->ready_from = from;
			k->ready_if = 0;
		}
		k->ready_if |= premises;
		k->ready_to = to;
		a->ready += (uint64_t)(to - from);
		a->ready_if += premises ? (uint64_t)(to - from) : 0;
		if (pc->bits >= 0 && !(pc->bits & 0xff))
			a->preempted += (uint64_t)(to - from);
		if (to - k->ready_from <= a->longest_to - a->longest_from)
			break;
		a->longest_from = k->ready_from;
		a->longest_to = to;
		a->longest_cpu = pc->cpu;
		a->longest_if = k->ready_if;
		break;
	}
	case PIECE_THROTTLED:
		a->throttled += ns;
		break;
	case PIECE_HELD:
		a->held += ns;
		break;
	case PIECE_BLOCKED:
		a->blocked += ns;
		if (k->fn)
			k->fn(k->arg, pc, ns);
		break;
	case PIECE_OFF:
		a->off += ns;
		break;
	default:
		a->unknown += ns;
	}
}

void account_thread(struct account *a, struct proofs *p,
		    const struct timeline *t, uint32_t thread,
		    const struct account_ask *ask, account_blocked_fn *fn,
		    void *arg)
{
	struct accounting k = { .a = a,
				.p = p,
				.thread = thread,
				.ask = ask,
				.fn = fn,
				.arg = arg,
				.cpu = -1 };
	size_t n = proofs_pieces(p, thread);

	*a = (struct account){ .longest_cpu = -1 };
	for (size_t i = 0; i < n; i++) {
		const struct proof_piece pc = proofs_piece(p, thread, i);
		int64_t from = pc.from > ask->from ? pc.from : ask->from;
		int64_t to = pc.to < ask->to ? pc.to : ask->to;

		if (pc.from >= ask->to)
			break;
		if (from < to)
			account_piece(&k, &pc, from, to);
		if (pc.state == PIECE_RUN)
			k.cpu = pc.cpu;
	}
	/* Counts the recorded switches to the thread and its moves between
	 * CPUs. */
	const struct numbers stays = lists_get(&t->stays, thread);
	int32_t cpu = -1;

	for (size_t i = 0; i < stays.n; i++) {
		const struct timeline_stay s =
			timeline_stay(t, numbers_get(&stays, i));
		bool counts = s.from >= ask->from && s.from <= ask->to &&
			      account_takes_cpu(ask, s.cpu);

		a->runs += counts && s.exact_from;
		a->moves += counts && cpu >= 0 && s.cpu != cpu;
		cpu = s.cpu;
	}
	enum timeline_kind kind = t->types & TIMELINE_HAS_WAKING
					  ? TIMELINE_WAKING
					  : TIMELINE_WAKEUP;
	const struct numbers id = lists_get(&t->wakes, thread);

	for (size_t i = 0; i < id.n; i++) {
		const struct timeline_wake w =
			timeline_wake(t, numbers_get(&id, i));

		a->woken += w.kind == kind && w.time >= ask->from &&
			    w.time <= ask->to &&
			    account_takes_cpu(ask, w.target);
	}
}

uint64_t account_time(const struct account *a)
{
	return a->run + a->ready + a->throttled + a->held + a->blocked +
	       a->off + a->unknown;
}

/* ---- the thread that was on a CPU */

COMPARE_BY(account_compare_occupants, struct occupant, thread);

bool account_occupant(const struct timeline *t, int32_t cpu, int64_t from,
		      int64_t to, struct occupant *o)
{
	const struct numbers id = timeline_seats(t, cpu);
	struct occupant *all = NULL;
	struct occupant sum = { 0 };
	size_t n_all = 0;
	size_t cap = 0;

	*o = (struct occupant){ .thread = TIMELINE_NONE };
	for (size_t i = search_where(
		     id.n, k, timeline_stay(t, numbers_get(&id, k)).to > from);
	     i < id.n; i++) {
		const struct timeline_stay s =
			timeline_stay(t, numbers_get(&id, i));
		int64_t a = s.from > from ? s.from : from;
		int64_t b = s.to < to ? s.to : to;

		if (s.from >= to)
			break;
		if (a < b)
			*mem_add(all, n_all, cap) =
				(struct occupant){ s.thread,
						   (uint64_t)(b - a) };
	}
	sort_items(all, n_all, account_compare_occupants);
	for (size_t i = 0; i < n_all; i++) {
		if (!i || all[i].thread != sum.thread)
			sum = (struct occupant){ .thread = all[i].thread };
		sum.ns += all[i].ns;
		if (sum.ns > o->ns)
			*o = sum;
	}
	free(all);
	return n_all > 0;
}
