/* page_waits.c - what a page holds of threads off the CPU, and of what ran. */
#include "cli/page/page_waits.h"

#include "analyze/causes/chain.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/causes.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/waits/waits.h"
#include "analyze/waits/wall.h"
#include "stitch/text/json.h"
#include "cli/page/page_bytes.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A wait that a chain is asked for. */
struct page_chain_ask {
	int64_t tid, from, to;
	uint32_t wait; /* number in the page */
	uint32_t comm; /* comm.id of the thread */
};

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

struct page_segment {
	uint32_t comm;	/* comm.id */
	uint32_t words; /* 1 + number of what chain_held_words() says; or 0 */
};

/* A chain whose edges are numbered from 0. */
struct page_chain {
	struct page_chain_ask ask;
	struct chain chain;
	struct page_edge *edge;
	size_t n_edge;
	struct page_segment *of; /* each of chain.segment[] */
};

struct page_chains {
	const struct stacks *stacks;
	struct page_chain *chain;
	size_t n, cap;
	size_t segments, asked;
	struct intern word_index; /* of word[] */
	struct arena text;
	const char **word; /* names of interrupts, words of segments */
	size_t n_word, cap_word;
	const char *premise; /* what is proved rests on; NULL: nothing */
	struct blob bytes;
};

static void page_chain_release(struct page_chain *c)
{
	chain_release(&c->chain);
	free_all(c->edge, c->of);
}

static uint64_t page_chains_length(const struct page_chain_ask *a)
{
	return (uint64_t)a->to - (uint64_t)a->from;
}

COMPARE_FUNCTION(page_chains_compare, struct page_chain_ask,
		 compare_numbers(x->tid, y->tid)
			 ?: compare_numbers(page_chains_length(y), page_chains_length(x))
			 ?: compare_numbers(x->wait, y->wait));

struct page_rank {
	uint32_t rank; /* among those of its thread */
	uint32_t ask;
	uint64_t ns;
};

COMPARE_FUNCTION(page_chains_compare_ranks, struct page_rank,
		 compare_numbers(x->rank, y->rank)
			 ?: compare_numbers(y->ns, x->ns)
			 ?: compare_numbers(x->ask, y->ask));

/* Returns 1 + the number of a text; NULL: 0. */
static uint32_t page_chains_word(struct page_chains *p, const char *text)
{
	if (!text)
		return 0;
	uint32_t id = intern_add_bytes(&p->word_index, text, strlen(text));
	if (id == p->n_word)
		*mem_add(p->word, p->n_word, p->cap_word) =
			arena_strdup(&p->text, text);
	return id + 1;
}

static void page_chain_make(struct page_chains *p, const struct causes *c,
			    struct proofs *pr, const struct page_chain_ask *a)
{
	const struct timeline *t = c->t;
	struct page_chain out = { .ask = *a };
	const struct chain_ask ask = {
		.thread = a->tid > 0 && a->tid < INT32_MAX
				  ? timeline_thread(t, (int32_t)a->tid)
				  : TIMELINE_NONE,
		.from = a->from,
		.to = a->to,
	};
	uint32_t *id OWNED = NULL; /* of the chain's edges, ascending */

