/* proof_piece.c - the pieces of a thread, and who ended them. */
#include "cli/causes/proof_inner.h"

#include "stitch/base/mem.h"

struct proof_piece *piece_add(struct gap *g, int64_t from, int64_t to,
			      enum piece_state state, enum proof proof)
{
	struct proof_piece *pc = mem_add(g->out->piece, g->out->n, g->out->cap);

	*pc = (struct proof_piece){
		.from = from,
		.to = to,
		.edge = TIMELINE_NONE,
		.cpu = -1,
		.bits = -1,
		.state = (uint8_t)state,
		.proof = (uint8_t)proof,
		.link = PROOF_UNKNOWN,
		.loss = (uint32_t)g->p->n_loss,
	};
	if (state == PIECE_READY && g->b && g->exact_to)
		pc->cpu = g->b->cpu;
	if (g->exact_from && g->a) {
		pc->out = g->a->out;
		pc->bits = (int16_t)g->bits;
	}
	return pc;
}

/* Names the losses of the gap that touch the last piece added. */
static void piece_blame_losses(struct gap *g, struct proof_piece *pc)
{
	struct proofs *p = g->p;

	pc->loss = (uint32_t)p->n_loss;
	for (size_t i = g->n_loss; i-- > 0;) {
		const struct timeline_loss *l = timeline_loss(p->t, g->loss[i]);

		if (l->from < pc->to && l->to > pc->from)
			*mem_add(p->loss, p->n_loss, p->cap_loss) =
				(uint32_t)g->loss[i];
	}
	pc->n_loss = (uint32_t)p->n_loss - pc->loss;
}

/* Adds a piece, unless it is empty. */
void piece_add_time(struct gap *g, int64_t from, int64_t to,
		    enum piece_state state, enum proof proof)
{
	struct proof_piece *pc;

	if (from >= to)
		return;
	pc = piece_add(g, from, to, state, proof);
	if (state == PIECE_UNKNOWN || proof != PROOF_PROVED)
		piece_blame_losses(g, pc);
}

void piece_add_blocked(struct gap *g, int64_t from, int64_t to,
		       enum proof proof, uint32_t edge, enum proof link)
{
	struct proof_piece *pc;

	if (from >= to)
		return;
	pc = piece_add(g, from, to, PIECE_BLOCKED, proof);
	pc->edge = edge;
	pc->link = (uint8_t)link;
	if (proof != PROOF_PROVED || link != PROOF_PROVED)
		piece_blame_losses(g, pc);
}

size_t proof_wait_end(const struct proof_piece *pc, size_t n, size_t first)
{
	size_t i = first + 1;

	while (i < n && pc[i].state != PIECE_RUN &&
	       (pc[i].out == pc[first].out || !pc[i].out))
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
		return PROOF_CONSISTENT;
	if (w->kind == TIMELINE_WAKEUP &&
	    (w->waker == 0 || w->context != CONTEXT_TASK))
		return PROOF_UNKNOWN;
	return PROOF_PROVED;
}

uint32_t edge_add(struct gap *g, const struct timeline_wake *w)
{
	struct proofs *p = g->p;

	*mem_add(p->edge, p->n_edge, p->cap_edge) = (struct proof_edge){
		.time = w->time,
		.from = w->time,
		.to = w->time,
		.event = w->id,
		.stack = w->stack,
		.waiter = g->thread,
		.waker = w->waker,
		.cpu = w->cpu,
		.kind = w->kind == TIMELINE_NEW ? EDGE_FORK : EDGE_WAKE,
		.context = (enum timeline_context)w->context,
		.proof = w->kind == TIMELINE_NEW ? PROOF_PROVED : edge_proof(w),
	};
	return (uint32_t)p->n_edge - 1;
}

uint32_t edge_deduce(struct gap *g, const struct timeline_loss *l)
{
	struct proofs *p = g->p;

	*mem_add(p->edge, p->n_edge, p->cap_edge) = (struct proof_edge){
		.time = l->from,
		.from = l->from,
		.to = l->to,
		.waiter = g->thread,
		.waker = l->before,
		.cpu = l->cpu,
		.kind = EDGE_DEDUCED,
		.context = CONTEXT_UNKNOWN,
		.proof = PROOF_CONSISTENT, /* or an interrupt during it */
	};
	return (uint32_t)p->n_edge - 1;
}
