/* idle.c - which waits may be those of a server without work. */
#include "analyze/causes/idle.h"

#include "analyze/causes/chain.h"
#include "stitch/base/search.h"

#define DEPTH_MOST 8	 /* threads from the waiter on */
#define PIECES_MOST 4096 /* pieces of one thread, for one wait */
#define WAKES_MOST 256	 /* wake-ups of one thread, after a time */
#define LOOK_BACK 16	 /* earlier waits of a thread */
#define STATE_D 0x2
#define STATE_S 0x1
#define STATE_I 0x80 /* a kernel thread without work */

static bool idle_spend(struct idle *s)
{
	return s->budget && s->budget--;
}

static bool is_blocked(const struct proof_piece *pc)
{
	return pc->state == PIECE_BLOCKED && pc->edge != TIMELINE_NONE &&
	       pc->link != PROOF_UNKNOWN;
}

/* Returns the thread that ended a wait; TIMELINE_NONE: none did, or only by a
 * signal. */
static uint32_t idle_waker(const struct idle *s, const struct proof_piece *pc)
{
	const struct proof_edge e = proofs_edge(s->p, pc->edge);

	return chain_leaf(&e) == CHAIN_STATES && e.context != CONTEXT_SIGNAL
		       ? timeline_thread(s->t, e.waker)
		       : TIMELINE_NONE;
}

/* Returns whether a thread's wait at a time, or its next one, is ended by the
 * thread `other`. */
static bool idle_waits_for(struct idle *s, uint32_t thread, int64_t at,
			   uint32_t other)
{
	size_t i = proofs_find(s->p, thread, at);
	size_t n = proofs_pieces(s->p, thread);

	for (; i < n && idle_spend(s); i++) {
		const struct proof_piece pc = proofs_piece(s->p, thread, i);

		if (pc.state == PIECE_RUN || piece_is_runnable(&pc) ||
		    pc.to <= at)
			continue;
		return is_blocked(&pc) && idle_waker(s, &pc) == other;
	}
	return false;
}

static bool is_wake_by(const struct idle *s, uint32_t wake, uint32_t thread)
{
	const struct timeline_wake w = timeline_wake(s->t, wake);

	return w.waker == timeline_tid(s->t, thread) &&
	       (w.context == CONTEXT_TASK || w.context == CONTEXT_INLINE);
}

/* Returns the index of the first wake-up after a time; wake->n: none. */
static size_t idle_first_wake(const struct idle *s, const struct numbers *wake,
			      int64_t time)
{
	return search_where(wake->n, k,
			    timeline_wake(s->t, numbers_get(wake, k)).time >
				    time);
}

/* Returns the time of the first wake-up of a thread by the thread `by` after a
 * time; TIMELINE_END: none of the next WAKES_MOST is by it. */
static int64_t idle_woken(struct idle *s, uint32_t thread, int64_t time,
			  uint32_t by)
{
	const struct numbers wake = lists_get(&s->t->wakes, thread);
	size_t first = idle_first_wake(s, &wake, time);

	for (size_t i = first;
	     i < wake.n && i - first < WAKES_MOST && idle_spend(s); i++)
		if (is_wake_by(s, numbers_get(&wake, i), by))
			return timeline_wake(s->t, numbers_get(&wake, i)).time;
	return TIMELINE_END;
}

/* Returns whether another thread asked this one before its wait, from piece
 * `first` to the time `to`, and gets its answer only after the wait. The waker
 * of this wait asked again, so it has its answer. */
static bool is_needed(struct idle *s, uint32_t thread, size_t first, int64_t to,
		      uint32_t waker)
{
	size_t waits = 0;

	for (size_t i = first; i-- > 0 && waits < LOOK_BACK && idle_spend(s);) {
		const struct proof_piece pc = proofs_piece(s->p, thread, i);
		uint32_t by;
		int64_t answer;

		if (pc.edge == TIMELINE_NONE || pc.link == PROOF_UNKNOWN)
			continue;
		waits++;
		by = idle_waker(s, &pc);
		if (by == TIMELINE_NONE || by == waker)
			continue;
		answer = idle_woken(s, by, pc.to, thread);
		if (answer > to && answer != TIMELINE_END)
			return true;
	}
	return false;
}

/* Returns whether `other` is the last thread that this thread woke before its
 * wait, which begins with piece `first`, and since a thread last ended one of
 * its waits. */