	if (ask.thread == TIMELINE_NONE)
		return;
	chain_walk(&out.chain, pr, t, &ask);
	if (out.chain.n > SEGMENTS_EACH) {
		page_chain_release(&out);
		return;
	}
	id = chain_edges(&out.chain, &out.n_edge);
	out.edge = mem_new(out.n_edge + 1, sizeof(*out.edge));
	out.of = mem_new(out.chain.n + 1, sizeof(*out.of));
	/* names the threads on the way to each segment, and numbers its edges
	 * anew, from 0 in the order of their ids */
	for (size_t i = 0; i < out.chain.n; i++) {
		const struct chain_segment *s = &out.chain.segment[i];
		uint32_t comm = out.ask.comm;

		for (uint32_t k = 0; k < s->depth; k++) {
			uint32_t *edge = &out.chain.path[s->path + k];
			const struct proof_edge e = proofs_edge(pr, *edge);
			enum chain_state what = chain_leaf(&e);
			uint32_t waker = comm;

			if (what == CHAIN_STATES)
				waker = c->stack[e.stack].comm
						?: stacks_comm_of_tid(p->stacks,
								      e.waker);
			*edge = (uint32_t)search_where(out.n_edge, n,
						       id[n] >= *edge);
			out.edge[*edge] = (struct page_edge){
				.time = e.time,
				.waiter = comm,
				.waker = waker,
				.what = what,
				.proof = e.proof,
				.irq = page_chains_word(p, causes_irq(c, &e)),
			};
			/* one that is not followed stays with its waiter */
			if (k + 1 < s->depth || e.waiter != s->thread)
				comm = waker;
		}
		char *words OWNED =
			s->state == CHAIN_READY ||
					s->state == CHAIN_THROTTLED ||
					s->state == CHAIN_HELD
				? chain_held_words(pr, t, s)
				: NULL;

		out.of[i] = (struct page_segment){ comm,
						   page_chains_word(p, words) };
	}
	p->segments += out.chain.n;
	*mem_add(p->chain, p->n, p->cap) = out;
}

/* Makes the chains of waits of one capture: the longest of each thread first,
 * until there are as many as a page can hold. The asks change their order. */
static void page_chains_add(struct page_chains *p, const struct causes *c,
			    struct page_chain_ask *ask, size_t n)
{
	struct page_rank *r OWNED = mem_new(n + 1, sizeof(*r));

	sort_items(ask, n, page_chains_compare);
	for (size_t i = 0; i < n; i++)
		r[i] = (struct page_rank){
			.rank = i && ask[i].tid == ask[i - 1].tid
					? r[i - 1].rank + 1
					: 0,
			.ask = (uint32_t)i,
			.ns = page_chains_length(&ask[i]),
		};
	sort_items(r, n, page_chains_compare_ranks);
	struct proofs *pr = proofs_new(c->t);
	struct causes_premise premise = causes_premise(c);

	/* of silent tasks the words are gone with what was read */
	if (premise.words || premise.none)
		p->premise = arena_strdup(
			&p->text, premise.words ? premise.words : premise.none);
	p->asked += n;
	for (size_t i = 0;
	     i < n && p->n < CHAINS_MAX && p->segments < SEGMENTS_MAX; i++)
		page_chain_make(p, c, pr, &ask[r[i].ask]);
	proofs_free(pr);
}

struct page_wait {
	int64_t from, to, ready; /* ready: INT64_MAX: not known */
	uint32_t group, waker;	 /* of the stacks */
	/* each 0, or 1 + the place of its word: what it waited for, and what
	 * woke it, if that was no thread */
	uint32_t cause, word;
	uint8_t proof; /* of the waker; 0: not known, or none was needed */
};

struct page_run {
	int64_t from, to;
	uint32_t comm;
	int32_t cpu;
};

struct page_waits {
	struct stacks *stacks;
	struct wait_causes *causes;
	struct intern words; /* "timer", "futex" */
	uint32_t n_words;
	int event;
	uint32_t wakes; /* event of the groups of wakers, which weigh nothing */
	struct page_wait *wait;
	size_t n, cap;
	struct page_run *run;
	size_t n_run, cap_run;
	struct offcpu_sums sums;
	struct blob waits, runs;
	struct page_chains chains;
	struct page_chain_ask *ask; /* of the capture that is read */
	size_t n_ask, cap_ask;
};

static uint32_t page_waits_word(struct page_waits *p, const char *word)
{
	uint32_t id = *word ? 1 + intern_add(&p->words, word) : 0;

	p->n_words = id > p->n_words ? id : p->n_words;
	return id;
}

