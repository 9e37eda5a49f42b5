/* proof_piece.c - the pieces of a thread, and who ended them. */
#include "analyze/causes/proof_inner.h"

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
		pc->stay = g->a->number;
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

/* In place of TIMELINE_NONE the last other number is kept, with a bit, so that
 * the numbers of neighbours are near each other. */
#define NO_STAY 1
#define NO_EDGE 2

void pieces_keep(struct pieces *of)
{
	for (size_t i = 0; i < of->n; i++) {
		const struct piece *pc = &of->piece[i];
		unsigned int none = 0;

		if (pc->stay == TIMELINE_NONE)
			none |= NO_STAY;
		else
			of->stay = pc->stay;
		if (pc->edge == TIMELINE_NONE)
			none |= NO_EDGE;
		else
			of->edge = pc->edge;
		packed_times_put(&of->kept, of->kept.n,
				 &(struct packed_time){
					 .time = pc->from,
					 .event = of->stay,
					 .a = of->edge,
					 .b = pc->cpu << 9 | pc->state << 6 |
					      pc->proof << 4 | pc->link << 2 |
					      none });
	}
	of->n = 0;
}

/* Returns piece i of those kept. */
static struct piece pieces_get(const struct pieces *of, size_t i)
{
	const struct packed_time x = packed_times_get(&of->kept, i);

	return (struct piece){
		.from = x.time,
		.stay = x.b & NO_STAY ? TIMELINE_NONE : (uint32_t)x.event,
		.edge = x.b & NO_EDGE ? TIMELINE_NONE : (uint32_t)x.a,
		.cpu = x.b >> 9 & 0x1ffff,
		.state = x.b >> 6 & 7,
		.proof = x.b >> 4 & 3,
		.link = x.b >> 2 & 3,
	};
}

struct proof_piece proofs_piece(const struct proofs *p, uint32_t thread,
				size_t i)
{
	const struct pieces *of = &p->of[thread];
	const struct piece pc = pieces_get(of, i);
	struct proof_piece out = {
		.from = pc.from,
		.to = i + 1 < of->kept.n
			      ? packed_times_get(&of->kept, i + 1).time
			      : of->end,
		.edge = pc.edge,
		.cpu = (int32_t)pc.cpu - 1,
		.bits = -1,
		.state = (uint8_t)pc.state,
		.proof = (uint8_t)pc.proof,
		.link = (uint8_t)pc.link,
		.open = pc.proof != PROOF_PROVED ||
			(pc.state == PIECE_BLOCKED && pc.link != PROOF_PROVED),
	};

	if (pc.stay != TIMELINE_NONE) {
		const struct timeline_stay s = timeline_stay(p->t, pc.stay);

		out.out = timeline_stay_out(&s);
		out.bits = (int16_t)s.state;
		out.came = !s.exact_to;
	}
	return out;
}

size_t proofs_wait_end(const struct proofs *p, uint32_t thread, size_t first)
{
	const struct pieces *of = &p->of[thread];
	const uint32_t stay = pieces_get(of, first).stay;
	size_t i = first + 1;

	for (; i < of->kept.n; i++) {
		const struct piece pc = pieces_get(of, i);

		if (pc.state == PIECE_RUN ||
		    (pc.stay != stay && pc.stay != TIMELINE_NONE))
			break;
	}
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

static uint32_t edge_put(struct proofs *p, uint32_t wake, bool is_odd,
			 const struct edge_odd *odd)
{
	if (is_odd)
		*mem_add(p->odd, p->n_odd, p->cap_odd) = *odd;
	packed_times_put(&p->edge, p->edge.n,
			 &(struct packed_time){ .time = wake,
						.a = is_odd ? p->n_odd : 0 });
	return (uint32_t)p->edge.n - 1;
}

uint32_t edge_add(struct gap *g, const struct timeline_wake *w, int64_t from)
{
	return edge_put(g->p, w->number, from != w->time,
			&(struct edge_odd){ from, TIMELINE_NONE });
}

uint32_t edge_deduce(struct gap *g, const struct timeline_loss *l)
{
	return edge_put(
		g->p, g->thread, true,
		&(struct edge_odd){ l->from, (uint32_t)(l - g->p->t->loss) });
}

static struct proof_edge edge_deduced(const struct proofs *p, uint32_t waiter,
				      const struct edge_odd *odd)
{
	const struct timeline_loss *l = &p->t->loss[odd->loss];

	return (struct proof_edge){
		.time = l->from,
		.from = l->from,
		.to = l->to,
		.waiter = waiter,
		.waker = l->before,
		.cpu = l->cpu,
		.kind = EDGE_DEDUCED,
		.context = CONTEXT_UNKNOWN,
		.proof = PROOF_LIKELY, /* or an interrupt during it */
	};
}

struct proof_edge proofs_edge(const struct proofs *p, uint32_t i)
{
	const struct packed_time e = packed_times_get(&p->edge, i);
	const struct edge_odd *odd = e.a ? &p->odd[e.a - 1] : NULL;

	if (odd && odd->loss != TIMELINE_NONE)
		return edge_deduced(p, (uint32_t)e.time, odd);

	const struct timeline_wake w = timeline_wake(p->t, (uint32_t)e.time);

	return (struct proof_edge){
		.time = w.time,
		.from = odd ? odd->from : w.time,
		.to = w.time,
		.event = w.event,
		.stack = w.stack,
		.waiter = w.waiter,
		.waker = w.waker,
		.cpu = w.cpu,
		.kind = w.kind == TIMELINE_NEW ? EDGE_FORK : EDGE_WAKE,
		.context = w.context,
		.proof = w.kind == TIMELINE_NEW ? PROOF_PROVED : edge_proof(&w),
	};
}
