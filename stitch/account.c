/* account.c - what a capture lost, where and when, with each drop counted
 * once. */
#include "stitch/account.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/ledger.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/stitch.h"

#define CPU_MAX 65536

/* Times of the newest record and of the newest one before that time: a LOST
 * record has the time of its follower, which may be ordered before it. */
struct last {
	int64_t at, before;
};

struct per_source {
	struct last *last; /* by cpu */
	size_t n_last;
	struct last last_any;
};

struct account {
	struct ledger *ledger;
	struct losses *losses;
	struct per_source *src;
	size_t n_src, cap_src;
};

struct account *account_new(struct ledger *lg, struct losses *ls)
{
	struct account *ac = mem_new(1, sizeof(*ac));

	ac->ledger = lg;
	ac->losses = ls;
	return ac;
}

void account_free(struct account *ac)
{
	if (!ac)
		return;
	for (size_t i = 0; i < ac->n_src; i++)
		free(ac->src[i].last);
	free(ac->src);
	free(ac);
}

void account_source(struct account *ac, uint16_t index,
		    const struct source *src)
{
	size_t old = ac->n_src;

	(void)src;
	if (index < old)
		return;
	ac->src = mem_grow(ac->src, &ac->cap_src, index + 1u, sizeof(*ac->src));
	memset(ac->src + old, 0, (index + 1u - old) * sizeof(*ac->src));
	ac->n_src = index + 1u;
	for (size_t i = old; i < ac->n_src; i++)
		ac->src[i].last_any = (struct last){ TIME_NONE, TIME_NONE };
}

static int64_t time_of(const struct record *rec)
{
	if (rec->flags & REC_F_UNTIMED || rec->time > INT64_MAX)
		return TIME_NONE;
	return (int64_t)rec->time;
}

static void note_time(struct last *l, int64_t t)
{
	if (t <= l->at)
		return;
	l->before = l->at;
	l->at = t;
}

static void note_cpu(struct per_source *ps, const struct record *rec, int64_t t)
{
	note_time(&ps->last_any, t);
	if (rec->cpu < 0 || rec->cpu >= CPU_MAX)
		return;
	size_t cpu = (size_t)rec->cpu;

	if (cpu >= ps->n_last) {
		size_t cap = 0;
		size_t old = ps->n_last;

		ps->last =
			mem_grow(ps->last, &cap, cpu + 16, sizeof(*ps->last));
		for (size_t i = old; i < cap; i++)
			ps->last[i] = (struct last){ TIME_NONE, TIME_NONE };
		ps->n_last = cap;
	}
	note_time(&ps->last[cpu], t);
}

/* Where the drops began: at the last record of the same ring. Its CPU may be
 * unknown (per-task captures with one event): then at the last record. */
static void take_lost(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	int64_t t1 = time_of(rec);
	struct last last = ps->last_any;

	/* A CPU that nothing was seen of may have lost from the start. */
	if (rec->cpu >= 0)
		last = (struct last){ TIME_NONE, TIME_NONE };
	if (rec->cpu >= 0 && (size_t)rec->cpu < ps->n_last)
		last = ps->last[rec->cpu];
	int64_t t0 = last.at < t1 ? last.at : last.before;

	struct ledger_entry e = {
		.kind = LEDGER_LOSS,
		.capture = rec->source,
		.what = "lost",
		.off = rec->off,
		.t0 = t0 == TIME_NONE ? 0 : (uint64_t)t0,
		.t1 = t1 == TIME_NONE ? 0 : (uint64_t)t1,
		.n = rec->lost.n,
		.counts = true,
		.cpu = rec->cpu,
		.event = -1,
	};
	const struct loss l = { ledger_add(ac->ledger, &e), rec->cpu, t0, t1 };

	losses_add(ac->losses, rec->source, &l);
}

static void take_lost_total(struct account *ac, const struct record *rec)
{
	bool filtered = rec->flags & REC_F_FILTERED;
	struct ledger_entry e = {
		.kind = LEDGER_LOSS,
		.capture = rec->source,
		.what = filtered ? "filtered" : "lost_total",
		.off = rec->off,
		.n = rec->lost.n,
		.cpu = rec->cpu,
		.event = rec->lost.event,
	};

	ledger_add(ac->ledger, &e);
}

void account_record(struct account *ac, const struct record *rec)
{
	int64_t t = time_of(rec);

	/* what was written twice was not lost twice */
	if (rec->kind == REC_LOST && !(rec->flags & REC_F_DUPLICATE))
		take_lost(ac, rec);
	else if (rec->kind == REC_LOST_TOTAL)
		take_lost_total(ac, rec);
	if (t != TIME_NONE)
		note_cpu(&ac->src[rec->source], rec, t);
}

void account_end(struct account *ac)
{
	(void)ac;
}
