/* page_data.c - the data that the scripts of an HTML page work on. */
#include "cli/page/page_data.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/chain.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/label_facts.h"
#include "analyze/stacks/word_meanings.h"
#include "stitch/text/json.h"
#include "cli/page/page_bytes.h"
#include "cli/pictures/svg.h"
#include "analyze/stacks/stacks.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/waits.h"
#include "analyze/waits/wall.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/verdict.h"

/* Waits of threads and runs on CPUs, from the switches of the scheduler: call
 * page_waits_load(), page_waits_encode(), then page_waits_meta(). Blocks of the
 * page, as described in page_data.h; times are ns since the page's t0:
 *
 * - waits: zigzag of begin's difference to the wait before, ns, group, what it
 *   waited for, 0 or 1 + ns from begin until it was ready, and the proof of its
 *   waker (0: unknown, or none; 1: likely; 2: proved), which unless it is 0
 *   is followed by the group of the waker's stack, and what it was. What for
 *   and what it was are 0 (not known; a thread), or 1 + the number of a word of
 *   meta
 * - runs: zigzag of begin's difference to the run before, ns, cpu, thread
 *
 * Both are ordered by end, so those of one thread or CPU by begin as well.
 *
 * - chains, as in analyze/causes/chain.h: for each the number of its wait, how
 *   many edges and how many segments; for each edge: zigzag of its time since
 *   the wait's begin, the waiter's thread, the waker's thread, the state that
 *   it is called by if it is no thread (CHAIN_STATES: it is), proof, 1 + the
 *   number of the interrupt's name in meta (0: it has none); for each segment,
 *   without holes: ns, thread, state, proof, CPU + 1 (0: none), 1 + the number
 *   of its words in meta (0: none), how many edges lead to it, and the numbers
 *   of these */

/* A wait whose chain is wanted. */
struct page_chain_ask {
	int64_t tid, from, to;
	uint32_t wait; /* its number in the page */
	uint32_t comm; /* comm.id of the thread */
};

#define CHAINS_MAX 1000
#define SEGMENTS_MAX 100000 /* of all chains */
#define SEGMENTS_EACH 2000  /* longer chains are left out */

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
	struct page_segment *of; /* by index of chain.segment[] */
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
	const char *premise; /* of the proofs; NULL: there is none */
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

/* Adds the chain of a wait, unless it is too long or the thread is unknown. */
static void page_chain_make(struct page_chains *p, const struct causes *c,
			    struct proofs *pr, const struct page_chain_ask *a)
{
	const struct timeline *t = c->t;
	struct page_chain out = { .ask = *a };
	const struct chain_ask ask = {
		.thread = timeline_thread(t, causes_id(a->tid)),
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
	/* Name the threads on the way to each segment, and renumber its edges
	 * from 0, in the order of their ids. */
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
			/* an edge that is not followed stays with its waiter */
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

/* Adds the chains of the waits of one capture: the longest of each thread
 * first, until the page is full. Reorders ask[]. */
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

	/* copied: words about silent tasks are freed with the causes */
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
	uint32_t group, waker;	 /* groups of stacks */
	/* 1 + the index of the word for what it waited for, and for what woke
	 * it, if this was no thread; 0: there is none */
	uint32_t cause, word;
	uint8_t proof; /* of the waker; 0: not known, or none needed */
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
	struct page_chain_ask *ask; /* waits of the current capture */
	size_t n_ask, cap_ask;
};

static uint32_t page_waits_word(struct page_waits *p, const char *word)
{
	uint32_t id = *word ? 1 + intern_add(&p->words, word) : 0;

	p->n_words = id > p->n_words ? id : p->n_words;
	return id;
}

/* Adds a wait that ended as a group, and its waker, if known, as another. */
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
				 ? 0 /* the state shows it */
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
	/* without a run a CPU is idle; a row of the page is a CPU */
	if (!r->tid || r->cpu < 0)
		return;
	struct page_run one = { r->from, r->to, r->comm, r->cpu };

