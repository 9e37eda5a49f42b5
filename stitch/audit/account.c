/* account.c - what a capture lost, where and when, with each drop counted
 * once.
 *
 * The same drops are told twice, by LOST in the ring and by LOST_SAMPLES at
 * the end: what the second tells beyond the first was dropped after the last
 * record of its ring. */
#include "stitch/audit/account.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/audit/readings.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

#define CPU_MAX 65536
/* Events that are stopped at one time; of more only the end is told. */
#define STOPPED_MAX 4096

/* include/uapi/linux/perf_event.h: PERF_AUX_FLAG_*; bit 2 is overwrite mode,
 * which is no loss. */
#define AUX_TRUNCATED 1
#define AUX_PARTIAL 4
#define AUX_COLLISION 8

/* Times of the newest record and of the newest one before that time: a LOST
 * record has the time of its follower, which may be ordered before it. */
struct last {
	int64_t at, before;
};

/* One ring, as far as records say their CPU. */
struct ring {
	int32_t cpu;
	uint32_t number; /* record.ring */
	struct last last;
	uint64_t lost, total; /* by LOST; by LOST_SAMPLES */
};

/* An event that the kernel stopped. */
struct stopped {
	int32_t cpu, event; /* event -1: not said */
	uint64_t id, stream_id;
	int64_t since;
	uint64_t off;
};

struct per_source {
	const struct source *src;
	struct ring *ring; /* number 0: by CPU */
	size_t n_ring, cap_ring;
	struct ring *more; /* the others */
	size_t n_more, cap_more;
	struct table by_number; /* of more */
	struct ring all;	/* every record */
	struct ring stray;	/* sums of records that do not say their CPU */
	struct stopped *stopped;
	size_t n_stopped, cap_stopped;
	struct table by_event; /* of stopped */
	struct readings *readings;
};

struct account {
	struct ledger *ledger;
	struct losses *losses;
	struct per_source *src;
	size_t n_src, cap_src;
};

static const struct ring no_ring = {
	.cpu = -1,
	.last = { TIME_NONE, TIME_NONE },
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
	for (size_t i = 0; i < ac->n_src; i++) {
		free(ac->src[i].ring);
		free(ac->src[i].more);
		table_release(&ac->src[i].by_number);
		free(ac->src[i].stopped);
		table_release(&ac->src[i].by_event);
		readings_free(ac->src[i].readings);
	}
	free(ac->src);
	free(ac);
}

void account_source(struct account *ac, uint16_t index,
		    const struct source *src)
{
	ac->src = mem_reach(ac->src, &ac->n_src, &ac->cap_src, index + 1u,
			    sizeof(*ac->src));
	ac->src[index].src = src;
	ac->src[index].all = ac->src[index].stray = no_ring;
}

static void add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

static bool same_ring(const void *owner, uint32_t i, const void *key)
{
	const struct ring *a = &((const struct per_source *)owner)->more[i];
	const struct record *b = key;

	return a->cpu == b->cpu && a->number == b->ring;
}

static struct ring *more_ring(struct per_source *ps, const struct record *rec)
{
	uint64_t h = hash_pair((uint32_t)rec->cpu, rec->ring);
	uint32_t i = table_find(&ps->by_number, h, same_ring, ps, rec);

	if (i != TABLE_NONE)
		return &ps->more[i];
	ps->more = mem_grow(ps->more, &ps->cap_more, ps->n_more + 1,
			    sizeof(*ps->more));
	ps->more[ps->n_more] = no_ring;
	ps->more[ps->n_more].cpu = rec->cpu;
	ps->more[ps->n_more].number = rec->ring;
	table_add(&ps->by_number, h, (uint32_t)ps->n_more);
	return &ps->more[ps->n_more++];
}

/* All rings, one after the other. */
static const struct ring *ring_at(const struct per_source *ps, size_t i)
{
	if (i < ps->n_ring)
		return &ps->ring[i];
	return i - ps->n_ring < ps->n_more ? &ps->more[i - ps->n_ring] : NULL;
}

/* NULL: the CPU is not known. */
static struct ring *ring_of(struct per_source *ps, const struct record *rec)
{
	int32_t cpu = rec->cpu;

	if (cpu < 0 || cpu >= CPU_MAX)
		return NULL;
	if (rec->ring)
		return more_ring(ps, rec);
	size_t n = (size_t)cpu + 1;

	if (n > ps->n_ring) {
		ps->ring =
			mem_grow(ps->ring, &ps->cap_ring, n, sizeof(*ps->ring));
		for (size_t i = ps->n_ring; i < n; i++) {
			ps->ring[i] = no_ring;
			ps->ring[i].cpu = (int32_t)i;
		}
		ps->n_ring = n;
	}
	return &ps->ring[cpu];
}