static void page_waits_take(struct page_waits *p, const struct offcpu_wait *w)
{
	/* a sum has no place in time */
	if (w->end != OFFCPU_BACK || w->sum)
		return;
	if (p->event < 0) {
		p->event = (int)stacks_add_event(p->stacks, "off-CPU", "ns");
		p->wakes = stacks_add_event(p->stacks, "wake-ups", "ns");
	}

	const struct stacks_group g = wall_group(w, (uint32_t)p->event);
	enum wait_cause cause = offcpu_cause(p->causes, w);
	struct page_wait one = {
		.cause = cause == WAIT_READY
				 ? 0 /* the state says it */
				 : page_waits_word(p, wait_cause_word(cause)),
		.from = w->from,
		.to = w->to,
		.group = stacks_add(p->stacks, &g),
		.ready = w->waker.ready,
	};

	if (waker_is_known(&w->waker)) {
		/* the stack of the waker is a group, too */
		struct stacks_group waker = offcpu_group(&w->waker.at);

		waker.event = p->wakes;
		if (w->waker.what != CHAIN_STATES)
			one.word = page_waits_word(
				p, waker_name(p->stacks, &w->waker));
		one.waker = stacks_add(p->stacks, &waker);
		one.proof = (uint8_t)w->waker.proof;
	}
	if (w->waker.asleep && offcpu_state(w->state)[0] != 'R')
		*mem_add(p->ask, p->n_ask, p->cap_ask) =
			(struct page_chain_ask){
				.tid = w->tid,
				.from = w->from,
				.to = w->to,
				.wait = (uint32_t)p->n,
				.comm = w->at.comm,
			};
	*mem_add(p->wait, p->n, p->cap) = one;
}

static void page_waits_take_run(struct page_waits *p,
				const struct offcpu_run *r)
{
	/* the idle task is what is left; a row of the page is a CPU */
	if (!r->tid || r->cpu < 0)
		return;
	struct page_run one = { r->from, r->to, r->comm, r->cpu };

	/* a thread that never left a CPU is named by its own events */
	if (!one.comm)
		one.comm = stacks_comm_of_tid(p->stacks, r->tid);
	*mem_add(p->run, p->n_run, p->cap_run) = one;
}

struct page_waits *page_waits_load(struct store *db, const char *path,
				   const struct filter *filter,
				   struct stacks *s, struct err *err)
{
	struct page_waits *p = mem_new(1, sizeof(*p));
	struct waits_ask ask = {
		.filter = filter, .runs = true, .any = true, .stacks = s
	};
	struct waits_item item;
	int rc;

	p->stacks = s;
	p->causes = wait_causes_new(s);
	p->chains.stacks = s;
	p->event = -1;
	ask.causes = p->causes;
	struct waits *w = waits_open(db, path, &ask, err);
	while ((rc = waits_next(w, &item, err)) > 0) {
		if (item.kind == WAITS_WAIT) {
			page_waits_take(p, &item.wait);
		} else if (item.kind == WAITS_RUN) {
			page_waits_take_run(p, &item.run);
		} else {
			page_chains_add(&p->chains, waits_causes(w), p->ask,
					p->n_ask);
			p->n_ask = 0;
		}
	}
	waits_close(w, &p->sums);
	if (!rc)
		return p;
	page_waits_free(p);
	return NULL;
}

void page_waits_free(struct page_waits *w)
{
	if (!w)
		return;
	wait_causes_free(w->causes);
	for (size_t i = 0; i < w->chains.n; i++)
		page_chain_release(&w->chains.chain[i]);
	free_all(w->chains.chain, w->chains.word);
	intern_release(&w->chains.word_index);
	arena_release(&w->chains.text);
	blob_release(&w->chains.bytes);
	free(w->ask);
	intern_release(&w->words);
	free_all(w->wait, w->run, w->waits.at, w->runs.at, w);
}

const struct offcpu_sums *page_waits_sums(const struct page_waits *w)
{
	return &w->sums;
}

int page_waits_event(const struct page_waits *w)
{
	return w->event;
}