	/* a thread that never left a CPU is named by its own events */
	if (!one.comm)
		one.comm = stacks_comm_of_tid(p->stacks, r->tid);
	*mem_add(p->run, p->n_run, p->cap_run) = one;
}

static void page_waits_free(struct page_waits *w)
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

/* Adds the waits that the filter selects to the stacks, as groups of an event
 * of their own. Returns what page_waits_free() frees, empty if the database has
 * no switches, or NULL and *err. */
static struct page_waits *page_waits_load(struct store *db, const char *path,
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

/* Writes how many waits and runs there are, the numbers of those that are
 * not in the page, whether wake-ups were recorded, and the words of wakers. */
static void page_waits_meta(const struct page_waits *w, struct json *j)
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
	/* Write the numbers of chains and of waits without one, words of
	 * states, names of interrupts with words of segments, the premise. */
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

/* Encodes the blocks; thread_of numbers the threads of the page by comm.id. */
static void page_waits_encode(struct page_waits *w, int64_t t0,
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

#define BINS_MAX 1000000u

/* Samples or intervals, each as its differences to those before. */
struct page_items {
	struct blob bytes;
	uint64_t n, last_bin;
	uint64_t *last_weight; /* by event */
	size_t n_event, cap_event;
};

/* Times of what the page's tables count. */
struct page_times {
	struct labels *keys; /* a label's name is the text; NULL: no times */
	struct blob bytes;
	uint64_t n, last;
};

struct page_data {
	struct loss_marks tl;
	bool timed, by_samples, inlined_rows, wall;
	bool plain;   /* 'flame' needs no option to draw the same */
	bool served;  /* the sums of a server, without times */
	uint64_t bin; /* ns */
	struct stacks *stacks;
	int event, clock; /* event: to show first; clock: for wall-clock time */
	char **trust;	  /* by event; the last one is of the wall clock */
	size_t n_trust;
	struct page_waits *waits;
	struct page_times times;
	struct page_items samples, intervals;
	struct wall_intervals sums; /* of intervals */
	struct intern names;	    /* names of intervals */
	size_t n_names;
	/* counts of events: those of samples; these and those of waits */
	size_t sampled, waited;
	struct label_facts *facts;
	struct labels *strings; /* a label's name is the string */
	struct flame_tree *tree;
	struct blob nodes, groups;
	uint32_t *thread; /* by comm.id: index in comm[] + 1; 0: not used */
	uint32_t *comm;	  /* the comm.id of each thread of the page */
	size_t n_thread, cap_thread;
	uint32_t *leaf;	    /* by group: its node in tree */
	uint32_t *inferred; /* by group: node of its inferred frame; 0: none */
	uint32_t *place;    /* by label: index in label[] + 1; 0: not used */
	uint32_t *label;    /* the labels in the page */
	size_t n_label, cap_label;
};

/* Returns the smallest bin, 1, 2 or 5 times a power of ten ns, of which less
 * than BINS_MAX cover the span. */
static uint64_t page_data_choose_bin(uint64_t span)
{
	uint64_t bin = 1;

	while (span / bin >= BINS_MAX) {
		if (span / bin / 2 < BINS_MAX)
			return bin * 2;
		if (span / bin / 5 < BINS_MAX)
			return bin * 5;
		bin *= 10;
	}
	return bin;
}

static uint64_t page_data_bin(const struct page_data *d, int64_t time)
{
	if (time <= d->tl.t0)
		return 0;
	if (time > d->tl.t1)
		time = d->tl.t1;
	return ((uint64_t)time - (uint64_t)d->tl.t0) / d->bin;
}

/* Returns 1 + the bin of a time; 0 if the time is not known. */
static uint64_t page_times_bin(const struct page_data *d, const struct rows *r,
			       size_t column)
{
	return rows_value(r, column).kind == VALUE_NULL
		       ? 0
		       : 1 + page_data_bin(d, rows_int(r, column));
}

static void page_items_add(struct page_items *p, const struct stacks_sample *s,
			   uint64_t bin)
{
	mem_reach(p->last_weight, p->n_event, p->cap_event,
		  (size_t)s->event + 1);
	blob_zigzag(&p->bytes, bin - p->last_bin);
	blob_leb(&p->bytes, s->group);
	blob_leb(&p->bytes, s->cpu < 0 ? 0 : (uint64_t)s->cpu + 1);
	blob_zigzag(&p->bytes, s->weight - p->last_weight[s->event]);
	p->last_weight[s->event] = s->weight;
	p->last_bin = bin;
	p->n++;
}

static void page_data_take_sample(void *arg, const struct stacks_sample *s)
{
	struct page_data *d = arg;
	uint64_t bin = s->timed && d->timed ? 1 + page_data_bin(d, s->time) : 0;

	page_items_add(&d->samples, s, bin);
}

/* Adds an interval, its name and its verdict; a wall_interval_fn. */
static void page_data_take_interval(void *arg, const struct wall_interval *w,
				    const struct event_row *e, uint32_t group,
				    const char *name)
{
	struct page_data *d = arg;
	uint32_t id = intern_add(&d->names, name);
	const struct stacks_sample s = {
		.group = group,
		.event = d->stacks->group[group].event,
		.cpu = e->on_cpu ? (int32_t)e->cpu : -1,
		.weight = (uint64_t)w->ns,
	};

	d->n_names = id < d->n_names ? d->n_names : id + 1u;
	page_items_add(&d->intervals, &s, 1 + page_data_bin(d, e->time));
	blob_leb(&d->intervals.bytes, (uint64_t)id * 16 + w->verdict);
}

#define PAGE_SUMS_MAX 4000000

/* Adds samples from the sums of a server: they have no time, and those of a
 * group share its weight. Fails if they are too many for a browser. */
static int page_data_take_sums(struct page_data *d, struct err *err)
{
	uint64_t all = 0;

	for (size_t i = 0; i < d->stacks->n_event; i++)
		all = saturating_add(all, d->stacks->event[i].samples);
	if (all > PAGE_SUMS_MAX)
		return err_set(err, ERR_LIMIT,
			       "a page of %llu samples is too large for a "
			       "browser, which takes %d; choose fewer runs "
			       "with --where, or draw with 'backstitch flame'",
			       (unsigned long long)all, PAGE_SUMS_MAX);
	for (size_t i = 0; i < d->stacks->n_group; i++) {
		const struct stacks_group *g = &d->stacks->group[i];
		struct stacks_sample one = { .group = (uint32_t)i,
					     .event = g->event,
					     .cpu = g->cpu };
		uint64_t more = g->weight % g->samples;

		for (uint64_t k = 0; k < g->samples; k++) {
			one.weight = g->weight / g->samples + (k < more);
			page_data_take_sample(d, &one);
		}
	}
	return 0;
}

static uint32_t page_data_thread(void *arg, uint32_t comm)
{
	struct page_data *d = arg;

	comm = comm < d->stacks->n_comm ? comm : 0;
	if (!d->thread[comm]) {
		*mem_add(d->comm, d->n_thread, d->cap_thread) = comm;
		d->thread[comm] = (uint32_t)d->n_thread;
	}
	return d->thread[comm] - 1;
}

/* Returns the node of the inferred frame of a stack; 0: it has none. */
static uint32_t page_data_inferred(const struct page_data *d,
				   const struct label_list *l)
{
	const struct stack_names *names = d->stacks->names;

	for (size_t i = 0; i < l->n; i++)
		if (stack_names_inferred(names, &l->from[i]))
			return flame_tree_find(d->tree, l->label, i + 1);
	return 0;
}

/* Makes the tree, with leaf[] and inferred[]. Returns 0, or -1 and *err. */
static int page_data_build_tree(struct page_data *d, struct err *err)
{
	struct labels *labels = d->stacks->labels;
	size_t n = d->stacks->n_group;
	struct label_list l = { .want_from = true };
	int rc = 0;

	d->tree = flame_tree_new(labels);
	d->leaf = mem_new(n, sizeof(*d->leaf));
	d->inferred = mem_new(n, sizeof(*d->inferred));
	/* no weights: the page adds up those of the samples it shows */
	for (size_t i = 0; !rc && i < n; i++) {
		const struct stacks_group *g = &d->stacks->group[i];

		l.n = 0;
		label_list_add(
			&l,
			labels_add_name(labels, LABEL_GROUP,
					stacks_comm(d->stacks, g->comm)->name));
		stacks_get(d->stacks, g, &l);
		rc = flame_tree_add(d->tree, l.label, l.n, 0, 0, err);
		if (rc)
			break;
		d->leaf[i] = flame_tree_find(d->tree, l.label, l.n);
		d->inferred[i] = page_data_inferred(d, &l);
	}
	free_all(l.label, l.from);
	if (!rc)
		flame_tree_finish(d->tree);
	return rc;
}

static const char *page_data_trust(const struct page_data *d)
{
	size_t n = d->stacks->n_event;

	if (d->wall && d->n_trust > n)
		return d->trust[n];
	return d->event < 0 ? NULL : d->trust[d->event];
}

/* Returns whether 'flame' without options draws the same. */
static bool page_data_is_plain(const struct page_opts *o)
{
	return !filter_narrows(o->filter) && !o->filter->state && !o->samples &&
	       o->inlined;
}

struct page_data *page_data_new(struct store *db, const char *path,
				const struct page_opts *o,
				struct page_shown *shown, struct err *err)
{
	struct page_data *d = mem_new(1, sizeof(*d));
	int served = stacks_served(db, err);
	const struct stacks_opts so = {
		.filter = o->filter,
		.by_cpu = served > 0,
		.inlined = o->inlined,
		.bogus = true,
		.gaps = true,
		.samples = o->samples,
		.names = o->names,
		.each = served ? NULL : page_data_take_sample,
		.arg = d,
	};

	d->by_samples = o->samples;
	d->wall = o->wall;
	d->inlined_rows = o->inlined_rows;
	d->plain = page_data_is_plain(o);
	d->served = served > 0;
	if (served < 0 ||
	    (!served && loss_marks_load(&d->tl, &d->timed, db, err)))
		goto out;
	d->bin = d->timed ? page_data_choose_bin((uint64_t)d->tl.t1 -
						 (uint64_t)d->tl.t0)
			  : 1;
	if (d->timed) {
		struct page_times *t = &d->times;
		struct rows *r = rows_of(db, "page_times", err);

		t->keys = labels_new();
		while (rows_step(r)) {
			uint32_t key =
				labels_add_name(t->keys, LABEL_GROUP,
						rows_text(r, PAGE_TIMES_KEY));
			uint64_t from = page_times_bin(d, r, PAGE_TIMES_T0);
			uint64_t to = page_times_bin(d, r, PAGE_TIMES_T1);
			uint64_t total = (uint64_t)rows_int(r, PAGE_TIMES_N);

			blob_leb(&t->bytes, (uint64_t)key * 4 + (to != from) +
						    (total != 1) * 2);
			blob_zigzag(&t->bytes, from - t->last);
			if (to != from)
				blob_leb(&t->bytes, to);
			if (total != 1)
				blob_leb(&t->bytes, total);
			t->last = from;
			t->n++;
		}
		if (rows_end(r, err))
			goto out;
	}
	if (!(d->stacks = stacks_load(db, &so, err)) ||
	    (d->served && page_data_take_sums(d, err)) ||
	    traced_add_to(db, path, o->filter, d->stacks, err))
		goto out;
	d->event = stacks_heaviest(d->stacks);
	d->clock = o->samples ? -1 : wall_clock(d->stacks);
	d->sampled = d->stacks->n_event;
	intern_add(&d->names, ""); /* for waits */
	labels_shorten(d->stacks->labels, &so.names);
	d->waits = page_waits_load(db, path, o->filter, d->stacks, err);
	d->waited = d->stacks->n_event;
	if (!d->waits ||
	    (d->timed &&
	     wall_load_intervals(db, path, o->filter, NULL, d->stacks, &d->sums,
				 page_data_take_interval, d, err) < 0) ||
	    !(d->facts = label_facts_load(db, d->stacks, err)))
		goto out;
	/* Make the sentence of each event, and that of the wall clock, which is
	 * about two events. */
	int count = (int)d->stacks->n_event;
	int waits = d->waits->event;
	struct trust *t = trust_new(db, d->stacks->code, err);

	if (!t)
		goto out;
	d->trust = mem_new((size_t)count + 1, sizeof(*d->trust));
	for (int m = 0; m <= count; m++) {
		char sentence[TRUST_SENTENCE];
		uint32_t a = (uint32_t)(m < count ? m : d->clock);
		uint32_t b = (uint32_t)(m < count ? m : waits);

		if (m == count && (d->clock < 0 || waits < 0))
			break;
		trust_restart(t);
		for (size_t k = 0; k < d->stacks->n_group; k++) {
			const struct stacks_group *group = &d->stacks->group[k];

			if (group->event == a || group->event == b)
				trust_add(t, group);
		}
		if (m == count)
			trust_of_waits(t);
		trust_say(t, sentence);
		d->trust[m] = mem_strdup(sentence);
		d->n_trust++;
	}
	trust_free(t);
	if (page_data_build_tree(d, err))
		goto out;
	d->strings = labels_new();
	d->thread = mem_new(d->stacks->n_comm, sizeof(*d->thread));
	d->place = mem_new(labels_count(d->stacks->labels), sizeof(*d->place));
	/* Encode nodes and groups. Nodes are numbered in the order in which
	 * they are written. */
	size_t n = d->stacks->n_group;
	uint32_t *number = mem_new(d->tree->n, sizeof(*number));
	uint32_t next = 0;

	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(d->tree, id, 0)) {
		const struct flame_node *nd = &d->tree->node[id];

		number[id] = next++;
		blob_leb(&d->nodes, nd->depth);
		if (!d->place[nd->label]) {
			*mem_add(d->label, d->n_label, d->cap_label) =
				nd->label;
			d->place[nd->label] = (uint32_t)d->n_label;
		}
		blob_leb(&d->nodes, d->place[nd->label] - 1);
	}
	for (size_t i = 0; i < n; i++) {
		const struct stacks_group *g = &d->stacks->group[i];

		blob_leb(&d->groups, g->event);
		blob_leb(&d->groups, page_data_thread(d, g->comm));
		blob_leb(&d->groups, g->verdict);
		blob_leb(&d->groups, number[d->leaf[i]]);
		blob_leb(&d->groups, number[d->inferred[i]]);
	}
	free(number);
	page_waits_encode(d->waits, d->tl.t0, page_data_thread, d);
	*shown = (struct page_shown){
		.stacks = d->stacks,
		.event = d->event,
		.trust = page_data_trust(d),
		.waits = &d->waits->sums,
		.served = d->served,
	};
	return d;
out:
	page_data_free(d);
	return NULL;
}

void page_data_free(struct page_data *d)
{
	if (!d)
		return;
	loss_marks_release(&d->tl);
	flame_tree_free(d->tree);
	page_waits_free(d->waits);
	labels_free(d->times.keys);
	blob_release(&d->times.bytes);
	intern_release(&d->names);
	for (size_t i = 0; i < d->n_trust; i++)
		free(d->trust[i]);
	free(d->trust);
	label_facts_free(d->facts);
	stacks_free(d->stacks);
	labels_free(d->strings);
	free_all(d->samples.bytes.at, d->samples.last_weight,
		 d->intervals.bytes.at, d->intervals.last_weight, d->nodes.at,
		 d->groups.at, d->thread, d->comm, d->leaf, d->inferred,
		 d->place, d->label, d);
}

static void page_data_put_pair(struct json *j, const char *name,
			       const char *text)
{
	json_array(j, NULL);
	json_shown(j, NULL, name);
	json_shown(j, NULL, text ? text : "");
	json_end(j);
}

static uint32_t page_data_string(const struct page_data *d, const char *s)
{
	return labels_add_name(d->strings, LABEL_GROUP, s);
}

/* Writes for each label [name, class, 1 kernel code + 2 inlined, file, offset
 * in it, build-id, source line, bogus places, places, word of the call-site
 * check, short name or "", meaning of a mark or ""]. class: a key of colors,
 * "m" missing, "e" after exec, "b" bogus; file and build-id: indexes in
 * strings; source line: [file, line], or 0. */
static void page_data_put_labels(const struct page_data *d, struct json *j)
{
	json_array(j, "labels");
	for (size_t i = 0; i < d->n_label; i++) {
		uint32_t id = d->label[i];
		const struct label *l = labels_get(d->stacks->labels, id);
		const struct label_fact *fact = label_facts_get(d->facts, id);
		const char *mark =
			l->kind == LABEL_MISSING ? mark_meaning(l->name) : NULL;
		char css_class[3];

		json_array(j, NULL);
		palette_class(l, css_class);
		json_shown(j, NULL, l->name);
		json_text(j, NULL, css_class);
		json_uint(j, NULL, l->kernel | l->inlined << 1);
		json_uint(j, NULL, page_data_string(d, l->image));
		if (l->has_off && l->image[0])
			json_hex(j, NULL, l->off);
		else
			json_uint(j, NULL, 0);
		json_uint(j, NULL, page_data_string(d, fact->build));
		if (fact->file) {
			json_array(j, NULL);
			json_shown(j, NULL, fact->file);
			json_uint(j, NULL, fact->line);
			json_end(j);
		} else {
			json_uint(j, NULL, 0);
		}
		json_uint(j, NULL, fact->bogus);
		json_uint(j, NULL, fact->places);
		json_shown(j, NULL, l->bogus ? l->bogus : "");
		json_shown(j, NULL, l->shown ? l->shown : "");
		json_text(j, NULL, mark ? mark : "");
		json_end(j);
	}
	json_end(j);
	json_array(j, "strings");
	for (uint32_t i = 0; i < labels_count(d->strings); i++)
		json_shown(j, NULL, labels_get(d->strings, i)->name);
	json_end(j);
}

/* Writes capture, cpu, kind, first bin, last bin; the caller adds the rest. */
static void page_data_put_place(const struct page_data *d, struct json *j,
				const struct loss_place *at, int64_t t0,
				int64_t t1)
{
	json_int(j, NULL, at->capture);
	json_int(j, NULL, at->cpu);
	json_int(j, NULL, at->kind);
	json_uint(j, NULL, page_data_bin(d, t0));
	json_uint(j, NULL, page_data_bin(d, t1));
}

/* Writes for each kind [name, what it is]. */
static void page_data_put_words(struct json *j, const char *name,
				const struct loss_words *word, size_t n)
{
	json_array(j, name);
	for (size_t i = 0; i < n; i++)
		page_data_put_pair(j, word[i].name, word[i].says);
	json_end(j);
}

/* Writes the block "meta". */
static void page_data_put_meta(const struct page_data *d, FILE *out)
{
	struct json j;

	fputs("<script type=\"application/json\" id=\"meta\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_uint(&j, "version", 2);
	uint64_t span = (uint64_t)d->tl.t1 - (uint64_t)d->tl.t0;
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, d->tl.t0);
	json_text(&j, "t0", text);
	snprintf(text, sizeof(text), "%" PRIu64, d->bin);
	json_text(&j, "bin", text);
	json_uint(&j, "bins", d->timed ? span / d->bin + 1 : 0);
	json_array(&j, "sizes");
	json_uint(&j, NULL, d->tree->n);
	json_uint(&j, NULL, d->stacks->n_group);
	json_uint(&j, NULL, d->samples.n);
	json_end(&j);
	/* [name, unit, samples, samples with a stack] */
	json_int(&j, "event", d->event);
	json_int(&j, "clock", d->clock);
	json_bool(&j, "wall", d->wall);
	json_array(&j, "events");
	for (size_t i = 0; i < d->stacks->n_event; i++) {
		const struct stacks_event *e = &d->stacks->event[i];

		json_array(&j, NULL);
		json_shown(&j, NULL, e->name);
		json_shown(&j, NULL,
			   stacks_unit(d->stacks, (int)i,
				       d->by_samples && i < d->sampled));
		json_uint(&j, NULL, e->samples);
		json_uint(&j, NULL, e->stacked);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "trust");
	for (size_t i = 0; i < d->n_trust; i++)
		json_text(&j, NULL, d->trust[i]);
	json_end(&j);
	/* [name, tid, pid]; -1 if not known */
	json_array(&j, "threads");
	for (size_t i = 0; i < d->n_thread; i++) {
		const struct stacks_comm *c =
			stacks_comm(d->stacks, d->comm[i]);

		json_array(&j, NULL);
		json_shown(&j, NULL, c->name);
		json_int(&j, NULL, c->tid);
		json_int(&j, NULL, c->pid);
		json_end(&j);
	}
	json_end(&j);
	page_waits_meta(d->waits, &j);
	if (d->times.keys) {
		/* Write the texts of the keys: the table and its cells, with
		 * '|' between, and the number of items. */
		json_array(&j, "times");
		json_uint(&j, NULL, d->times.n);
		for (uint32_t i = 0; i < labels_count(d->times.keys); i++)
			json_shown(&j, NULL,
				   labels_get(d->times.keys, i)->name);
		json_end(&j);
	}
	/* Write the number of intervals, the events of their kinds, words. */
	json_object(&j, "intervals");
	json_uint(&j, "n", d->intervals.n);
	json_uint(&j, "first", d->waited);
	json_uint(&j, "kinds", d->stacks->n_event - d->waited);
	json_text(&j, "premise", d->sums.premise);
	json_array(&j, "names");
	for (uint32_t i = 0; i < d->n_names; i++)
		json_shown(&j, NULL, intern_get(&d->names, i));
	json_end(&j);
	json_end(&j);
	/* [word, meaning] by number; 0: no request */
	const char *word;

	json_array(&j, "verdicts");
	page_data_put_pair(&j, "no request",
			   "its user stack was not to come later");
	for (unsigned int v = 1; (word = request_verdict_name(v)); v++)
		page_data_put_pair(&j, word, verdict_meaning("request", word));
	json_end(&j);
	json_bool(&j, "inlined_rows", d->inlined_rows);
	json_bool(&j, "plain", d->plain);
	page_data_put_labels(d, &j);
	page_data_put_words(&j, "band_kinds", loss_band_words, BAND_KINDS);
	page_data_put_words(&j, "mark_kinds", loss_mark_words, MARK_KINDS);
	/* [place, records, rows] */
	json_array(&j, "bands");
	for (size_t i = 0; i < d->tl.n_band; i++) {
		const struct loss_band *b = &d->tl.band[i];

		json_array(&j, NULL);
		page_data_put_place(d, &j, &b->at, b->t0, b->t1);
		json_uint(&j, NULL, b->n);
		json_uint(&j, NULL, b->rows);
		json_end(&j);
	}
	json_end(&j);
	/* [place, how many] */
	json_array(&j, "marks");
	for (size_t i = 0; i < d->tl.n_mark; i++) {
		const struct loss_mark *m = &d->tl.mark[i];

		json_array(&j, NULL);
		page_data_put_place(d, &j, &m->at, m->t0, m->t1);
		json_uint(&j, NULL, m->n);
		json_end(&j);
	}
	json_end(&j);
	palette_json(palette_find(palette_names[0]), &j, "colors");
	json_end(&j);
	fputs("\n</script>\n", out);
}

void page_data_write(const struct page_data *d, FILE *out)
{
	page_data_put_meta(d, out);
	page_bytes_write(&d->nodes, "nodes", out);
	page_bytes_write(&d->groups, "groups", out);
	page_bytes_write(&d->samples.bytes, "samples", out);
	page_bytes_write(&d->intervals.bytes, "intervals", out);
	page_bytes_write(&d->waits->waits, "waits", out);
	page_bytes_write(&d->waits->runs, "runs", out);
	page_bytes_write(&d->waits->chains.bytes, "chains", out);
	if (d->times.keys)
		page_bytes_write(&d->times.bytes, "times", out);
}
