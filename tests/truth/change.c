/* change.c - takes records out of a slice, or makes others of them, as losses,
 * reuse of ids and long runs do. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/truth/truth.h"

const char *const change_names[N_CHANGES] = {
	[CHANGE_NONE] = "nothing",
	[CHANGE_CHAIN] = "a chain",
	[CHANGE_SAMPLES] = "all samples of a cookie",
	[CHANGE_COOKIE] = "samples and chain",
	[CHANGE_FIRST] = "the first of several samples",
	[CHANGE_OTHER] = "another of several samples",
	[CHANGE_EXIT] = "an EXIT",
	[CHANGE_FORK] = "a FORK",
	[CHANGE_MAP] = "an MMAP2",
	[CHANGE_COMM] = "a COMM",
	[CHANGE_TID] = "a tid used again",
	[CHANGE_TID_NEW] = "a tid used again without FORK",
	[CHANGE_TID_OLD] = "a tid used again without EXIT",
	[CHANGE_WRAP] = "counters that wrap",
	[CHANGE_TWO] = "two things",
};

static void change_say(struct change *ch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void change_say(struct change *ch, const char *fmt, ...)
{
	size_t n = strlen(ch->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ch->text + n, sizeof(ch->text) - n, fmt, ap);
	va_end(ap);
}

static void concerns_cookie(struct change *ch, uint64_t cookie)
{
	if (ch->n_cookie < sizeof(ch->cookie) / sizeof(ch->cookie[0]))
		ch->cookie[ch->n_cookie++] = cookie;
}

static void concerns_tid(struct change *ch, int32_t tid)
{
	if (ch->n_tid < sizeof(ch->tid) / sizeof(ch->tid[0]))
		ch->tid[ch->n_tid++] = tid;
}

/* Only what the kernel recorded while it ran can be lost. */
static bool can_go(const struct slice *s, const struct item *it)
{
	return it->origin != NOWHERE && it->origin >= s->start &&
	       is_timed(it->rec) && !(it->rec->flags & REC_F_SYNTH);
}

bool change_fits(const struct record *r, enum kind kind)
{
	if (!is_timed(r) || r->flags & REC_F_SYNTH)
		return false;
	switch (kind) {
	case CHANGE_EXIT:
		return r->kind == REC_EXIT;
	case CHANGE_FORK:
	case CHANGE_TID:
	case CHANGE_TID_NEW:
	case CHANGE_TID_OLD:
		return r->kind == REC_FORK;
	case CHANGE_MAP:
		return r->kind == REC_MAP && !(r->flags & REC_F_KERNEL);
	case CHANGE_COMM:
		return r->kind == REC_COMM;
	default:
		return r->kind == REC_CHAIN;
	}
}

static void take_out(struct change *ch, size_t i)
{
	*mem_add(ch->gone, ch->n_gone, ch->cap_gone) = ch->list.at[i];
	ch->sched |= ch->list.at[i].rec->kind == REC_SAMPLE &&
		     ch->list.at[i].rec->sample.sched.kind != SCHED_NONE;
	change_say(ch, " #%u", ch->list.at[i].origin);
	ch->list.n--;
	memmove(ch->list.at + i, ch->list.at + i + 1,
		(ch->list.n - i) * sizeof(*ch->list.at));
}

/* One of the items that fit; NOWHERE: there is none. */
static uint32_t change_pick(const struct change *ch, const struct slice *s,
			    enum kind kind, uint64_t *seed)
{
	uint32_t n = 0;
	uint32_t found = NOWHERE;

	for (size_t i = 0; i < ch->list.n; i++)
		if (can_go(s, &ch->list.at[i]) &&
		    change_fits(ch->list.at[i].rec, kind) &&
		    rnd_below(seed, ++n) == 0)
			found = (uint32_t)i;
	return found;
}

static bool is_sample_of(const struct record *r, uint64_t cookie)
{
	return r->kind == REC_SAMPLE && has_cookie(r) && cookie_of(r) == cookie;
}

static bool cookie_gone(struct change *ch, const struct slice *s,
			enum kind kind, uint64_t *seed)
{
	uint32_t least = kind == CHANGE_FIRST || kind == CHANGE_OTHER ? 2 : 1;
	uint32_t n = 0;
	uint32_t one = 0;
	uint64_t cookie = 0;
	uint32_t at = 0;