void page_waits_meta(const struct page_waits *w, struct json *j)
{
	json_object(j, "waits");
	json_int(j, "event", w->event);
	json_uint(j, "n", w->n);
	json_uint(j, "runs", w->n_run);
	json_uint(j, "uncertain", w->sums.waits[OFFCPU_UNCERTAIN]);
	json_uint(j, "open", w->sums.waits[OFFCPU_OPEN]);
	json_uint(j, "wakes", w->sums.wakes);
	json_array(j, "words");
	for (uint32_t i = 0; i < w->n_words; i++)
		json_text(j, NULL, intern_get(&w->words, i));
	json_end(j);
	json_end(j);
	/* Write how many there are, how many waits have none, words of states,
	 * names of interrupts with words of segments, and the premise. */
	json_object(j, "chains");
	json_uint(j, "n", w->chains.n);
	json_uint(j, "left_out", w->chains.asked - w->chains.n);
	json_array(j, "states");
	for (int i = 0; i < CHAIN_STATES; i++)
		json_text(j, NULL, chain_state_word((enum chain_state)i));
	json_end(j);
	json_array(j, "words");
	for (size_t i = 0; i < w->chains.n_word; i++)
		json_text(j, NULL, w->chains.word[i]);
	json_end(j);
	json_text(j, "premise", w->chains.premise);
	json_end(j);
}

void page_waits_encode(struct page_waits *w, int64_t t0,
		       uint32_t (*thread_of)(void *arg, uint32_t comm),
		       void *arg)
{
	uint64_t last = (uint64_t)t0;

	for (size_t i = 0; i < w->n; i++) {
		const struct page_wait *x = &w->wait[i];
		uint64_t from = (uint64_t)x->from;

		blob_zigzag(&w->waits, from - last);
		blob_leb(&w->waits, (uint64_t)x->to - from);
		blob_leb(&w->waits, x->group);
		blob_leb(&w->waits, x->cause);
		blob_leb(&w->waits, x->ready < INT64_MAX
					    ? 1 + (uint64_t)x->ready - from
					    : 0);
		blob_leb(&w->waits, x->proof);
		if (x->proof) {
			blob_leb(&w->waits, x->waker);
			blob_leb(&w->waits, x->word);
		}
		last = from;
	}
	/* Encode the block; thread_of numbers the threads of the page by
	 * comm.id. */
	struct blob *b = &w->chains.bytes;

	for (size_t i = 0; i < w->chains.n; i++) {
		const struct page_chain *c = &w->chains.chain[i];

		blob_leb(b, c->ask.wait);
		blob_leb(b, c->n_edge);
		blob_leb(b, c->chain.n);
		for (size_t k = 0; k < c->n_edge; k++) {
			const struct page_edge *e = &c->edge[k];

			blob_zigzag(b,
				    (uint64_t)e->time - (uint64_t)c->ask.from);
			blob_leb(b, thread_of(arg, e->waiter));
			blob_leb(b, thread_of(arg, e->waker));
			blob_leb(b, e->what);
			blob_leb(b, e->proof);
			blob_leb(b, e->irq);
		}
		for (size_t k = 0; k < c->chain.n; k++) {
			const struct chain_segment *s = &c->chain.segment[k];

			blob_leb(b, (uint64_t)s->to - (uint64_t)s->from);
			blob_leb(b, thread_of(arg, c->of[k].comm));
			blob_leb(b, s->state);
			blob_leb(b, s->proof);
			blob_leb(b, s->cpu < 0 ? 0 : (uint64_t)s->cpu + 1);
			blob_leb(b, c->of[k].words);
			blob_leb(b, s->depth);
			for (uint32_t d = 0; d < s->depth; d++)
				blob_leb(b, c->chain.path[s->path + d]);
		}
	}
	last = (uint64_t)t0;
	for (size_t i = 0; i < w->n_run; i++) {
		const struct page_run *x = &w->run[i];
		uint64_t from = (uint64_t)x->from;

		blob_zigzag(&w->runs, from - last);
		blob_leb(&w->runs, (uint64_t)x->to - from);
		blob_leb(&w->runs, (uint64_t)x->cpu);
		blob_leb(&w->runs, thread_of(arg, x->comm));
		last = from;
	}
}

void page_waits_write(const struct page_waits *w, FILE *out)
{
	page_bytes_write(&w->waits, "waits", out);
	page_bytes_write(&w->runs, "runs", out);
	page_bytes_write(&w->chains.bytes, "chains", out);
}
