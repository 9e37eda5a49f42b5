/* edits.c - whole captures, edited so that the right answer is known: how much
 * of what was done is found, and what is said that is not so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/audit/rules.h"
#include "tests/truth/truth.h"

#define OUT_MAX 512
/* A sample that is out may have told of the scheduler. */
#define SCHED_RULES                                                            \
	(1u << RULE_SWITCH_BROKEN | 1u << RULE_WAKEUP_ORDER |                  \
	 1u << RULE_WAKEUP_LOST)
/* As contradictions.c has it: clocks may differ by that much. */
#define CLOCKS_NS 20000000

enum edit {
	EDIT_STAY_1,
	EDIT_STAY_10,
	EDIT_STAY_244,
	EDIT_STAY_1_LOST,
	EDIT_STAY_10_LOST,
	EDIT_STAY_244_LOST,
	EDIT_SAMPLE,
	EDIT_SAMPLE_LOST,
	EDIT_BULK,
	EDIT_CHAIN,
	EDIT_CHAIN_LOST,
	EDIT_CONFLICT,
	EDIT_SHARED,
	EDIT_REUSED,
	EDIT_REUSED_NEXT,
	EDIT_FORK,
	EDIT_CLOCK_50,
	EDIT_CLOCK_200,
	EDIT_CLOCK_1000,
	EDIT_CLOCK_5000,
	EDIT_NONCE,
	N_EDITS
};

static const char *const edit_names[N_EDITS] = {
	[EDIT_STAY_1] = "1 whole stay out",
	[EDIT_STAY_10] = "10 whole stays out",
	[EDIT_STAY_244] = "244 whole stays out",
	[EDIT_STAY_1_LOST] = "1 whole stay out, with LOST",
	[EDIT_STAY_10_LOST] = "10 whole stays out, with LOST",
	[EDIT_STAY_244_LOST] = "244 whole stays out, with LOST",
	[EDIT_SAMPLE] = "the only sample of a stay out",
	[EDIT_SAMPLE_LOST] = "the only sample of a stay out, with LOST",
	[EDIT_BULK] = "all samples of some time out, not clean",
	[EDIT_CHAIN] = "a chain out",
	[EDIT_CHAIN_LOST] = "a chain out, with LOST",
	[EDIT_CONFLICT] = "a second chain with another stack",
	[EDIT_SHARED] = "a cookie with two threads",
	[EDIT_REUSED] = "a cookie used again after a newer one",
	[EDIT_REUSED_NEXT] = "a cookie used again for the next stay",
	[EDIT_FORK] = "the FORK of a later life out",
	[EDIT_CLOCK_50] = "the clock of a CPU off by 50 us",
	[EDIT_CLOCK_200] = "the clock of a CPU off by 200 us",
	[EDIT_CLOCK_1000] = "the clock of a CPU off by 1 ms",
	[EDIT_CLOCK_5000] = "the clock of a CPU off by 5 ms",
	[EDIT_NONCE] = "the nonces of two stacks swapped",
};

/* done: edits, of stays those of each edit; proof: those that the records
 * prove; false_n: what is said that is not so. */
struct score {
	uint32_t done, proof, found, false_n;
};

struct edits {
	struct slice slice;
	struct list list;
	struct arena own;
	struct result got;
	struct score score[N_EDITS];
	uint64_t out[OUT_MAX]; /* cookies of stays that are out */
	size_t n_out;
	uint64_t seed;
	uint32_t shown;
};

static struct edits ed;

/* ---- doing it */

static void edit_begin(void)
{
	arena_release(&ed.own);
	list_copy(&ed.list, &ed.slice.list);
	ed.n_out = 0;
}

static const struct record *edit_at(size_t i)
{
	return ed.list.at[i].rec;
}

static struct record *edit_own(size_t i)
{
	struct record *r = arena_take(&ed.own, sizeof(*r));

	*r = *edit_at(i);
	ed.list.at[i].rec = r;
	return r;
}

static void edit_drop(size_t i)
{
	ed.list.n--;
	memmove(ed.list.at + i, ed.list.at + i + 1,
		(ed.list.n - i) * sizeof(*ed.list.at));
}

/* The LOST record that the kernel writes before the next record of a CPU.
 * Returns whether there is one: else nothing tells of the loss. */