/* ---- entries */

static struct ledger_entry entry(uint16_t source, const char *what, int64_t t0,
				 int64_t t1)
{
	return (struct ledger_entry){
		.kind = LEDGER_LOSS,
		.capture = source,
		.what = what,
		.t0 = t0 == TIME_NONE ? 0 : (uint64_t)t0,
		.t1 = t1 == TIME_NONE ? 0 : (uint64_t)t1,
		.on_line = true,
		.cpu = -1,
		.event = -1,
	};
}

/* Of this entry's number, as an explanation of what is missing. */
static void explain(struct account *ac, uint16_t source, uint32_t id,
		    int32_t cpu, int64_t t0, int64_t t1)
{
	const struct loss l = { id, cpu, t0, t1 };

	losses_add(ac->losses, source, &l);
}

/* ---- records dropped for want of room, or by the processor */

/* Where the drops began: at the last record of the same ring. A CPU that
 * nothing was seen of may have lost from the start. Where records do not say
 * their CPU (a session of some tasks with one event) any ring may have lost,
 * and the last record of that ring may be as old as the capture: the ring is
 * told of its loss only when it gets its next record. */
static int64_t lost_since(struct per_source *ps, const struct record *rec,
			  int64_t t1)
{
	const struct ring *r = ring_of(ps, rec);

	if (!r || t1 == TIME_NONE)
		return TIME_NONE;
	return r->last.at < t1 ? r->last.at : r->last.before;
}

static void take_lost(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	bool hardware = rec->flags & REC_F_HARDWARE;
	struct ring *r = ring_of(ps, rec);
	int64_t t1 = record_time(rec);
	int64_t t0 = rec->lost.has_since && rec->lost.since <= INT64_MAX
			     ? (int64_t)rec->lost.since
			     : lost_since(ps, rec, t1);
	struct ledger_entry e =
		entry(rec->source, hardware ? "hardware" : "lost", t0, t1);

	e.off = rec->off;
	e.n = rec->lost.n;
	e.counts = true;
	e.cpu = rec->cpu;
	/* of LOST it is the event of the record that came next */
	if (hardware)
		e.event = rec->lost.event;
	explain(ac, rec->source, ledger_add(ac->ledger, &e), rec->cpu, t0, t1);
	if (hardware)
		return;
	add_to(&ps->all.lost, rec->lost.n);
	add_to(r ? &r->lost : &ps->stray.lost, rec->lost.n);
}

static void take_lost_total(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	bool filtered = rec->flags & REC_F_FILTERED;
	struct ring *r = ring_of(ps, rec);
	struct ledger_entry e =
		entry(rec->source, filtered ? "filtered" : "lost_total",
		      TIME_NONE, TIME_NONE);

	e.off = rec->off;
	e.n = rec->lost.n;
	e.cpu = rec->cpu;
	e.event = rec->lost.event;
	ledger_add(ac->ledger, &e);
	if (filtered)
		return;
	add_to(&ps->all.total, rec->lost.n);
	add_to(r ? &r->total : &ps->stray.total, rec->lost.n);
}

struct reader {
	struct account *ac;
	const struct record *rec;
};

static void take_reading(void *arg, uint64_t n, int64_t since)
{
	const struct reader *rd = arg;
	const struct record *rec = rd->rec;
	int64_t t1 = record_time(rec);
	struct ledger_entry e = entry(rec->source, "read_lost", since, t1);

	e.off = rec->off;
	e.n = n;
	e.cpu = rec->cpu;
	explain(rd->ac, rec->source, ledger_add(rd->ac->ledger, &e), rec->cpu,
		since, t1);
}

static void take_sample(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	struct reader rd = { ac, rec };

	if (!rec->sample.n_extra)
		return;
	if (!ps->readings)
		ps->readings = readings_new();
	readings_sample(ps->readings, &rec->sample, record_time(rec),
			take_reading, &rd);
}

/* ---- events that the kernel stopped */

static uint64_t extra_of(const struct record *rec, const char *name)
{
	for (uint32_t i = 0; i < rec->mark.n_extra; i++)
		if (!strcmp(rec->mark.extra[i].name, name))
			return rec->mark.extra[i].value;
	return 0;
}

static uint64_t stopped_hash(const struct stopped *s)
{
	const uint64_t key[] = { s->id, s->stream_id, (uint32_t)s->cpu };

	return hash_u64s(key, 3, 0);
}