	for (int tries = 0; tries < 30 && n < least; tries++) {
		at = change_pick(ch, s, kind, seed);
		if (at == NOWHERE)
			return false;
		cookie = cookie_of(ch->list.at[at].rec);
		n = 0;
		for (size_t i = 0; i < ch->list.n; i++)
			n += is_sample_of(ch->list.at[i].rec, cookie);
	}
	if (n < least)
		return false;
	if (kind == CHANGE_OTHER)
		one = 1 + rnd_below(seed, n - 1);
	change_say(ch, "; cookie %" PRIx64 " of %d (%u samples): without",
		   cookie, (int)ch->list.at[at].rec->tid, n);
	concerns_cookie(ch, cookie);
	if (kind == CHANGE_CHAIN || kind == CHANGE_COOKIE)
		take_out(ch, at);
	if (kind == CHANGE_CHAIN)
		return true;
	for (size_t i = ch->list.n; i-- > 0;)
		if (is_sample_of(ch->list.at[i].rec, cookie) &&
		    (--n == one ||
		     (kind != CHANGE_FIRST && kind != CHANGE_OTHER)))
			take_out(ch, i);
	return true;
}

static bool state_gone(struct change *ch, const struct slice *s, enum kind kind,
		       uint64_t *seed)
{
	uint32_t at = change_pick(ch, s, kind, seed);

	if (at == NOWHERE)
		return false;
	change_say(ch, "; of %d/%d: without", (int)ch->list.at[at].rec->pid,
		   (int)ch->list.at[at].rec->tid);
	concerns_tid(ch, ch->list.at[at].rec->tid);
	ch->names = true;
	take_out(ch, at);
	return true;
}

/* ---- ids used again */

static void rename_id(int32_t *id, int32_t from, int32_t to)
{
	if (*id == from)
		*id = to;
}

static void rename_in(struct record *r, int32_t from, int32_t to, bool leader)
{
	rename_id(&r->tid, from, to);
	rename_id(&r->by, from, to);
	if (leader)
		rename_id(&r->pid, from, to);
	if (r->kind == REC_FORK || r->kind == REC_EXIT) {
		rename_id(&r->fork.ptid, from, to);
		if (leader)
			rename_id(&r->fork.ppid, from, to);
	} else if (r->kind == REC_SWITCH) {
		rename_id(&r->sw.other_tid, from, to);
		if (leader)
			rename_id(&r->sw.other_pid, from, to);
	} else if (r->kind == REC_SAMPLE) {
		rename_id(&r->sample.sched.tid, from, to);
		rename_id(&r->sample.sched.next_tid, from, to);
	}
}

static struct record *own(struct change *ch, const struct record *r)
{
	struct record *copy = arena_take(&ch->own, sizeof(*copy));

	*copy = *r;
	return copy;
}

static bool change_is_of(const struct record *r, int32_t tid)
{
	return r->tid == tid || r->pid == tid;
}

/* A thread that ended before item `at`, of whose id nothing is said later. */
static uint32_t pick_dead(const struct change *ch, const struct slice *s,
			  size_t at, uint64_t *seed)
{
	bool leader = ch->list.at[at].rec->pid == ch->list.at[at].rec->tid;
	uint32_t found = NOWHERE;
	uint32_t n = 0;

	for (size_t i = 0; i < at; i++) {
		const struct record *r = ch->list.at[i].rec;
		bool later = false;

		if (r->kind != REC_EXIT || !can_go(s, &ch->list.at[i]) ||
		    (leader && r->pid != r->tid))
			continue;
		for (size_t k = at; k < ch->list.n; k++)
			later |= change_is_of(ch->list.at[k].rec, r->tid);
		if (!later && rnd_below(seed, ++n) == 0)
			found = (uint32_t)i;
	}
	return found;
}

static bool tid_again(struct change *ch, const struct slice *s, enum kind kind,
		      uint64_t *seed)
{
	uint32_t at = change_pick(ch, s, kind, seed);

	if (at == NOWHERE)
		return false;
	const struct record *born = ch->list.at[at].rec;
	uint32_t dead = pick_dead(ch, s, at, seed);
	bool leader = born->pid == born->tid;

	if (dead == NOWHERE)
		return false;
	for (size_t i = 0; i < at; i++)
		if (change_is_of(ch->list.at[i].rec, born->tid))
			return false;
	int32_t from = born->tid;
	int32_t to = ch->list.at[dead].rec->tid;

	change_say(ch, "; from #%u on %d/%d is called %d",
		   ch->list.at[at].origin, (int)born->pid, (int)from, (int)to);
	for (size_t i = at; i < ch->list.n; i++) {
		struct record *r = own(ch, ch->list.at[i].rec);

		rename_in(r, from, to, leader);
		ch->list.at[i].rec = r;
	}
	concerns_tid(ch, from);
	concerns_tid(ch, to);
	ch->names = true;
	if (kind == CHANGE_TID)
		return true;
	change_say(ch, ", without");
	take_out(ch, kind == CHANGE_TID_NEW ? at : dead);
	return true;
}

/* ---- counters */