static bool edit_lost(size_t from, int32_t cpu)
{
	for (size_t i = from; i < ed.list.n; i++) {
		struct record *l;

		if (!is_timed(edit_at(i)) || edit_at(i)->cpu != cpu)
			continue;
		l = arena_take(&ed.own, sizeof(*l));
		*l = *edit_at(i);
		memset(&l->lost, 0, sizeof(l->lost));
		l->kind = REC_LOST;
		l->flags = 0;
		l->lost.n = 1;
		l->lost.event = -1;
		list_insert(&ed.list, i, l);
		return true;
	}
	return false;
}

static bool edit_drop_told(size_t i, bool lost)
{
	int32_t cpu = edit_at(i)->cpu;

	edit_drop(i);
	return lost && edit_lost(i, cpu);
}

static void edit_set_cookie(size_t i, uint64_t cookie)
{
	struct record *r = edit_own(i);

	if (r->kind == REC_CHAIN)
		r->chain.cookie = cookie;
	else
		r->sample.cookie = cookie;
}

static bool edit_is_half(size_t i, uint64_t cookie, bool chain)
{
	const struct record *r = edit_at(i);

	return has_cookie(r) && cookie_of(r) == cookie &&
	       (r->kind == REC_CHAIN) == chain;
}

static uint32_t edit_halves(uint64_t cookie, bool chain)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ed.list.n; i++)
		n += edit_is_half(i, cookie, chain);
	return n;
}

/* A chain of a thread with a cookie of the kernel; NOWHERE. */
static uint32_t edit_pick(void)
{
	for (int tries = 0; tries < 2000; tries++) {
		uint32_t i = rnd_below(&ed.seed, (uint32_t)ed.list.n);
		const struct record *r = edit_at(i);

		if (r->kind == REC_CHAIN && is_timed(r) && r->tid > 0 &&
		    !(r->flags & (REC_F_NONCE | REC_F_DUPLICATE)))
			return i;
	}
	return NOWHERE;
}

/* ---- what is said */

static bool edit_has(enum rule_number rule)
{
	for (size_t i = 0; i < ed.got.n_finding; i++)
		if (ed.got.finding[i].f.rule == rule)
			return true;
	return false;
}

static void edit_false(enum edit e, const char *what, uint32_t n)
{
	ed.score[e].false_n += n;
	if (n && ed.shown++ < 20)
		printf("# %s, %s: %" PRIu32 " %s\n", edit_names[e],
		       ed.slice.cap->name, n, what);
}

/* Findings that break, of no rule of the set. */
static void edit_other_rules(enum edit e, uint32_t set)
{
	for (size_t i = 0; i < ed.got.n_finding; i++) {
		const struct fact_finding *f = &ed.got.finding[i].f;

		if (!rules[f->rule].harmless && !f->loss &&
		    !(set >> f->rule & 1))
			edit_false(e, rules[f->rule].name, 1);
	}
}

/* Requests and chains without their other half, but for these. */
static void edit_other_halves(enum edit e, uint64_t cookie)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ed.list.n; i++) {
		const struct request_row *q = &ed.got.request[i];
		const struct chain_row *c = &ed.got.chain[i];

		n += q->has && q->f.cookie != cookie &&
		     (q->f.verdict == REQ_UNEXPLAINED ||
		      q->f.verdict == REQ_CHAIN_LOST);
		n += c->has && c->f.cookie != cookie &&
		     (c->f.verdict == CHAIN_UNEXPLAINED ||
		      c->f.verdict == CHAIN_SAMPLE_LOST ||
		      c->f.verdict == CHAIN_FOREIGN);
	}
	edit_false(e, "halves", n);
}

static void edit_run(enum edit e)
{
	run_list(&ed.slice, &ed.list, &ed.got);
	ed.score[e].done++;
}

/* ---- whole stays */

/* May the stay of this record be older than the capture, and its cookie be made
 * for another session? Not if its thread had another one, or was born in it. */
static bool stay_may_be_older(size_t at)
{
	const struct record *s = edit_at(at);

	for (size_t i = 0; i < at; i++) {
		const struct record *r = edit_at(i);

		if (r->tid == s->tid &&
		    (has_cookie(r) ? cookie_of(r) != cookie_of(s)
				   : r->kind == REC_FORK && is_timed(r) &&
					     !(r->flags & REC_F_SYNTH)))
			return false;
	}
	return true;
}

