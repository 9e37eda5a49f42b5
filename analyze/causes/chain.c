/* chain.c - why a thread took from one time to another. */
#include "analyze/causes/chain.h"

#include <inttypes.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/words.h"
#include "stitch/text/human.h"

struct chain_visit {
	struct chain *c;
	struct proofs *p;
	const struct timeline *t;
	uint32_t depth_max;
	uint32_t path[CHAIN_MOST];
	uint32_t depth;
};

WORDS_FUNCTION(
	chain_state_word,
	enum chain_state, [CHAIN_RUN] = "run", [CHAIN_READY] = "ready",
	[CHAIN_THROTTLED] = "throttled", [CHAIN_HELD] = "not run",
	[CHAIN_BLOCKED] = "blocked", [CHAIN_TIMER] = "timer",
	[CHAIN_HARDIRQ] = "hardirq", [CHAIN_SOFTIRQ] = "softirq",
	[CHAIN_DISK] = "disk", [CHAIN_IDLE] = "idle", [CHAIN_SIGNAL] = "signal",
	[CHAIN_OFF] = "off", [CHAIN_UNBORN] = "unborn", [CHAIN_DEAD] = "dead",
	[CHAIN_UNKNOWN] = "unknown");

int32_t chain_on_cpu(const struct timeline *t, const struct chain_segment *s)
{
	struct timeline_stay at;

	if (!timeline_on(t, s->cpu, s->from, &at) || at.to <= s->from)
		return -1;
	return at.thread == TIMELINE_NONE ? 0 : timeline_tid(t, at.thread);
}

struct limits_answer chain_held(struct proofs *p, const struct chain_segment *s)
{
	const struct proof_piece pc =
		proofs_piece(p, s->thread, proofs_find(p, s->thread, s->from));

	return piece_is_runnable(&pc) ? proofs_held(p, s->thread, &pc)
				      : (struct limits_answer){ .idle = -1 };
}

static unsigned int segment_ready_if(struct proofs *p, const struct timeline *t,
				     const struct chain_segment *s)
{
	/* on an idle CPU, the thread may have been ready no longer than a
	 * wake-up takes */
	if (s->state != CHAIN_READY || !chain_on_cpu(t, s))
		return 0;

	const struct limits_answer held = chain_held(p, s);

	return limits_premises(&held);
}

unsigned int chain_ready_if(const struct chain *c, struct proofs *p,
			    const struct timeline *t)
{
	unsigned int all = 0;

	for (size_t i = 0; i < c->n; i++)
		all |= segment_ready_if(p, t, &c->segment[i]);
	return all;
}

char *chain_held_words(struct proofs *p, const struct timeline *t,
		       const struct chain_segment *s)
{
	const struct limits_answer held = chain_held(p, s);

	if (s->state == CHAIN_READY)
		return mem_printf("is ready%s%s%s",
				  limits_words(segment_ready_if(p, t, s)),
				  held.pinned ? ", may only run on CPU " : "",
				  held.pinned ? held.cpus : "");
	if (s->state == CHAIN_THROTTLED)
		return mem_printf("is throttled by its cgroup %s: %" PRId64
				  " of %" PRId64 " periods",
				  held.cgroup ?: "", held.throttled,
				  held.periods);
	if (held.cgroup)
		return mem_printf("is %s its cgroup %s",
				  held.frozen ? "not run: frozen with"
					      : "throttled by",
				  held.cgroup);
	return mem_printf("is not run, cause not recorded%s%s%s%s%s",
			  held.real_time ? "; real-time throttling may hold it"
					 : "",
			  held.known ? ""
				     : "; 'backstitch record --waits' reads "
				       "quotas",
			  held.stolen > 0 ? "; the host took " : "",
			  held.stolen > 0 ? HUMAN_NS(held.stolen) : "",
			  held.stolen > 0 ? " of all CPUs" : "");
}

void chain_release(struct chain *c)
{
	free_all(c->segment, c->path);
	*c = (struct chain){ 0 };
}

void chain_clear(struct chain *c)
{
	c->n = c->n_path = 0;
}

uint32_t *chain_edges(const struct chain *c, size_t *n)
{
	uint32_t *id = mem_new(c->n_path + 1, sizeof(*id));

	*n = 0;
	if (!c->n_path)
		return id;
	memcpy(id, c->path, c->n_path * sizeof(*id));
	sort_items(id, c->n_path, compare_u32);
	for (size_t i = 0; i < c->n_path; i++)
		if (!i || id[i] != id[*n - 1])
			id[(*n)++] = id[i];
	return id;
}

static enum proof least(enum proof a, enum proof b)
{
	return a < b ? a : b;
}