static bool is_paired(struct idle *s, uint32_t thread, size_t first,
		      uint32_t other)
{
	size_t waits = 0;
	int64_t since = TIMELINE_START;

	for (size_t i = first; i-- > 0 && waits < LOOK_BACK && idle_spend(s);) {
		const struct proof_piece pc = proofs_piece(s->p, thread, i);

		if (pc.edge == TIMELINE_NONE)
			continue;
		since = pc.to;
		if (idle_waker(s, &pc) != TIMELINE_NONE)
			break;
		waits++;
	}
	int64_t from = proofs_piece(s->p, thread, first).from;
	const struct numbers wake = lists_get(&s->t->wakes, other);
	size_t at = idle_first_wake(s, &wake, from);
	size_t last = at < WAKES_MOST ? 0 : at - WAKES_MOST;
	uint32_t by;

	while (at > last && !is_wake_by(s, numbers_get(&wake, at - 1), thread))
		at--;
	if (at == last)
		return false;
	by = numbers_get(&wake, at - 1);
	if (timeline_wake(s->t, by).time < since)
		return false;
	/* records of two CPUs need not be in time order: later ones may be from
	 * before the wait */
	for (uint32_t i = timeline_next_wake(s->t, by);
	     i != TIMELINE_NONE && timeline_wake(s->t, i).time < from &&
	     idle_spend(s);
	     i = timeline_next_wake(s->t, i))
		if (is_wake_by(s, i, thread) &&
		    timeline_wake(s->t, i).waiter != other)
			return false;
	return true;
}

static bool idle_piece(struct idle *s, uint32_t thread, size_t i,
		       uint32_t depth);

/* Returns whether the thread was in idle waits for most of a time. blocked:
 * other waits count too, unless an interrupt ended them in state D, and so does
 * unknown time and that before its birth. */
static bool idle_slept(struct idle *s, uint32_t thread, int64_t from,
		       int64_t to, bool blocked, uint32_t depth)
{
	size_t n = proofs_pieces(s->p, thread);
	size_t first = proofs_find(s->p, thread, from);
	int64_t slept = 0;

	for (size_t i = first; i < n && i - first < PIECES_MOST; i++) {
		const struct proof_piece pc = proofs_piece(s->p, thread, i);
		int64_t begin = pc.from > from ? pc.from : from;
		int64_t end = pc.to < to ? pc.to : to;

		if (begin >= to || !idle_spend(s))
			break;
		if (blocked &&
		    (pc.state == PIECE_UNKNOWN || pc.state == PIECE_UNBORN))
			slept += end - begin;
		if (!is_blocked(&pc))
			continue;
		if (blocked ? idle_waker(s, &pc) != TIMELINE_NONE ||
				      !(pc.bits & STATE_D)
			    : idle_piece(s, thread, i, depth))
			slept += end - begin;
	}
	return slept > (to - from) / 2;
}

/* Returns whether a blocked piece whose end has an edge is idle (see
 * idle.h). */
static bool idle_piece(struct idle *s, uint32_t thread, size_t i,
		       uint32_t depth)
{
	const struct proof_piece pc = proofs_piece(s->p, thread, i);
	uint32_t waker;

	if (pc.bits != STATE_S)
		return false;
	const struct proof_edge e = proofs_edge(s->p, pc.edge);

	if (e.waker && (e.context == CONTEXT_SOFTIRQ_UNKNOWN ||
			e.context == CONTEXT_UNKNOWN))
		return false;
	waker = idle_waker(s, &pc);
	if (waker == TIMELINE_NONE)
		return true;
	if (waker == thread || depth >= DEPTH_MOST)
		return false;
	if (is_paired(s, thread, i, waker))
		return idle_slept(s, waker, pc.from, pc.to, false, depth + 1);
	if (is_needed(s, thread, i, pc.to, waker))
		return false;
	return idle_slept(s, waker, pc.from, pc.to, true, depth + 1) ||
	       idle_waits_for(s, waker, pc.to, thread);
}

bool idle_wait(struct idle *s, uint32_t thread, size_t first)
{
	/* the pieces may have been freed since the wait was found */
	proofs_pieces(s->p, thread);

	size_t end = proofs_wait_end(s->p, thread, first);
	size_t longest = first;
	struct proof_piece most = proofs_piece(s->p, thread, first);
	int64_t all = most.to - most.from;

	if (most.bits == STATE_I)
		return true;
	for (size_t i = first + 1; i < end; i++) {
		const struct proof_piece pc = proofs_piece(s->p, thread, i);

		all += pc.to - pc.from;
		if (pc.to - pc.from > most.to - most.from) {
			most = pc;
			longest = i;
		}
	}
	/* the piece that is most of a wait decides */
	return is_blocked(&most) && most.to - most.from > all / 2 &&
	       idle_piece(s, thread, longest, 0);
}