/* Do the others prove that this counter is missing: one above it, and one below
 * it that was first seen by a sample on its own CPU? Without a LOST record,
 * that sample must have made it. */
static bool stay_is_proved(uint64_t cookie, bool lost)
{
	uint32_t high = 0;
	bool above = false;
	bool below = false;

	for (size_t i = 0; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);

		if (!has_cookie(r) ||
		    cookie_cpu(cookie_of(r)) != cookie_cpu(cookie))
			continue;
		uint32_t count = cookie_count(cookie_of(r));

		if (count > cookie_count(cookie))
			above = true;
		else if (!below && r->kind == REC_SAMPLE &&
			 r->cpu == cookie_cpu(cookie))
			below = lost || (count > high && !stay_may_be_older(i));
		raise_to(high, count);
	}
	return above && below;
}

static const struct fact_gap *stay_gap(uint64_t cookie)
{
	for (size_t i = 0; i < ed.got.n_gap; i++) {
		const struct fact_gap *g = &ed.got.gap[i];

		if (g->cpu == cookie_cpu(cookie) &&
		    cookie_count(cookie) - g->first < 2 * g->n)
			return g;
	}
	return NULL;
}

static bool stay_is_out(uint64_t cookie)
{
	for (size_t i = 0; i < ed.n_out; i++)
		if (ed.out[i] == cookie)
			return true;
	return false;
}

static void edit_stays(enum edit e, size_t n, bool lost)
{
	struct score *sc = &ed.score[e];
	uint64_t missing = 0;

	edit_begin();
	for (size_t i = 0; i < 4 * n && ed.n_out < n; i++) {
		uint32_t at = edit_pick();

		if (at == NOWHERE)
			return;
		uint64_t cookie = cookie_of(edit_at(at));

		if (!stay_is_out(cookie) && edit_halves(cookie, false))
			ed.out[ed.n_out++] = cookie;
	}
	for (size_t i = ed.list.n; i-- > 0;)
		if (has_cookie(edit_at(i)) &&
		    stay_is_out(cookie_of(edit_at(i))))
			edit_drop_told(i, lost);
	edit_run(e);
	for (size_t i = 0; i < ed.n_out; i++) {
		const struct fact_gap *g = stay_gap(ed.out[i]);

		if (!stay_is_proved(ed.out[i], lost))
			continue;
		sc->proof++;
		sc->found +=
			g && g->verdict == (lost ? GAP_LOST : GAP_UNCOUNTED);
	}
	for (size_t i = 0; i < ed.got.n_gap; i++)
		missing += ed.got.gap[i].n;
	edit_false(e, "counters", missing > ed.n_out);
	edit_other_rules(e, SCHED_RULES | (lost ? 0 : 1u << RULE_UNCOUNTED));
	edit_other_halves(e, 0);
}

/* ---- one half */

static void edit_sample(bool lost)
{
	enum edit e = lost ? EDIT_SAMPLE_LOST : EDIT_SAMPLE;
	uint32_t chain;
	uint64_t cookie;

	edit_begin();
	do {
		chain = edit_pick();
		if (chain == NOWHERE)
			return;
		cookie = cookie_of(edit_at(chain));
	} while (edit_halves(cookie, false) != 1);
	for (size_t i = ed.list.n; i-- > 0;)
		if (edit_is_half(i, cookie, false))
			lost = edit_drop_told(i, lost);
	edit_run(e);
	ed.score[e].proof++;
	for (size_t i = 0; i < ed.list.n; i++)
		if (edit_is_half(i, cookie, true) && ed.got.chain[i].has)
			ed.score[e].found +=
				ed.got.chain[i].f.verdict ==
				(lost ? CHAIN_SAMPLE_LOST : CHAIN_UNEXPLAINED);
	edit_false(e, "doubts", ed.got.session[0].reason != NULL);
	edit_other_rules(e, SCHED_RULES);
	edit_other_halves(e, cookie);
}

/* Takes all samples with a cookie out of some time. Another session would leave
 * the same, so that each chain may be foreign; it must not be used, and the
 * rest must be as it was. */
