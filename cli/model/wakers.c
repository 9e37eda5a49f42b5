/* wakers.c - who ended each wait of a capture, as cli/causes proves it. */
#include "cli/model/wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/causes.h"
#include "cli/model/stacks.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A wait of which something is known. */
struct woken {
	int64_t from, to, ready;
	uint32_t stack; /* for causes_waker() */
	int32_t waker;	/* tid */
	uint8_t what;	/* enum chain_state */
	uint8_t proof;	/* enum proof */
	bool asleep;
	uint16_t irq; /* 1 + index in wakers.irq; 0: it has no name */
};

struct wakers {
	const struct stacks *stacks;
	struct causes *causes;
	struct woken *woken; /* by thread, then by time */
	size_t n, cap;
	struct intern irq_index;
	char (*irq)[WAKER_IRQ];
	size_t n_irq, cap_irq;
	size_t *first; /* by thread: woken[first[i] .. first[i + 1] - 1] */
};

/* A wait, as pieces of a thread. */
struct wait_pieces {
	const struct proofs *p;
	uint32_t thread;
	size_t first, end;
};

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
			best = pc.link > best ? pc.link : best;
		else if (!woken || pc.state != PIECE_READY)
			most = PROOF_CONSISTENT;
	}
	return (enum proof)(best < most ? best : most);
}

/* Returns 1 + the number of the name of what woke, if it was an interrupt whose
 * name is known. */
static uint16_t wakers_irq(struct wakers *w, const struct proof_edge *e)
{
	const char *what = causes_what(w->causes, e);
	uint32_t id;

	if (!what || !strcmp(what, chain_state_word(chain_leaf(e))))
		return 0;
	id = intern_add_bytes(&w->irq_index, what, strlen(what));
	if (id >= UINT16_MAX)
		return 0;
	if (id == w->n_irq) {
		char *name = *mem_add(w->irq, w->n_irq, w->cap_irq);

		snprintf(name, WAKER_IRQ, "%s", what);
	}
	return (uint16_t)(id + 1);
}

/* Notes who ended a wait, if something is known of it. What is open at one end
 * is no wait. */
static void wakers_add(struct wakers *w, const struct wait_pieces *wait)
{
	struct woken x = { .from = TIMELINE_START };
	uint32_t last = TIMELINE_NONE;
	bool ready = true;

	for (size_t i = wait->first; i < wait->end; i++) {
		const struct proof_piece pc =
			proofs_piece(wait->p, wait->thread, i);

		if (i == wait->first)
			x.from = x.ready = pc.from;
		x.to = pc.to;
		ready &= pc.state == PIECE_READY;
		if (pc.edge == TIMELINE_NONE)
			continue;
		x.ready = pc.to;
		last = pc.edge;
	}
	if (x.from == TIMELINE_START || x.to == TIMELINE_END ||
	    (last == TIMELINE_NONE && !ready))
		return;
	if (last != TIMELINE_NONE) {
		const struct proof_edge e = proofs_edge(wait->p, last);

		x.asleep = true;
		x.stack = e.stack;
		x.waker = e.waker;
		x.what = (uint8_t)chain_leaf(&e);
		if (x.what != CHAIN_STATES)
			x.irq = wakers_irq(w, &e);
		/* who was current may not be known */
		if (e.waker >= 0 || x.what != CHAIN_STATES)
			x.proof = (uint8_t)wakers_prove(wait, last);
	}
	*mem_add(w->woken, w->n, w->cap) = x;
}

struct wakers *wakers_load(struct store *db, const char *path,
			   const struct capture_events *of,
			   const struct stacks *s, struct wait_causes *words,
			   struct err *err)
{
	struct wakers *w = mem_new(1, sizeof(*w));
	const struct timeline *t;
	struct proofs *p;

	w->stacks = s;
	w->causes = causes_load(db, path, of, words, err);
	if (!w->causes) {
		wakers_free(w);
		return NULL;
	}
	t = causes_timeline(w->causes);
	w->first = mem_new(timeline_threads(t) + 1u, sizeof(*w->first));
	p = proofs_new(t);
	for (uint32_t i = 0; i < timeline_threads(t); i++) {
		struct wait_pieces wait = { .p = p, .thread = i };
		size_t n = proofs_pieces(p, i);

		for (; wait.first < n; wait.first = wait.end) {
			wait.end = proofs_wait_end(p, i, wait.first);
			if (proofs_piece(p, i, wait.first).state != PIECE_RUN)
				wakers_add(w, &wait);
		}
		w->first[i + 1] = w->n;
		proofs_forget(p);
	}
	proofs_free(p);
	return w;
}

void wakers_free(struct wakers *w)
{
	if (!w)
		return;
	causes_free(w->causes);
	free(w->woken);
	free(w->first);
	free(w->irq);
	intern_release(&w->irq_index);
	free(w);
}

const struct causes *wakers_causes(const struct wakers *w)
{
	return w->causes;
}

bool wakers_recorded(const struct wakers *w)
{
	return timeline_types(causes_timeline(w->causes)) &
	       (TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP);
}

static struct waker wakers_tell(const struct wakers *w, const struct woken *x)
{
	struct waker out = {
		.asleep = x->asleep,
		.proof = (enum proof)x->proof,
		.what = (enum chain_state)x->what,
		.ready = x->ready,
		.at = *causes_waker(w->causes, x->stack),
	};

	if (out.proof == PROOF_UNKNOWN) {
		out.at = (struct offcpu_stack){ 0 };
	} else if (out.what == CHAIN_STATES) {
		out.tid = x->waker;
		if (!out.at.comm)
			out.at.comm = stacks_comm_of_tid(w->stacks, x->waker);
	} else {
		if (x->irq)
			memcpy(out.irq, w->irq[x->irq - 1], WAKER_IRQ);
		/* the thread that was interrupted has no part in it */
		out.at.comm = out.at.uraw = 0;
		out.at.verdict = out.at.flags = 0;
	}
	return out;
}

struct waker wakers_find(const struct wakers *w, int64_t tid, int64_t from,
			 int64_t to)
{
	const struct waker none = { .asleep = true,
				    .what = CHAIN_STATES,
				    .ready = INT64_MAX };
	uint32_t thread = w && tid > 0 && tid < INT32_MAX
				  ? timeline_thread(causes_timeline(w->causes),
						    (int32_t)tid)
				  : TIMELINE_NONE;
	size_t first;
	size_t end;
	size_t at;

	if (thread == TIMELINE_NONE)
		return none;
	first = w->first[thread];
	end = w->first[thread + 1];
	at = first +
	     search_where(end - first, i, w->woken[first + i].from >= from);
	if (at == end || w->woken[at].from != from || w->woken[at].to != to)
		return none;
	return wakers_tell(w, &w->woken[at]);
}

const char *waker_name(const struct stacks *s, const struct waker *w)
{
	if (!w->asleep || w->proof == PROOF_UNKNOWN)
		return "";
	if (w->what == CHAIN_STATES)
		return stacks_comm(s, w->at.comm)->name;
	return *w->irq ? w->irq : chain_state_word(w->what);
}