static bool same_stopped(const void *owner, uint32_t i, const void *key)
{
	const struct stopped *a =
		&((const struct per_source *)owner)->stopped[i];
	const struct stopped *b = key;

	return a->cpu == b->cpu && a->id == b->id &&
	       a->stream_id == b->stream_id;
}

static void push_stopped(struct account *ac, uint16_t source,
			 const struct stopped *s, int64_t until)
{
	struct ledger_entry e = entry(source, "throttled", s->since, until);

	e.off = s->off;
	e.cpu = s->cpu;
	e.event = s->event;
	ledger_add(ac->ledger, &e);
}

static void take_throttle(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	struct stopped s = {
		.cpu = rec->cpu,
		.event = (int32_t)rec->mark.event - 1,
		.id = extra_of(rec, "id"),
		.stream_id = extra_of(rec, "stream_id"),
		.since = record_time(rec),
		.off = rec->off,
	};
	uint64_t h = stopped_hash(&s);

	if (ps->n_stopped >= STOPPED_MAX ||
	    table_find(&ps->by_event, h, same_stopped, ps, &s) != TABLE_NONE)
		return;
	ps->stopped = mem_grow(ps->stopped, &ps->cap_stopped, ps->n_stopped + 1,
			       sizeof(*ps->stopped));
	ps->stopped[ps->n_stopped] = s;
	table_add(&ps->by_event, h, (uint32_t)ps->n_stopped++);
}

/* Takes one out; the last one gets its place. */
static void forget_stopped(struct per_source *ps, uint32_t i)
{
	uint32_t last = (uint32_t)--ps->n_stopped;

	table_remove(&ps->by_event, stopped_hash(&ps->stopped[i]), i);
	if (i == last)
		return;
	uint64_t h = stopped_hash(&ps->stopped[last]);

	table_remove(&ps->by_event, h, last);
	ps->stopped[i] = ps->stopped[last];
	table_add(&ps->by_event, h, i);
}

/* One whose beginning is not in the capture was stopped before it began, or
 * its record was lost. */
static void take_unthrottle(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	struct stopped s = {
		.cpu = rec->cpu,
		.event = (int32_t)rec->mark.event - 1,
		.id = extra_of(rec, "id"),
		.stream_id = extra_of(rec, "stream_id"),
		.since = TIME_NONE,
		.off = rec->off,
	};
	uint32_t i = table_find(&ps->by_event, stopped_hash(&s), same_stopped,
				ps, &s);

	if (i != TABLE_NONE) {
		s = ps->stopped[i];
		forget_stopped(ps, i);
	}
	push_stopped(ac, rec->source, &s, record_time(rec));
}

static void take_aux(struct account *ac, const struct record *rec)
{
	uint64_t flags = extra_of(rec, "flags");
	int64_t t = record_time(rec);
	struct ledger_entry e = entry(rec->source, "aux", t, t);

	if (!(flags & (AUX_TRUNCATED | AUX_PARTIAL | AUX_COLLISION)))
		return;
	e.off = rec->off;
	e.cpu = rec->cpu;
	ledger_add(ac->ledger, &e);
}

static void take_mark(struct account *ac, const struct record *rec)
{
	const char *name = rec->mark.name;

	if (!name || rec->flags & REC_F_DUPLICATE)
		return;
	if (!strcmp(name, "throttle"))
		take_throttle(ac, rec);
	else if (!strcmp(name, "unthrottle"))
		take_unthrottle(ac, rec);
	else if (!strcmp(name, "aux"))
		take_aux(ac, rec);
}

/* ---- time goes on */

static void note_time(struct last *l, int64_t t)
{
	if (t <= l->at)
		return;
	l->before = l->at;
	l->at = t;
}

/* Where nobody knows whether the ring was full once, it is no explanation:
 * the join asks the capture's mode itself, after all else. */
static void push_overwritten(struct account *ac, const struct record *rec,
			     int64_t t)
{
	struct ledger_entry e = entry(rec->source, "overwritten", TIME_NONE, t);

	e.cpu = rec->cpu;
	uint32_t id = ledger_add(ac->ledger, &e);

	if (ac->src[rec->source].src->info.overwrote)
		explain(ac, rec->source, id, rec->cpu, TIME_NONE, t);
}

static void note_record(struct account *ac, const struct record *rec, int64_t t)
{
	struct per_source *ps = &ac->src[rec->source];
	struct ring *r = ring_of(ps, rec);
	const struct ring *one = r ? r : &ps->all;

	const struct source_info *info = &ps->src->info;

	if ((info->overwrite || info->overwrote) && one->last.at == TIME_NONE)
		push_overwritten(ac, rec, t);
	note_time(&ps->all.last, t);
	if (r)
		note_time(&r->last, t);
}