static void edit_bulk(void)
{
	struct score *sc = &ed.score[EDIT_BULK];
	uint32_t n = 0;

	edit_begin();
	uint32_t first = rnd_below(&ed.seed, (uint32_t)ed.list.n);
	uint32_t last = first + rnd_below(&ed.seed, (uint32_t)ed.list.n / 4);

	for (size_t i = ed.list.n; i-- > first;)
		if (i <= last && has_cookie(edit_at(i)) &&
		    edit_at(i)->kind == REC_SAMPLE)
			edit_drop(i);
	edit_run(EDIT_BULK);
	for (size_t i = 0; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);
		enum chain_verdict v = ed.got.chain[i].f.verdict;

		if (!ed.got.chain[i].has || v == CHAIN_DUPLICATE)
			continue;
		bool own = edit_halves(cookie_of(r), false) == 0;
		bool open = v == CHAIN_FOREIGN || v == CHAIN_UNEXPLAINED;

		sc->proof += own;
		sc->found += own && open;
		n += open && !own;
	}
	for (size_t i = 0; i < ed.list.n; i++)
		n += ed.got.request[i].has &&
		     ed.got.request[i].f.verdict == REQ_UNEXPLAINED;
	edit_false(EDIT_BULK, "halves", n);
	edit_other_rules(EDIT_BULK, SCHED_RULES);
}

/* Is a chain of this thread due before item `from`'s end, as a newer cookie or
 * its EXIT follows? */
static bool edit_is_due(size_t from, int32_t tid, uint64_t cookie)
{
	for (size_t i = from; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);

		if (r->tid == tid && has_cookie(r) && cookie_of(r) != cookie)
			return true;
		if (r->tid == tid && r->kind == REC_EXIT)
			return true;
	}
	return false;
}

static void edit_chain(bool lost)
{
	enum edit e = lost ? EDIT_CHAIN_LOST : EDIT_CHAIN;
	uint32_t chain;
	uint32_t good = 0;
	uint32_t n = 0;

	edit_begin();
	chain = edit_pick();
	if (chain == NOWHERE)
		return;
	uint64_t cookie = cookie_of(edit_at(chain));
	int32_t tid = edit_at(chain)->tid;

	lost = edit_drop_told(chain, lost);
	edit_run(e);
	if (edit_is_due(chain, tid, cookie)) {
		ed.score[e].proof++;
		for (size_t i = 0; i < ed.list.n; i++) {
			if (!edit_is_half(i, cookie, false))
				continue;
			enum request_verdict v = ed.got.request[i].f.verdict;

			n++;
			good += v == (lost ? REQ_CHAIN_LOST : REQ_UNEXPLAINED);
			/* the capture ends before the chain was due */
			good += v == REQ_PENDING_END;
		}
		ed.score[e].found += good == n;
	}
	edit_other_rules(e, 0);
	edit_other_halves(e, cookie);
}

/* ---- contradictions */

static void edit_conflict(void)
{
	uint32_t chain;

	edit_begin();
	chain = edit_pick();
	if (chain == NOWHERE || !edit_at(chain)->chain.user.n ||
	    !edit_halves(cookie_of(edit_at(chain)), false))
		return;
	struct record *r = arena_take(&ed.own, sizeof(*r));
	uint64_t *ip = arena_take(&ed.own, sizeof(*ip));

	*r = *edit_at(chain);
	*ip = r->chain.user.ip[0] + 1;
	r->chain.user.ip = ip;
	r->chain.user.n = 1;
	list_insert(&ed.list, chain + 1, r);
	edit_run(EDIT_CONFLICT);
	ed.score[EDIT_CONFLICT].proof++;
	ed.score[EDIT_CONFLICT].found += edit_has(RULE_COOKIE_CONFLICT);
	edit_other_rules(EDIT_CONFLICT, 1u << RULE_COOKIE_CONFLICT);
	edit_other_halves(EDIT_CONFLICT, 0);
}

/* Gives all records with cookie `from` the cookie `to`. */
static void edit_rename(uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < ed.list.n; i++)
		if (has_cookie(edit_at(i)) && cookie_of(edit_at(i)) == from)
			edit_set_cookie(i, to);
}

