/* proof_piece.c - the pieces of a thread, and who ended them. */
#include "cli/causes/proof_inner.h"

#include <assert.h>

#include "stitch/base/mem.h"

/* That a thread was in a state until a time is proved by the absence of records
 * of another one; that it was born, or died, by a record. */
static enum proof piece_proof(const struct gap *g, enum piece_state state,
			      enum proof proof)
{
	bool told = state == PIECE_UNBORN || state == PIECE_DEAD;

	return g->p->blind && !told && proof == PROOF_PROVED ? PROOF_LIKELY
							     : proof;
}

struct piece *piece_add(struct gap *g, int64_t from, int64_t to,
			enum piece_state state, enum proof proof)
{
	struct pieces *out = g->out;
	struct piece *pc = mem_add(out->piece, out->n, out->cap);

	assert(from == out->end);
	out->end = to;
	*pc = (struct piece){
		.from = from,
		.stay = TIMELINE_NONE,
		.edge = TIMELINE_NONE,
		.state = state,
		.proof = piece_proof(g, state, proof),
		.link = PROOF_UNKNOWN,
	};
	if (state == PIECE_READY && g->b && g->exact_to)
		pc->cpu = (uint32_t)g->b->cpu + 1;
	/* A stay without length has no piece, but it ends a wait: the last
	 * switch that is known of a CPU may be to the thread. */
	if (g->a &&
	    (g->exact_from || (g->a->exact_from && g->a->from == g->a->to)))
		pc->stay = timeline_stay_number(g->p->t, g->a);
	return pc;
}

/* Adds a piece, unless it is empty. */
void piece_add_time(struct gap *g, int64_t from, int64_t to,
		    enum piece_state state, enum proof proof)
{
	struct pieces *out = g->out;
	struct piece *last = out->n ? &out->piece[out->n - 1] : NULL;

	if (from >= to)
		return;
	if (last && state == PIECE_UNKNOWN && last->state == PIECE_UNKNOWN &&
	    last->edge == TIMELINE_NONE && last->from >= g->from) {
		out->end = to;
		return;
	}
	piece_add(g, from, to, state, proof);
}

void piece_add_blocked(struct gap *g, int64_t from, int64_t to,
		       enum proof proof, uint32_t edge, enum proof link)
{
	struct piece *pc;

	if (from >= to)
		return;
	pc = piece_add(g, from, to, PIECE_BLOCKED, proof);
	pc->edge = edge;
	pc->link = link;
}

struct proof_piece proofs_piece(const struct proofs *p, uint32_t thread,
				size_t i)
{
	const struct pieces *of = &p->of[thread];
	const struct piece *pc = &of->piece[i];
	struct proof_piece out = {
		.from = pc->from,
		.to = piece_to(of, i),
		.edge = pc->edge,
		.cpu = (int32_t)pc->cpu - 1,
		.bits = -1,
		.state = (uint8_t)pc->state,
		.proof = (uint8_t)pc->proof,
		.link = (uint8_t)pc->link,
		.open = pc->proof != PROOF_PROVED ||
			(pc->state == PIECE_BLOCKED &&
			 pc->link != PROOF_PROVED),
	};

	if (pc->stay != TIMELINE_NONE) {
		const struct timeline_stay *s = timeline_stay(p->t, pc->stay);

		out.out = timeline_stay_out(s);
		out.bits = (int16_t)s->state;
		out.came = !s->exact_to;
	}
	return out;
}

size_t proofs_wait_end(const struct proofs *p, uint32_t thread, size_t first)
{
	const struct pieces *of = &p->of[thread];
	const struct piece *pc = of->piece;
	size_t i = first + 1;

	while (i < of->n && pc[i].state != PIECE_RUN &&
	       (pc[i].stay == pc[first].stay || pc[i].stay == TIMELINE_NONE))
		i++;
	return i;
}

/* ---- edges */

/* Returns what a wake-up proves about who woke. sched_wakeup may be written on
 * the CPU of the woken thread, by an interrupt or by the idle thread; in
 * another thread it is the waker's. The idle thread has no system calls, in
 * which a softirq could run. */
enum proof edge_proof(const struct timeline_wake *w)
{
	bool open = w->context == CONTEXT_UNKNOWN ||
		    (w->context == CONTEXT_SOFTIRQ_UNKNOWN && w->waker != 0);

	if (w->waker < 0 || open)
		return PROOF_LIKELY;
	if (w->kind == TIMELINE_WAKEUP &&
	    (w->waker == 0 || w->context != CONTEXT_TASK))
		return PROOF_UNKNOWN;
	return PROOF_PROVED;
}

uint32_t edge_add(struct gap *g, const struct timeline_wake *w)
{
	struct proofs *p = g->p;

	*mem_add(p->edge, p->n_edge, p->cap_edge) = (struct edge){
		.from = w->time,
		.wake = timeline_wake_number(p->t, w),
		.loss = TIMELINE_NONE,
	};
	return (uint32_t)p->n_edge - 1;
}

uint32_t edge_deduce(struct gap *g, const struct timeline_loss *l)
{
	struct proofs *p = g->p;

	*mem_add(p->edge, p->n_edge, p->cap_edge) = (struct edge){
		.from = l->from,
		.wake = g->thread,
		.loss = timeline_loss_number(p->t, l),
	};
	return (uint32_t)p->n_edge - 1;
}

static struct proof_edge edge_deduced(const struct proofs *p,
				      const struct edge *e)
{
	const struct timeline_loss *l = timeline_loss(p->t, e->loss);

	return (struct proof_edge){
		.time = l->from,
		.from = l->from,
		.to = l->to,
		.waiter = e->wake,
		.waker = l->before,
		.cpu = l->cpu,
		.kind = EDGE_DEDUCED,
		.context = CONTEXT_UNKNOWN,
		.proof = PROOF_LIKELY, /* or an interrupt during it */
	};
}

struct proof_edge proofs_edge(const struct proofs *p, uint32_t i)
{
	const struct edge *e = &p->edge[i];
	const struct timeline_wake *w;

	if (e->loss != TIMELINE_NONE)
		return edge_deduced(p, e);
	w = timeline_wake(p->t, e->wake);
	return (struct proof_edge){
		.time = w->time,
		.from = e->from,
		.to = w->time,
		.event = timeline_wake_event(w),
		.stack = w->stack,
		.waiter = w->waiter,
		.waker = w->waker,
		.cpu = w->cpu,
		.kind = w->kind == TIMELINE_NEW ? EDGE_FORK : EDGE_WAKE,
		.context = w->context,
		.proof = w->kind == TIMELINE_NEW ? PROOF_PROVED : edge_proof(w),
	};
}