void account_record(struct account *ac, const struct record *rec)
{
	int64_t t = record_time(rec);

	/* what was written twice was not lost twice */
	if (rec->kind == REC_LOST && !(rec->flags & REC_F_DUPLICATE))
		take_lost(ac, rec);
	else if (rec->kind == REC_LOST_TOTAL)
		take_lost_total(ac, rec);
	else if (rec->kind == REC_MARK)
		take_mark(ac, rec);
	else if (rec->kind == REC_SAMPLE)
		take_sample(ac, rec);
	if (t != TIME_NONE)
		note_record(ac, rec, t);
}

/* ---- the end */

/* To the end of a capture that has times; else at an unknown one. */
static int64_t to_the_end(const struct per_source *ps)
{
	return ps->all.last.at == TIME_NONE ? TIME_NONE : INT64_MAX;
}

static void push_lost_end(struct account *ac, uint16_t source, int32_t cpu,
			  int64_t since, uint64_t n)
{
	const struct per_source *ps = &ac->src[source];
	int64_t last = ps->all.last.at;
	/* the ring that told the last record of all lost what came after it */
	struct ledger_entry e = entry(source, "lost_end", since,
				      last > since ? last : TIME_NONE);

	e.n = n;
	e.cpu = cpu;
	e.counts = n != 0;
	explain(ac, source, ledger_add(ac->ledger, &e), cpu, since,
		to_the_end(ps));
}

/* The recorder's sums go beyond what the rings told. Both sums are of the
 * same drops, so that all entries together must come to the larger one, also
 * where a CPU told of more than the recorder did. */
static void end_lost(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	uint64_t left =
		ps->all.total > ps->all.lost ? ps->all.total - ps->all.lost : 0;

	if (ps->src->info.overwrote) {
		/* of which ring is not known; their windows are there */
		struct ledger_entry e =
			entry(source, "overwritten", TIME_NONE, TIME_NONE);

		e.n = left;
		e.counts = left != 0;
		if (left)
			ledger_add(ac->ledger, &e);
		return;
	}
	if (ps->stray.total || ps->stray.lost) {
		/* any ring, which may have had its last record long ago */
		if (left)
			push_lost_end(ac, source, -1, TIME_NONE, left);
		return;
	}
	const struct ring *r;

	for (size_t i = 0; (r = ring_at(ps, i)); i++) {
		uint64_t n = r->total > r->lost ? r->total - r->lost : 0;

		if (!n)
			continue;
		n = n < left ? n : left;
		left -= n;
		push_lost_end(ac, source, r->cpu, r->last.at, n);
	}
}

/* Each ring is missing what came after its last record that is here. */
static void push_cut(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	struct ledger_entry e =
		entry(source, "damage", ps->all.last.at, TIME_NONE);
	uint32_t id = ledger_add(ac->ledger, &e);

	explain(ac, source, id, -1, ps->all.last.at, to_the_end(ps));
	const struct ring *r;

	for (size_t i = 0; (r = ring_at(ps, i)); i++)
		if (r->last.at != TIME_NONE)
			explain(ac, source, id, r->cpu, r->last.at, INT64_MAX);
}

static void end_damage(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	struct ledger_broken d = { 0 };

	ledger_broken(ac->ledger, source, &d);
	for (size_t i = 0; i < d.n; i++) {
		int64_t t =
			d.time[i] > INT64_MAX ? INT64_MAX : (int64_t)d.time[i];
		struct ledger_entry e = entry(source, "damage", t - 1, t);

		e.n = 1;
		explain(ac, source, ledger_add(ac->ledger, &e), -1, t - 1, t);
	}
	/* a recorder that was killed left its rings as they were */
	if (d.end || ps->src->info.truncated)
		push_cut(ac, source);
	if (d.anywhere) {
		struct ledger_entry e =
			entry(source, "damage", TIME_NONE, TIME_NONE);

		explain(ac, source, ledger_add(ac->ledger, &e), -1, TIME_NONE,
			TIME_NONE);
	}
}

void account_end(struct account *ac)
{
	for (size_t i = 0; i < ac->n_src; i++) {
		struct per_source *ps = &ac->src[i];

		if (!ps->src)
			continue;
		for (size_t k = 0; k < ps->n_stopped; k++)
			push_stopped(ac, (uint16_t)i, &ps->stopped[k],
				     ps->all.last.at);
		end_lost(ac, (uint16_t)i);
		end_damage(ac, (uint16_t)i);
	}
}