static void edit_shared(void)
{
	uint32_t a;
	uint32_t b;

	edit_begin();
	a = edit_pick();
	b = edit_pick();
	if (a == NOWHERE || b == NOWHERE ||
	    edit_at(a)->pid == edit_at(b)->pid ||
	    !edit_halves(cookie_of(edit_at(a)), false) ||
	    !edit_halves(cookie_of(edit_at(b)), false))
		return;
	edit_rename(cookie_of(edit_at(b)), cookie_of(edit_at(a)));
	edit_run(EDIT_SHARED);
	ed.score[EDIT_SHARED].proof++;
	ed.score[EDIT_SHARED].found +=
		edit_has(RULE_COOKIE_SHARED) || edit_has(RULE_COOKIE_REUSED);
	edit_other_rules(EDIT_SHARED, 1u << RULE_COOKIE_SHARED |
					      1u << RULE_COOKIE_REUSED |
					      1u << RULE_UNCOUNTED);
	edit_other_halves(EDIT_SHARED, 0);
}

/* The nth next chain of the thread with another cookie; NOWHERE. */
static uint32_t edit_next_chain(uint32_t at, int n)
{
	uint64_t last = cookie_of(edit_at(at));

	for (size_t i = at + 1; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);

		if (r->kind != REC_CHAIN || r->tid != edit_at(at)->tid ||
		    cookie_of(r) == last)
			continue;
		last = cookie_of(r);
		if (!--n)
			return (uint32_t)i;
	}
	return NOWHERE;
}

static uint32_t edit_first_of(uint64_t cookie)
{
	for (size_t i = 0; i < ed.list.n; i++)
		if (has_cookie(edit_at(i)) && cookie_of(edit_at(i)) == cookie)
			return (uint32_t)i;
	return NOWHERE;
}

/* Does each sample from item `from` on with this cookie have that chain? */
static bool edit_joined(uint32_t from, uint64_t cookie, uint32_t chain)
{
	for (size_t i = from; i < ed.list.n; i++)
		if (edit_is_half(i, cookie, false) && i != chain &&
		    ed.got.request[i].chain != chain)
			return false;
	return true;
}

static void edit_reused(bool next)
{
	enum edit e = next ? EDIT_REUSED_NEXT : EDIT_REUSED;
	struct score *sc = &ed.score[e];
	uint32_t a;
	uint32_t mid;
	uint32_t b;

	edit_begin();
	a = edit_pick();
	if (a == NOWHERE)
		return;
	mid = edit_next_chain(a, 1);
	b = next ? mid : edit_next_chain(a, 2);
	if (b == NOWHERE || !edit_halves(cookie_of(edit_at(b)), false) ||
	    !edit_halves(cookie_of(edit_at(a)), false))
		return;
	uint64_t cookie = cookie_of(edit_at(a));
	uint32_t first = edit_first_of(cookie_of(edit_at(b)));
	uint32_t closer = edit_first_of(cookie_of(edit_at(mid)));
	int64_t apart =
		truth_time_of(edit_at(first)) - truth_time_of(edit_at(closer));
	bool differ =
		edit_at(a)->chain.user.n != edit_at(b)->chain.user.n ||
		memcmp(edit_at(a)->chain.user.ip, edit_at(b)->chain.user.ip,
		       8 * edit_at(a)->chain.user.n) != 0;
	bool proof = next ? differ
			  : (edit_at(first)->cpu == edit_at(closer)->cpu &&
			     edit_at(first)->cpu ==
				     edit_at(edit_first_of(cookie))->cpu) ||
				     apart > CLOCKS_NS;

	edit_rename(cookie_of(edit_at(b)), cookie);
	edit_run(e);
	sc->proof += proof;
	if (proof)
		sc->found += next ? edit_has(RULE_COOKIE_CONFLICT) ||
					     edit_has(RULE_COOKIE_REUSED)
				  : edit_has(RULE_COOKIE_REUSED) &&
					     edit_joined(first, cookie, b);
	edit_other_rules(e, 1u << RULE_COOKIE_CONFLICT |
				    1u << RULE_COOKIE_REUSED |
				    1u << RULE_UNCOUNTED);
	edit_other_halves(e, cookie);
}

/* ---- lives */

