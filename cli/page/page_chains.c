/* page_chains.c - what a page holds of the causes of its waits. */
#include "cli/page/page_chains.h"

#include <stdlib.h>
#include <string.h>

#include "cli/causes/chain.h"
#include "cli/waits/causes.h"
#include "cli/stacks/stacks.h"
#include "cli/output/json.h"
#include "cli/page/page_bytes.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define CHAINS_MAX 1000
#define SEGMENTS_MAX 100000 /* of all chains */
#define SEGMENTS_EACH 2000  /* a chain of more is left out */

struct page_edge {
	int64_t time;
	uint32_t waiter, waker; /* comm.id */
	enum chain_state what;
	enum proof proof;
	uint32_t irq; /* 1 + number of the interrupt's name; 0: it has none */
};

/* A chain whose edges are numbered from 0; each segment has its comm.id. */
struct page_chain {
	struct page_chain_ask ask;
	struct chain chain;
	struct page_edge *edge;
	size_t n_edge;
	uint32_t *comm;
};

struct page_chains {
	const struct stacks *stacks;
	struct page_chain *chain;
	size_t n, cap;
	size_t segments, asked;
	struct intern irq_index; /* of irq[] */
	struct arena text;
	const char **irq;
	size_t n_irq, cap_irq;
	const char *premise; /* what is proved rests on; NULL: nothing */
	struct page_bytes bytes;
};

struct page_chains *page_chains_new(const struct stacks *s)
{
	struct page_chains *p = mem_new(1, sizeof(*p));

	p->stacks = s;
	return p;
}

static void page_chain_release(struct page_chain *c)
{
	chain_release(&c->chain);
	free(c->edge);
	free(c->comm);
}

void page_chains_free(struct page_chains *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		page_chain_release(&p->chain[i]);
	free(p->chain);
	free(p->irq);
	intern_release(&p->irq_index);
	arena_release(&p->text);
	free(p->bytes.byte);
	free(p);
}

/* ---- which */

static uint64_t page_chains_length(const struct page_chain_ask *a)
{
	return (uint64_t)a->to - (uint64_t)a->from;
}

static int page_chains_compare(const void *pa, const void *pb)
{
	const struct page_chain_ask *a = pa;
	const struct page_chain_ask *b = pb;

	return compare_numbers(a->tid, b->tid)
		       ?: compare_numbers(page_chains_length(b),
					  page_chains_length(a))
		       ?: compare_numbers(a->wait, b->wait);
}

struct page_rank {
	uint32_t rank; /* among those of its thread */
	uint32_t ask;
	uint64_t ns;
};

static int page_chains_compare_ranks(const void *pa, const void *pb)
{
	const struct page_rank *a = pa;
	const struct page_rank *b = pb;

	return compare_numbers(a->rank, b->rank)
		       ?: compare_numbers(b->ns, a->ns)
		       ?: compare_numbers(a->ask, b->ask);
}

/* Returns the asks in the order in which they are answered. */
static struct page_rank *page_chains_rank(struct page_chain_ask *ask, size_t n)
{
	struct page_rank *r = mem_new(n + 1, sizeof(*r));

	if (n)
		qsort(ask, n, sizeof(*ask), page_chains_compare);
	for (size_t i = 0; i < n; i++)
		r[i] = (struct page_rank){
			.rank = i && ask[i].tid == ask[i - 1].tid
					? r[i - 1].rank + 1
					: 0,
			.ask = (uint32_t)i,
			.ns = page_chains_length(&ask[i]),
		};
	if (n)
		qsort(r, n, sizeof(*r), page_chains_compare_ranks);
	return r;
}

/* ---- one chain */

static uint32_t page_chain_comm(const struct page_chains *p,
				const struct causes *c,
				const struct proof_edge *e)
{
	uint32_t comm = causes_stack_at(c, e->stack)->comm;

	return comm ? comm : stacks_comm_of_tid(p->stacks, e->waker);
}

/* Returns 1 + the number of the name that an interrupt has besides its kind. */
static uint32_t page_chains_irq(struct page_chains *p, const struct causes *c,
				const struct proof_edge *e)
{
	enum chain_state leaf = chain_leaf(e);
	const char *what = causes_what(c, e);
	uint32_t id;

	if (leaf == CHAIN_STATES || !what ||
	    !strcmp(what, chain_state_word(leaf)))
		return 0;
	id = intern_add_bytes(&p->irq_index, what, strlen(what));
	if (id == p->n_irq)
		*mem_add(p->irq, p->n_irq, p->cap_irq) =
			arena_strdup(&p->text, what);
	return id + 1;
}

static void page_chain_make(struct page_chains *p, const struct causes *c,
			    struct proofs *pr, const struct page_chain_ask *a)
{
	const struct timeline *t = causes_timeline(c);
	struct page_chain out = { .ask = *a };
	const struct chain_ask ask = {
		.thread = a->tid > 0 && a->tid < INT32_MAX
				  ? timeline_thread(t, (int32_t)a->tid)
				  : TIMELINE_NONE,
		.from = a->from,
		.to = a->to,
	};
	uint32_t *id; /* of the chain's edges, ascending */

