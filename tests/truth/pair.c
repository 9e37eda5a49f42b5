/* pair.c - two captures of what a slice is one of: sessions that ran at the
 * same time, each of which asked for some of the stacks and lost some records.
 *
 * Either both record all CPUs, or the first one some tasks only, whose chains
 * it does not get when they end. A chain is written for every session that
 * listens, at times that differ a little. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/truth/truth.h"

#define CHAINS_MIN 3

/* How a pair is made. */
struct plan {
	uint64_t seed;
	bool some;	/* the first one records some tasks */
	uint32_t apart; /* ns between copies of a chain, at most */
};

static uint64_t dice(const struct plan *pl, uint64_t what)
{
	uint64_t s = pl->seed ^ what * 0x9e3779b97f4a7c15u;

	return rnd(&s);
}

static bool pair_is_recorded(const struct plan *pl, const struct record *r)
{
	return !pl->some || dice(pl, (uint32_t)r->tid) & 1;
}

/* Which of them asked: the first, the second, or now one and now the other. */
static uint16_t who_asked(const struct plan *pl, const struct record *r,
			  size_t i)
{
	uint64_t key =
		r->kind == REC_SAMPLE && has_cookie(r) ? cookie_of(r) : i;
	uint64_t d = dice(pl, key) % 3;

	if (!pair_is_recorded(pl, r))
		return 1;
	return d < 2 ? (uint16_t)d : (uint16_t)(dice(pl, i) & 1);
}

static bool pair_is_state(const struct record *r)
{
	return r->kind != REC_SAMPLE && r->kind != REC_CHAIN &&
	       r->kind != REC_SWITCH && r->kind != REC_MARK;
}

/* Its thread ended before item i. */
static bool is_after_exit(const struct list *l, size_t i)
{
	for (size_t k = i; k-- > 0;)
		if (l->at[k].rec->kind == REC_EXIT &&
		    l->at[k].rec->tid == l->at[i].rec->tid)
			return true;
	return false;
}

static bool pair_is_in(const struct plan *pl, const struct slice *s, size_t i,
		       uint16_t side)
{
	const struct record *r = s->list.at[i].rec;

	if (pair_is_state(r) || i < s->start)
		return true;
	if (r->kind != REC_CHAIN)
		return who_asked(pl, r, i) == side;
	return side || (pair_is_recorded(pl, r) &&
			!(pl->some && is_after_exit(&s->list, i)));
}

static const struct record *copy_of(const struct plan *pl, struct slice *to,
				    const struct record *r, uint16_t side)
{
	if (!side || r->kind != REC_CHAIN || !pl->apart)
		return r;
	struct record *copy = arena_take(&to->own, sizeof(*copy));

	*copy = *r;
	copy->time += dice(pl, r->time) % pl->apart;
	return copy;
}

static bool make_side(struct slice *to, const struct slice *s,
		      const struct plan *pl, uint16_t side)
{
	size_t chains = 0;

	arena_release(&to->own);
	to->cap = s->cap;
	to->info = s->info;
	to->info.last_ns = 0;
	to->start = 0;
	to->list.n = 0;
	if (pl->some && !side)
		to->info.system_wide = TRI_NO;
	for (size_t i = 0; i < s->list.n; i++) {
		if (!pair_is_in(pl, s, i, side))
			continue;
		const struct record *r =
			copy_of(pl, to, s->list.at[i].rec, side);

		list_add(&to->list, r, (uint32_t)i);
		chains += r->kind == REC_CHAIN;
		if (is_timed(r) && r->time > to->info.last_ns)
			to->info.last_ns = r->time;
	}
	to->start = s->start;
	return chains >= CHAINS_MIN;
}

/* As they come: what has no time first. */
static int pair_by_time(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	uint64_t tx = is_timed(x->rec) ? x->rec->time : 0;
	uint64_t ty = is_timed(y->rec) ? y->rec->time : 0;

	if (is_timed(x->rec) != is_timed(y->rec))
		return is_timed(x->rec) ? 1 : -1;
	return (tx > ty) - (tx < ty);
}