static bool edit_ended_before(size_t at, int32_t tid)
{
	for (size_t i = at; i-- > 0;)
		if (edit_at(i)->kind == REC_EXIT && edit_at(i)->tid == tid)
			return true;
	return false;
}

/* Does anything after the FORK show that the thread lives? */
static bool edit_lives(size_t from, int32_t tid)
{
	for (size_t i = from; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);

		if (r->tid != tid)
			continue;
		if (r->kind == REC_EXIT || r->kind == REC_FORK)
			return false;
		if (r->kind == REC_SAMPLE &&
		    (has_cookie(r) || r->flags & REC_F_USER))
			return true;
	}
	return false;
}

static void edit_fork(size_t at)
{
	struct score *sc = &ed.score[EDIT_FORK];
	int32_t tid = edit_at(at)->tid;

	edit_drop(at);
	edit_run(EDIT_FORK);
	bool proof = edit_lives(at, tid);

	sc->proof += proof;
	for (size_t i = 0; i < ed.got.n_finding; i++) {
		const struct finding_row *f = &ed.got.finding[i];
		bool own = f->tid == tid && f->f.rule == RULE_AFTER_EXIT;

		sc->found += own && proof;
		proof &= !own;
		if (!own && !rules[f->f.rule].harmless)
			edit_false(EDIT_FORK, rules[f->f.rule].name, 1);
	}
}

static void edit_forks(void)
{
	for (size_t i = 0; i < ed.slice.list.n; i++) {
		edit_begin();
		if (edit_at(i)->kind == REC_FORK && is_timed(edit_at(i)) &&
		    !(edit_at(i)->flags & REC_F_SYNTH) &&
		    edit_ended_before(i, edit_at(i)->tid))
			edit_fork(i);
	}
}

/* ---- clocks */

static int edit_by_time(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	int64_t s = truth_time_of(x->rec);
	int64_t t = truth_time_of(y->rec);

	if (s != t)
		return s < t ? -1 : 1;
	return x->origin < y->origin ? -1 : x->origin > y->origin;
}

/* Do two records of other CPUs have a counter that, by the times, was not made
 * yet? One of them may have a wrong cookie. */
static bool clocks_contradict(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ed.list.n; i++) {
		const struct record *r = edit_at(i);
		uint64_t cookie;

		if (!has_cookie(r) || r->cpu == cookie_cpu(cookie_of(r)))
			continue;
		cookie = cookie_of(r);
		for (size_t k = i + 1; k < ed.list.n; k++) {
			const struct record *o = edit_at(k);

			if (o->kind == REC_SAMPLE && has_cookie(o) &&
			    o->cpu == cookie_cpu(cookie) &&
			    cookie_cpu(cookie_of(o)) == o->cpu &&
			    cookie_count(cookie_of(o)) < cookie_count(cookie) &&
			    edit_first_of(cookie_of(o)) == k &&
			    o->time - r->time > 1000) {
				n++;
				break;
			}
		}
	}
	return n > 1;
}

static void edit_clock(enum edit e, int32_t cpu, int64_t by)
{
	edit_begin();
	for (size_t i = 0; i < ed.list.n; i++)
		if (is_timed(edit_at(i)) && edit_at(i)->cpu == cpu &&
		    !(edit_at(i)->flags & REC_F_SYNTH))
			edit_own(i)->time += (uint64_t)by;
	qsort(ed.list.at, ed.list.n, sizeof(*ed.list.at), edit_by_time);
	edit_run(e);
	if (clocks_contradict()) {
		ed.score[e].proof++;
		ed.score[e].found += edit_has(RULE_CLOCK_SKEW);
	}
	for (size_t i = 0; i < ed.got.n_finding; i++) {
		const struct fact_finding *f = &ed.got.finding[i].f;

		if (f->rule == RULE_CLOCK_SKEW &&
		    f->time - f->since > (by < 0 ? -by : by))
			edit_false(e, "differences that are too large", 1);
	}
	edit_other_rules(e, 1u << RULE_CLOCK_SKEW);
}

static void edit_clocks(void)
{
	static const int64_t us[] = { 50, 200, 1000, 5000 };

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
		for (int32_t cpu = 0; cpu < 4; cpu++) {
			edit_clock(EDIT_CLOCK_50 + (enum edit)i, cpu,
				   us[i] * 1000);
			edit_clock(EDIT_CLOCK_50 + (enum edit)i, cpu,
				   us[i] * -1000);
		}
}