	if (ask.thread == TIMELINE_NONE)
		return;
	chain_walk(&out.chain, pr, t, &ask);
	if (out.chain.n > SEGMENTS_EACH) {
		page_chain_release(&out);
		return;
	}
	id = chain_edges(&out.chain, &out.n_edge);
	out.edge = mem_new(out.n_edge + 1, sizeof(*out.edge));
	out.comm = mem_new(out.chain.n + 1, sizeof(*out.comm));
	/* names the threads on the way to each segment, and numbers its edges
	 * anew, from 0 in the order of their ids */
	for (size_t i = 0; i < out.chain.n; i++) {
		const struct chain_segment *s = &out.chain.segment[i];
		uint32_t comm = out.ask.comm;

		for (uint32_t k = 0; k < s->depth; k++) {
			uint32_t *edge = &out.chain.path[s->path + k];
			const struct proof_edge e = proofs_edge(pr, *edge);
			enum chain_state what = chain_leaf(&e);
			uint32_t waker = what == CHAIN_STATES
						 ? page_chain_comm(p, c, &e)
						 : comm;

			*edge = (uint32_t)search_where(out.n_edge, n,
						       id[n] >= *edge);
			out.edge[*edge] = (struct page_edge){
				.time = e.time,
				.waiter = comm,
				.waker = waker,
				.what = what,
				.proof = e.proof,
				.irq = page_chains_irq(p, c, &e),
			};
			/* one that is not followed stays with its waiter */
			if (k + 1 < s->depth || e.waiter != s->thread)
				comm = waker;
		}
		out.comm[i] = comm;
	}
	free(id);
	p->segments += out.chain.n;
	*mem_add(p->chain, p->n, p->cap) = out;
}

void page_chains_add(struct page_chains *p, const struct causes *c,
		     struct page_chain_ask *ask, size_t n)
{
	struct page_rank *r = page_chains_rank(ask, n);
	struct proofs *pr = proofs_new(causes_timeline(c));
	struct causes_premise premise = causes_premise(c);

	if (premise.words || premise.none)
		p->premise = premise.words ? premise.words : premise.none;
	p->asked += n;
	for (size_t i = 0;
	     i < n && p->n < CHAINS_MAX && p->segments < SEGMENTS_MAX; i++)
		page_chain_make(p, c, pr, &ask[r[i].ask]);
	proofs_free(pr);
	free(r);
}

/* ---- the page */

void page_chains_meta(const struct page_chains *p, struct json *j)
{
	json_object(j, "chains");
	json_uint(j, "n", p->n);
	json_uint(j, "left_out", p->asked - p->n);
	json_array(j, "states");
	for (int i = 0; i < CHAIN_STATES; i++)
		json_text(j, NULL, chain_state_word((enum chain_state)i));
	json_end(j);
	json_array(j, "irqs");
	for (size_t i = 0; i < p->n_irq; i++)
		json_text(j, NULL, p->irq[i]);
	json_end(j);
	json_text(j, "premise", p->premise);
	json_end(j);
}

void page_chains_encode(struct page_chains *p,
			uint32_t (*thread_of)(void *arg, uint32_t comm),
			void *arg)
{
	struct page_bytes *b = &p->bytes;

	for (size_t i = 0; i < p->n; i++) {
		const struct page_chain *c = &p->chain[i];

		page_bytes_add(b, c->ask.wait);
		page_bytes_add(b, c->n_edge);
		page_bytes_add(b, c->chain.n);
		for (size_t k = 0; k < c->n_edge; k++) {
			const struct page_edge *e = &c->edge[k];

			page_bytes_signed(b, (uint64_t)e->time -
						     (uint64_t)c->ask.from);
			page_bytes_add(b, thread_of(arg, e->waiter));
			page_bytes_add(b, thread_of(arg, e->waker));
			page_bytes_add(b, e->what);
			page_bytes_add(b, e->proof);
			page_bytes_add(b, e->irq);
		}
		for (size_t k = 0; k < c->chain.n; k++) {
			const struct chain_segment *s = &c->chain.segment[k];

			page_bytes_add(b, (uint64_t)s->to - (uint64_t)s->from);
			page_bytes_add(b, thread_of(arg, c->comm[k]));
			page_bytes_add(b, s->state);
			page_bytes_add(b, s->proof);
			page_bytes_add(b,
				       s->cpu < 0 ? 0 : (uint64_t)s->cpu + 1);
			page_bytes_add(b, s->depth);
			for (uint32_t d = 0; d < s->depth; d++)
				page_bytes_add(b, c->chain.path[s->path + d]);
		}
	}
}

void page_chains_write(const struct page_chains *p, FILE *out)
{
	page_bytes_write(&p->bytes, "chains", out);
}
