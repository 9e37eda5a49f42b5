/* wakers.c - who ended a wait, as analyze/causes proves it. */
#include "analyze/waits/wakers.h"

#include "analyze/causes/causes.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

struct wakers {
	const struct stacks *stacks;
	const struct causes *causes;
	struct intern irqs; /* their names */
};

/* A wait, as pieces of a thread. */
struct wait_pieces {
	const struct proofs *p;
	uint32_t thread;
	size_t first, end;
};

struct wakers *wakers_new(const struct causes *c, const struct stacks *s)
{
	struct wakers *w = mem_new(1, sizeof(*w));

	w->causes = c;
	w->stacks = s;
	return w;
}

void wakers_free(struct wakers *w)
{
	if (!w)
		return;
	intern_release(&w->irqs);
	free(w);
}

/* Returns the proof that an edge, the last one of a wait, ended it: where the
 * thread may have been back in between, another one may have. */
static enum proof wakers_prove(const struct wait_pieces *wait, uint32_t edge)
{
	uint8_t best = PROOF_UNKNOWN;
	uint8_t most = PROOF_PROVED;

	for (size_t i = wait->first; i < wait->end; i++) {
		const struct proof_piece pc =
			proofs_piece(wait->p, wait->thread, i);
		bool woken = best != PROOF_UNKNOWN;

		if (pc.edge == edge)
			raise_to(best, pc.link);
		else if (!woken || !piece_is_runnable(&pc))
			most = PROOF_LIKELY;
	}
	return (enum proof)(best < most ? best : most);
}

struct woken wakers_none(void)
{
	return (struct woken){ .asleep = true,
			       .what = CHAIN_STATES,
			       .ready = INT64_MAX };
}

struct woken wakers_find(struct wakers *w, struct proofs *p, uint32_t thread,
			 int64_t from, int64_t to)
{
	struct wait_pieces wait = { .p = p, .thread = thread };
	struct woken x = { .ready = from };
	uint32_t last = TIMELINE_NONE;
	int64_t end = from;
	int64_t most = 0;
	bool ready = true;

	wait.first = proofs_find(p, thread, from);
	if (wait.first == proofs_pieces(p, thread))
		return wakers_none();
	wait.end = proofs_wait_end(p, thread, wait.first);
	for (size_t i = wait.first; i < wait.end; i++) {
		const struct proof_piece pc = proofs_piece(p, thread, i);

		end = pc.to;
		if (i == wait.first &&
		    (pc.from != from || pc.state == PIECE_RUN))
			return wakers_none();
		ready &= piece_is_runnable(&pc);
		if (piece_is_runnable(&pc) && pc.to - pc.from > most) {
			most = pc.to - pc.from;
			x.runnable = pc.state == PIECE_READY  ? WAIT_READY
				     : pc.state == PIECE_HELD ? WAIT_HELD
							      : WAIT_THROTTLED;
		}
		if (pc.edge == TIMELINE_NONE)
			continue;
		x.ready = pc.to;
		last = pc.edge;
	}
	if (end != to || (last == TIMELINE_NONE && !ready))
		return wakers_none();
	if (last != TIMELINE_NONE) {
		const struct proof_edge e = proofs_edge(p, last);

		x.asleep = true;
		x.stack = e.stack;
		x.tid = e.waker;
		x.what = (uint8_t)chain_leaf(&e);
		const char *irq = x.what != CHAIN_STATES
					  ? causes_irq(w->causes, &e)
					  : NULL;
		uint32_t id = irq ? intern_add(&w->irqs, irq) : UINT16_MAX;

		x.irq = id < UINT16_MAX ? (uint16_t)(id + 1) : 0;
		/* who was current may not be known */
		if (e.waker >= 0 || x.what != CHAIN_STATES)
			x.proof = (uint8_t)wakers_prove(&wait, last) & 3;
		x.premise = causes_wake_has_premise(w->causes, &e);
	}
	return x;
}

struct waker wakers_tell(const struct wakers *w, const struct woken *x)
{
	struct waker out = {
		.asleep = x->asleep,
		.proof = (enum proof)x->proof,
		.premise = x->premise,
		.runnable = (enum wait_cause)x->runnable,
		.what = (enum chain_state)x->what,
		.ready = x->ready,
	};

	if (out.proof == PROOF_UNKNOWN)
		return out;
	out.at = w->causes->stack[x->stack];
	if (out.what == CHAIN_STATES) {
		out.tid = x->tid;
		if (!out.at.comm)
			out.at.comm = stacks_comm_of_tid(w->stacks, x->tid);
	} else {
		if (x->irq)
			snprintf(out.irq, sizeof(out.irq), "%s",
				 intern_get(&w->irqs, x->irq - 1U));
		/* the thread that was interrupted has no part in it */
		out.at.comm = out.at.uraw = 0;
		out.at.verdict = out.at.flags = 0;
	}
	return out;
}

const char *waker_name(const struct stacks *s, const struct waker *w)
{
	if (!waker_is_known(w))
		return "";
	if (w->what == CHAIN_STATES)
		return stacks_comm(s, w->at.comm)->name;
	return *w->irq ? w->irq : chain_state_word(w->what);
}