/* Insertion: it leaves equals in place, and little is out of it. */
static void pair_sort(struct list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		struct item it = l->at[i];
		size_t k = i;

		for (; k && pair_by_time(&l->at[k - 1], &it) > 0; k--)
			l->at[k] = l->at[k - 1];
		l->at[k] = it;
	}
}

static void pair_merge(struct pair *p)
{
	struct list *l = &p->both.list;
	size_t n[2] = { 0, 0 };

	l->n = 0;
	for (uint16_t side = 0; side < 2; side++) {
		pair_sort(&p->change[side].list);
		for (size_t i = 0; i < p->change[side].list.n; i++)
			p->change[side].list.at[i].source = side;
	}
	while (n[0] < p->change[0].list.n || n[1] < p->change[1].list.n) {
		const struct item *x = p->change[0].list.at + n[0];
		const struct item *y = p->change[1].list.at + n[1];
		bool second =
			n[0] == p->change[0].list.n ||
			(n[1] < p->change[1].list.n && pair_by_time(x, y) > 0);
		const struct item *it = second ? y : x;

		n[second]++;
		list_add(l, it->rec, it->origin);
		l->at[l->n - 1].source = it->source;
		for (size_t k = l->n - 1; k-- > 0 && pair_is_state(it->rec);)
			l->at[l->n - 1].again |= it->origin != NOWHERE &&
						 l->at[k].origin == it->origin;
	}
}

/* What is lost of one side. */
static bool pair_lose(struct pair *p, uint16_t side, uint64_t *seed)
{
	static const enum kind kinds[] = { CHANGE_NONE,	   CHANGE_CHAIN,
					   CHANGE_SAMPLES, CHANGE_COOKIE,
					   CHANGE_FIRST,   CHANGE_OTHER };
	enum kind kind = kinds[rnd_below(seed, 6)];
	bool lost = rnd_below(seed, 3);
	const struct change *other = &p->change[0];
	/* often of the same cookie */
	bool same = side && other->n_cookie && kind != CHANGE_NONE &&
		    rnd_below(seed, 2);

	for (int tries = 0; same && tries < 40; tries++)
		if (change_make(&p->change[1], &p->side[1], kind, lost, false,
				seed) &&
		    p->change[1].cookie[0] == other->cookie[0])
			return true;
	return change_make(&p->change[side], &p->side[side], kind, lost,
			   lost && rnd_below(seed, 2), seed) ||
	       change_make(&p->change[side], &p->side[side], CHANGE_NONE, false,
			   false, seed);
}

bool pair_make(struct pair *p, const struct slice *s, uint64_t *seed)
{
	static const uint32_t apart[] = { 0, 2, 2000, 2000000 };
	const struct plan pl = {
		.seed = rnd(seed),
		.some = s->info.system_wide == TRI_YES && rnd_below(seed, 2),
		.apart = apart[rnd_below(seed, 4)],
	};

	for (uint16_t side = 0; side < 2; side++)
		if (!make_side(&p->side[side], s, &pl, side) ||
		    !pair_lose(p, side, seed))
			return false;
	p->both.cap = s->cap;
	p->both.start = s->start;
	p->both.info = p->side[0].info;
	p->both.more = p->side[1].info;
	p->both.pair = true;
	pair_merge(p);
	snprintf(p->text, sizeof(p->text),
		 "; %s, %u ns apart; first%s; second%s",
		 pl.some ? "some tasks and all" : "all and all", pl.apart,
		 p->change[0].text, p->change[1].text);
	return true;
}

void pair_release(struct pair *p)
{
	for (uint16_t side = 0; side < 2; side++) {
		slice_release(&p->side[side]);
		change_release(&p->change[side]);
	}
	slice_release(&p->both);
}