/* ---- nonces */

static bool edit_is_nonce(size_t i, bool chain)
{
	const struct record *r = edit_at(i);

	return has_cookie(r) && r->flags & REC_F_NONCE &&
	       (r->kind == REC_CHAIN) == chain;
}

/* The next stack of a thread that has one part and was asked for later. */
static uint32_t edit_later_nonce(size_t at)
{
	for (size_t i = at + 1; i < ed.list.n; i++) {
		uint64_t cookie;

		if (!edit_is_nonce(i, true) ||
		    edit_at(i)->tid != edit_at(at)->tid)
			continue;
		cookie = cookie_of(edit_at(i));
		if (cookie != cookie_of(edit_at(at)) &&
		    edit_halves(cookie, true) == 1 &&
		    edit_halves(cookie, false) == 1 &&
		    truth_time_of(edit_at(edit_first_of(cookie))) >
			    truth_time_of(edit_at(at)))
			return (uint32_t)i;
	}
	return NOWHERE;
}

static void edit_nonce(void)
{
	uint32_t a;
	uint32_t b;

	edit_begin();
	a = rnd_below(&ed.seed, (uint32_t)ed.list.n);
	if (!edit_is_nonce(a, true) ||
	    edit_halves(cookie_of(edit_at(a)), true) != 1 ||
	    edit_halves(cookie_of(edit_at(a)), false) != 1)
		return;
	b = edit_later_nonce(a);
	if (b == NOWHERE)
		return;
	uint64_t first = cookie_of(edit_at(a));

	edit_set_cookie(a, cookie_of(edit_at(b)));
	edit_set_cookie(b, first);
	edit_run(EDIT_NONCE);
	ed.score[EDIT_NONCE].proof++;
	ed.score[EDIT_NONCE].found += edit_has(RULE_NONCE_EARLY);
	edit_other_rules(EDIT_NONCE, 1u << RULE_NONCE_EARLY);
}

/* ---- all of it */

static void edit_cookies(void)
{
	static const struct {
		size_t n;
		int times;
	} stays[] = { { 1, 30 }, { 10, 10 }, { 244, 4 } };

	for (unsigned int k = 0; k < 3; k++)
		for (int i = 0; i < stays[k].times; i++) {
			edit_stays(EDIT_STAY_1 + k, stays[k].n, false);
			edit_stays(EDIT_STAY_1_LOST + k, stays[k].n, true);
		}
	for (int i = 0; i < 30; i++) {
		edit_sample(i % 2);
		if (i % 5 == 0)
			edit_bulk();
		edit_chain(i % 2);
		edit_conflict();
		edit_shared();
		edit_reused(i % 2);
	}
}

static void edit_capture(const struct capture *c)
{
	bool nonces = c->src->info.cookies != COOKIES_PERF;

	slice_make(&ed.slice, c, 0, 0, true);
	for (int i = 0; i < 400 && nonces; i++)
		edit_nonce();
	if (nonces || ed.slice.info.system_wide != TRI_YES)
		return;
	edit_cookies();
	edit_clocks();
	if (strstr(c->name, "tidreuse"))
		edit_forks();
}

bool edits_tell(const struct capture *cap, size_t n, uint64_t seed)
{
	bool good = true;

	ed.seed = seed;
	for (size_t i = 0; i < n; i++)
		edit_capture(&cap[i]);
	printf("# %-42s %8s %8s %8s %6s\n", "edit", "edits", "provable",
	       "found", "false");
	for (int e = 0; e < N_EDITS; e++) {
		const struct score *s = &ed.score[e];
		bool ok = s->found == s->proof && !s->false_n;

		printf("# %-42s %8" PRIu32 " %8" PRIu32 " %8" PRIu32
		       " %6" PRIu32 "\n",
		       edit_names[e], s->done, s->proof, s->found, s->false_n);
		good &= ok;
		if (s->done)
			printf("%s %s\n", ok ? "ok" : "not ok", edit_names[e]);
	}
	slice_release(&ed.slice);
	result_release(&ed.got);
	arena_release(&ed.own);
	free(ed.list.at);
	return good;
}
