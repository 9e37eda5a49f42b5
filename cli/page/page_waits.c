/* page_waits.c - what a page holds of threads off the CPU, and of what ran. */
#include "cli/page/page_waits.h"

#include <stdlib.h>

#include "cli/stacks/stacks.h"
#include "cli/waits/wait_cause.h"
#include "cli/waits/waits.h"
#include "cli/waits/wall.h"
#include "cli/output/json.h"
#include "cli/page/page_bytes.h"
#include "cli/page/page_chains.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

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
	struct page_bytes waits, runs;
	struct page_chains *chains;
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
	enum wait_cause cause =
		wait_causes_get(p->causes, w->state, w->at.kraw);
	struct page_wait one = {
		.cause = cause == WAIT_READY
				 ? 0 /* the state says it */
				 : page_waits_word(p, wait_cause_word(cause)),
		.from = w->from,
		.to = w->to,
		.group = stacks_add(p->stacks, &g),
		.ready = w->waker.ready,
	};

	if (w->waker.asleep && w->waker.proof != PROOF_UNKNOWN) {
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
	struct waits *w;
	int rc;

	p->stacks = s;
	p->causes = wait_causes_new(s);
	p->chains = page_chains_new(s);
	p->event = -1;
	ask.causes = p->causes;
	w = waits_open(db, path, &ask, err);
	while ((rc = waits_next(w, &item, err)) > 0) {
		if (item.kind == WAITS_WAIT) {
			page_waits_take(p, &item.wait);
		} else if (item.kind == WAITS_RUN) {
			page_waits_take_run(p, &item.run);
		} else {
			page_chains_add(p->chains, waits_causes(w), p->ask,
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
	page_chains_free(w->chains);
	free(w->ask);
	intern_release(&w->words);
	free(w->wait);
	free(w->run);
	free(w->waits.byte);
	free(w->runs.byte);
	free(w);
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
	page_chains_meta(w->chains, j);
}

void page_waits_encode(struct page_waits *w, int64_t t0,
		       uint32_t (*thread_of)(void *arg, uint32_t comm),
		       void *arg)
{
	uint64_t last = (uint64_t)t0;

	for (size_t i = 0; i < w->n; i++) {
		const struct page_wait *x = &w->wait[i];
		uint64_t from = (uint64_t)x->from;

		page_bytes_signed(&w->waits, from - last);
		page_bytes_add(&w->waits, (uint64_t)x->to - from);
		page_bytes_add(&w->waits, x->group);
		page_bytes_add(&w->waits, x->cause);
		page_bytes_add(&w->waits,
			       x->ready < INT64_MAX
				       ? 1 + (uint64_t)x->ready - from
				       : 0);
		page_bytes_add(&w->waits, x->proof);
		if (x->proof) {
			page_bytes_add(&w->waits, x->waker);
			page_bytes_add(&w->waits, x->word);
		}
		last = from;
	}
	page_chains_encode(w->chains, thread_of, arg);
	last = (uint64_t)t0;
	for (size_t i = 0; i < w->n_run; i++) {
		const struct page_run *x = &w->run[i];
		uint64_t from = (uint64_t)x->from;

		page_bytes_signed(&w->runs, from - last);
		page_bytes_add(&w->runs, (uint64_t)x->to - from);
		page_bytes_add(&w->runs, (uint64_t)x->cpu);
		page_bytes_add(&w->runs, thread_of(arg, x->comm));
		last = from;
	}
}

void page_waits_write(const struct page_waits *w, FILE *out)
{
	page_bytes_write(&w->waits, "waits", out);
	page_bytes_write(&w->runs, "runs", out);
	page_chains_write(w->chains, out);
}