static void chain_add(struct chain_visit *v, const struct proof_piece *pc,
		      const struct chain_segment *s)
{
	struct chain *c = v->c;
	struct chain_segment *out = mem_add(c->segment, c->n, c->cap);

	*out = *s;
	out->out = pc->out;
	out->cpu = pc->cpu;
	out->open = pc->open;
	out->depth = v->depth;
	out->path = (uint32_t)c->n_path;
	for (uint32_t i = 0; i < v->depth; i++)
		*mem_add(c->path, c->n_path, c->cap_path) = v->path[i];
}

enum chain_state chain_leaf(const struct proof_edge *e)
{
	switch (e->context) {
	case CONTEXT_TIMER:
		return CHAIN_TIMER;
	case CONTEXT_DISK:
		return CHAIN_DISK;
	case CONTEXT_HARDIRQ:
	case CONTEXT_NMI:
		return CHAIN_HARDIRQ;
	case CONTEXT_SOFTIRQ:
	case CONTEXT_SOFTIRQ_UNKNOWN: /* half of these hit an uninvolved
				       * thread */
		return CHAIN_SOFTIRQ;
	default:
		return e->waker ? CHAIN_STATES : CHAIN_IDLE;
	}
}

enum chain_state chain_own(const struct proof_piece *pc)
{
	static const enum chain_state own[PIECE_STATES] = {
		[PIECE_RUN] = CHAIN_RUN,
		[PIECE_READY] = CHAIN_READY,
		[PIECE_THROTTLED] = CHAIN_THROTTLED,
		[PIECE_HELD] = CHAIN_HELD,
		[PIECE_BLOCKED] = CHAIN_BLOCKED,
		[PIECE_OFF] = CHAIN_OFF,
		[PIECE_UNBORN] = CHAIN_UNBORN,
		[PIECE_DEAD] = CHAIN_DEAD,
		[PIECE_UNKNOWN] = CHAIN_UNKNOWN,
	};

	return own[pc->state];
}

static void chain_visit(struct chain_visit *v, uint32_t thread, int64_t from,
			int64_t to, enum proof proof);

/* Adds the segments of a wait whose end has an edge: those of the waker, or the
 * interrupt that ended it. */
static void chain_follow(struct chain_visit *v, const struct proof_piece *pc,
			 struct chain_segment s)
{
	const struct proof_edge e = proofs_edge(v->p, pc->edge);
	enum chain_state leaf = chain_leaf(&e);
	uint32_t waker = timeline_thread(v->t, e.waker);
	enum proof proof = least(s.proof, (enum proof)pc->link);

	v->path[v->depth++] = pc->edge;
	s.proof = proof;
	if (leaf != CHAIN_STATES || e.context == CONTEXT_SIGNAL) {
		s.state = leaf != CHAIN_STATES ? leaf : CHAIN_SIGNAL;
		chain_add(v, pc, &s);
	} else if (waker == TIMELINE_NONE || v->depth >= v->depth_max ||
		   waker == s.thread) {
		s.state = CHAIN_BLOCKED;
		s.proof = PROOF_UNKNOWN;
		chain_add(v, pc, &s);
	} else {
		chain_visit(v, waker, s.from, s.to, proof);
	}
	v->depth--;
}

/* Adds a thread's segments between two times. proof: their upper limit. */
static void chain_visit(struct chain_visit *v, uint32_t thread, int64_t from,
			int64_t to, enum proof proof)
{
	size_t n = proofs_pieces(v->p, thread);

	for (size_t i = proofs_find(v->p, thread, from); i < n; i++) {
		const struct proof_piece pc = proofs_piece(v->p, thread, i);
		struct chain_segment s = {
			.from = pc.from < from ? from : pc.from,
			.to = pc.to > to ? to : pc.to,
			.thread = thread,
			.state = chain_own(&pc),
			.proof = least(proof, (enum proof)pc.proof),
		};

		if (pc.from >= to)
			break;
		if (pc.edge != TIMELINE_NONE) {
			chain_follow(v, &pc, s);
			continue;
		}
		/* the thread was off the CPU, but the reason is not known */
		if (s.state == CHAIN_BLOCKED || s.state == CHAIN_OFF)
			s.proof = PROOF_UNKNOWN;
		chain_add(v, &pc, &s);
	}
}

void chain_walk(struct chain *c, struct proofs *p, const struct timeline *t,
		const struct chain_ask *ask)
{
	struct chain_visit v = {
		.c = c,
		.p = p,
		.t = t,
		.depth_max = ask->depth && ask->depth < CHAIN_MOST ? ask->depth
								   : CHAIN_MOST,
	};

	if (ask->from < ask->to)
		chain_visit(&v, ask->thread, ask->from, ask->to, PROOF_PROVED);
}