static bool wrap(struct change *ch, const struct slice *s, uint64_t *seed)
{
	uint32_t at = change_pick(ch, s, CHANGE_WRAP, seed);

	if (at == NOWHERE)
		return false;
	uint64_t c = cookie_of(ch->list.at[at].rec);
	uint32_t add = 1 - cookie_count(c);

	change_say(ch, "; counters of cpu %d: %u becomes 1", (int)cookie_cpu(c),
		   cookie_count(c));
	for (size_t i = 0; i < ch->list.n; i++) {
		if (!has_cookie(ch->list.at[i].rec) ||
		    cookie_cpu(cookie_of(ch->list.at[i].rec)) != cookie_cpu(c))
			continue;
		struct record *r = own(ch, ch->list.at[i].rec);
		uint64_t *cookie = r->kind == REC_CHAIN ? &r->chain.cookie
							: &r->sample.cookie;

		for (size_t k = 0; k < ch->n_cookie; k++)
			if (ch->cookie[k] == *cookie)
				ch->cookie[k] += (uint64_t)add << 32;
		*cookie += (uint64_t)add << 32;
		ch->list.at[i].rec = r;
	}
	return true;
}

/* ---- what the kernel and perf say of it */

/* Before the record that came next in that ring. */
static void put_lost(struct change *ch, const struct item *gone)
{
	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;

		if (ch->list.at[i].origin == NOWHERE ||
		    ch->list.at[i].origin < gone->origin || !is_timed(r) ||
		    r->cpu != gone->rec->cpu)
			continue;
		if (i && ch->list.at[i - 1].rec->kind == REC_LOST &&
		    ch->list.at[i - 1].rec->cpu == r->cpu) {
			struct record *l = own(ch, ch->list.at[i - 1].rec);

			l->lost.n++;
			ch->list.at[i - 1].rec = l;
			return;
		}
		struct record *l = own(ch, r);

		memset(&l->lost, 0, sizeof(l->lost));
		l->kind = REC_LOST;
		l->flags = 0;
		l->lost.n = 1;
		l->lost.event =
			r->kind == REC_SAMPLE ? (int32_t)r->sample.event : -1;
		list_insert(&ch->list, i, l);
		return;
	}
}

static void put_total(struct change *ch, const struct slice *s,
		      const struct item *gone)
{
	struct record *l = own(ch, gone->rec);
	const struct source *src = s->cap->src;

	memset(&l->lost, 0, sizeof(l->lost));
	l->kind = REC_LOST_TOTAL;
	l->flags = REC_F_UNTIMED | REC_F_SYNTH;
	l->time = 0;
	l->pid = l->tid = -1;
	l->lost.n = 1;
	l->lost.event = -1;
	for (uint32_t i = 0; i < src->n_events; i++)
		if (src->events[i].defer_output)
			l->lost.event = (int32_t)i;
	if (gone->rec->kind == REC_SAMPLE)
		l->lost.event = (int32_t)gone->rec->sample.event;
	list_insert(&ch->list, 0, l);
}

static bool make_one(struct change *ch, const struct slice *s, enum kind kind,
		     uint64_t *seed)
{
	ch->kinds |= 1u << kind;
	switch (kind) {
	case CHANGE_CHAIN:
	case CHANGE_SAMPLES:
	case CHANGE_COOKIE:
	case CHANGE_FIRST:
	case CHANGE_OTHER:
		return cookie_gone(ch, s, kind, seed);
	case CHANGE_EXIT:
	case CHANGE_FORK:
	case CHANGE_MAP:
	case CHANGE_COMM:
		return state_gone(ch, s, kind, seed);
	case CHANGE_TID:
	case CHANGE_TID_NEW:
	case CHANGE_TID_OLD:
		return tid_again(ch, s, kind, seed);
	case CHANGE_WRAP:
		return wrap(ch, s, seed);
	default:
		return kind == CHANGE_NONE;
	}
}

bool change_make(struct change *ch, const struct slice *s, enum kind kind,
		 bool lost, bool totals, uint64_t *seed)
{
	bool two = kind == CHANGE_TWO;
	bool ok = true;

	ch->kind = kind;
	ch->lost = lost;
	ch->totals = totals;
	ch->n_gone = ch->n_cookie = ch->n_tid = 0;
	ch->names = ch->sched = false;
	ch->kinds = 0;
	ch->text[0] = '\0';
	arena_release(&ch->own);
	list_copy(&ch->list, &s->list);
	for (int i = 0; i <= two && ok; i++) {
		ok = false;
		for (int tries = 0; tries < (two ? 8 : 1) && !ok; tries++) {
			if (two)
				kind = CHANGE_CHAIN +
				       rnd_below(seed, CHANGE_WRAP);
			ok = make_one(ch, s, kind, seed);
		}
	}
	if (!ok)
		return false;
	for (size_t i = 0; i < ch->n_gone; i++) {
		if (lost)
			put_lost(ch, &ch->gone[i]);
		if (totals)
			put_total(ch, s, &ch->gone[i]);
	}
	return true;
}

void change_release(struct change *ch)
{
	arena_release(&ch->own);
	free(ch->list.at);
	free(ch->gone);
	*ch = (struct change){ 0 };
}
