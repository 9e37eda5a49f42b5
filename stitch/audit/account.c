/* account.c - counts each lost record of a capture once, with place and time.
 *
 * LOST records in the ring and LOST_SAMPLES at the end report the same drops.
 * Where LOST_SAMPLES has more, the difference was dropped after the last record
 * of its ring. */
#include "stitch/audit/account.h"

#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

#define NEAR 64
/* Most events that can be throttled at the same time; of others only the end is
 * reported. */
#define STOPPED_MAX 4096
/* Most ids whose numbers of lost records are followed, one for each event and
 * CPU or thread. */
#define IDS_MAX 65536

/* include/uapi/linux/perf_event.h: PERF_AUX_FLAG_*; bit 2 is overwrite mode,
 * which is no loss. */
#define AUX_TRUNCATED 1
#define AUX_PARTIAL 4
#define AUX_COLLISION 8

/* A record of a ring. */
struct in_ring {
	int64_t time;
	uint64_t seq;
};

/* The newest records of a ring by time, the newest first; their time is
 * TIME_NONE where there are none. */
#define LAST 4
struct last {
	struct in_ring at[LAST];
};

/* A ring of a CPU. */
struct ring {
	int32_t cpu;
	uint32_t number; /* record.ring */
	struct last last;
	uint64_t lost, total;	      /* sums of LOST, and of LOST_SAMPLES */
	uint64_t placed[LOST_PLACES]; /* of the total */
	/* Bounds of the losses without a number; TIME_NONE: none begins, or
	 * ends, at a known time. */
	int64_t blank_from, blank_to;
};

/* An event that the kernel throttled. */
struct stopped {
	int32_t cpu, event; /* event -1: unknown */
	uint64_t id, stream_id;
	int64_t since;
	uint64_t off;
};

/* The number of lost records of a counter, by its last sample. */
struct reading {
	uint64_t lost;
	int64_t time;
};

struct per_source {
	const struct source *src;
	struct ring *ring; /* rings with number 0, by CPU */
	size_t n_ring, cap_ring;
	struct ring *more; /* the other rings */
	size_t n_more, cap_more;
	struct table by_number; /* index of more */
	struct ring all;	/* sums of all records */
	int64_t newest;		/* time of any record; TIME_NONE: none */
	struct ring stray;	/* sums of records without a CPU */
	struct stopped *stopped;
	size_t n_stopped, cap_stopped;
	struct table by_event; /* index of stopped */
	struct reading *reading;
	size_t n_reading, cap_reading;
	struct table by_id;  /* index of reading */
	uint32_t near[NEAR]; /* index of more that a CPU had last */
};

struct account {
	struct ledger *ledger;
	struct losses *losses;
	struct per_source *src;
	size_t n_src, cap_src;
};

static const struct ring no_ring = {
	.cpu = -1,
	.blank_from = TIME_NONE,
	.blank_to = TIME_NONE,
	.last = { { { TIME_NONE, 0 },
		    { TIME_NONE, 0 },
		    { TIME_NONE, 0 },
		    { TIME_NONE, 0 } } },
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
		free_all(ac->src[i].ring, ac->src[i].more);
		table_release(&ac->src[i].by_number);
		free(ac->src[i].stopped);
		table_release(&ac->src[i].by_event);
		free(ac->src[i].reading);
		table_release(&ac->src[i].by_id);
	}
	free_all(ac->src, ac);
}

void account_source(struct account *ac, uint16_t index,
		    const struct source *src)
{
	mem_at(ac->src, ac->n_src, ac->cap_src, index)->src = src;
	ac->src[index].all = ac->src[index].stray = no_ring;
	ac->src[index].newest = TIME_NONE;
}

static bool same_ring(const void *owner, uint32_t i, const void *key)
{
	const struct ring *a = &((const struct per_source *)owner)->more[i];
	const struct record *b = key;

	return a->cpu == b->cpu && a->number == b->ring;
}

static inline uint32_t *account_near(struct per_source *ps,
				     const struct record *rec)
{
	return &ps->near[(uint32_t)rec->cpu % NEAR];
}

/* Returns ring i of all rings; NULL after the last. */
static const struct ring *account_ring_at(const struct per_source *ps, size_t i)
{
	if (i < ps->n_ring)
		return &ps->ring[i];
	return i - ps->n_ring < ps->n_more ? &ps->more[i - ps->n_ring] : NULL;
}

static __attribute__((noinline)) struct ring *
account_new_ring(struct per_source *ps, const struct record *rec)
{
	int32_t cpu = rec->cpu;

	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	if (rec->ring) {
		uint32_t *near = account_near(ps, rec);
		uint64_t h = hash_pair((uint32_t)rec->cpu, rec->ring);
		uint32_t i = table_find(&ps->by_number, h, same_ring, ps, rec);

		if (i != TABLE_NONE) {
			*near = i;
			return &ps->more[i];
		}
		table_add(&ps->by_number, h, (uint32_t)ps->n_more);
		struct ring *r = mem_add(ps->more, ps->n_more, ps->cap_more);

		*r = no_ring;
		r->cpu = rec->cpu;
		r->number = rec->ring;
		return r;
	}
	size_t n = (size_t)cpu + 1;

	if (n > ps->n_ring) {
		mem_grow(ps->ring, ps->cap_ring, n);
		for (size_t i = ps->n_ring; i < n; i++) {
			ps->ring[i] = no_ring;
			ps->ring[i].cpu = (int32_t)i;
		}
		ps->n_ring = n;
	}
	return &ps->ring[cpu];
}

/* Returns the ring of a record; NULL if its CPU is unknown. */
static inline struct ring *account_ring_of(struct per_source *ps,
					   const struct record *rec)
{
	uint32_t near = *account_near(ps, rec);

	if (rec->ring && near < ps->n_more && same_ring(ps, near, rec))
		return &ps->more[near];
	return !rec->ring && (uint32_t)rec->cpu < ps->n_ring
		       ? &ps->ring[rec->cpu]
		       : account_new_ring(ps, rec);
}

static struct ledger_entry account_entry(uint16_t source, const char *what,
					 int32_t cpu, int64_t t0, int64_t t1)
{
	return (struct ledger_entry){
		.kind = LEDGER_LOSS,
		.capture = source,
		.what = what,
		.t0 = t0 == TIME_NONE ? 0 : (uint64_t)t0,
		.t1 = t1 == TIME_NONE ? 0 : (uint64_t)t1,
		.on_line = true,
		.cpu = cpu,
		.event = -1,
	};
}

/* Returns an entry about a record. */
static struct ledger_entry account_record_entry(const struct record *rec,
						const char *what, int64_t t0,
						int64_t t1)
{
	struct ledger_entry e =
		account_entry(rec->source, what, rec->cpu, t0, t1);

	e.off = rec->off;
	return e;
}

bool account_explains(const char *what)
{
	static const char *const kinds[] = {
		"lost",	     "lost_end", "dropped",	"not_here",
		"read_lost", "hardware", "overwritten", "damage",
	};

	return any_where(ARRAY_SIZE(kinds), i, !strcmp(what, kinds[i]));
}

/* Adds the loss with this id to those that explain missing records. */
static void account_explain(struct account *ac, uint16_t source, uint32_t id,
			    int32_t cpu, int64_t t0, int64_t t1)
{
	const struct loss l = { id, cpu, t0, t1 };

	losses_add(ac->losses, source, &l);
}

/* Adds an entry that explains records missing between two times. */
static void account_add(struct account *ac, const struct ledger_entry *e,
			int64_t t0, int64_t t1)
{
	account_explain(ac, (uint16_t)e->capture, ledger_add(ac->ledger, e),
			e->cpu, t0, t1);
}

/* Narrows a loss to the records around it in their ring. The kernel writes LOST
 * with the record that follows it, and takes the time of LOST later than that
 * of the record, which then comes first in the order of times.
 *
 * A CPU without records may have lost some from the start. If records do not
 * tell their CPU (a session of some tasks with one event), any ring may have
 * lost records, and its last record may be as old as the capture, because the
 * ring reports its loss only with its next record. */
static void lost_between(struct per_source *ps, const struct record *rec,
			 int64_t *t0, int64_t *t1)
{
	const struct ring *r = account_ring_of(ps, rec);
	const struct in_ring *before = NULL, *behind = NULL;

	*t0 = TIME_NONE;
	*t1 = record_time(rec);
	if (!r || *t1 == TIME_NONE)
		return;
	for (size_t i = 0; i < LAST; i++) {
		const struct in_ring *at = &r->last.at[i];

		if (at->time == TIME_NONE)
			break;
		if (at->seq > rec->seq) {
			if (!behind || at->seq < behind->seq)
				behind = at;
		} else if (at->time < *t1 &&
			   (!before || at->seq > before->seq)) {
			before = at;
		}
	}
	if (behind)
		*t1 = behind->time;
	if (before && before->time < *t1) {
		*t0 = before->time;
	} else if (before) { /* an interrupt wrote in between */
		*t0 = *t1 - 1;
		*t1 = before->time;
	}
}

/* Takes a LOST record: the ring was full, or the processor dropped samples. */
static void account_lost(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	bool hardware = rec->flags & REC_F_HARDWARE;
	const bool before = rec->lost.place == LOST_BEFORE;
	struct ring *r = account_ring_of(ps, rec);
	int64_t t0, t1;

	lost_between(ps, rec, &t0, &t1);
	if (rec->lost.has_since && rec->lost.since <= INT64_MAX) {
		t0 = (int64_t)rec->lost.since;
		t1 = record_time(rec);
	}
	struct ledger_entry e = account_record_entry(rec,
						     hardware ? "hardware"
						     : before ? "overwritten"
							      : "lost",
						     t0, t1);

	e.n = rec->lost.n;
	e.counts = !before;
	/* a LOST record has the event of the record that follows it */
	if (hardware)
		e.event = rec->lost.event;
	account_add(ac, &e, t0, t1);
	if (hardware || before)
		return;
	ledger_add_up(&ps->all.lost, rec->lost.n);
	ledger_add_up(r ? &r->lost : &ps->stray.lost, rec->lost.n);
	if (!r || rec->lost.n)
		return;
	if (r->blank_to == TIME_NONE)
		r->blank_from = t0;
	r->blank_to = t1;
}

/* Takes the number of lost records of a counter from a sample; adds a loss if
 * it grew. */
static void account_reading(struct account *ac, const struct record *rec,
			    uint64_t id, uint64_t lost)
{
	struct per_source *ps = &ac->src[rec->source];
	const struct reading now = { lost, record_time(rec) };
	/* inherited copies have the id of their counter, but counts of their
	 * own: 0, as only the counter's own thread counts what was lost */
	uint64_t h = rec->sample.of_task ? hash_pair(id, (uint32_t)rec->tid)
					 : hash_u64(id);
	uint32_t at = table_find_hash(&ps->by_id, h);

	if (at == TABLE_NONE && ps->n_reading == IDS_MAX)
		return;
	if (at == TABLE_NONE) {
		table_add(&ps->by_id, h, (uint32_t)ps->n_reading);
		*mem_add(ps->reading, ps->n_reading, ps->cap_reading) = now;
		return;
	}
	const struct reading was = ps->reading[at];

	ps->reading[at] = now;
	if (lost <= was.lost)
		return;
	struct ledger_entry e =
		account_record_entry(rec, "read_lost", was.time, now.time);

	e.n = lost - was.lost;
	account_add(ac, &e, was.time, now.time);
}

static uint64_t extra_of(const struct record *rec, const char *name)
{
	for (uint32_t i = 0; i < rec->mark.n_extra; i++)
		if (!strcmp(rec->mark.extra[i].name, name))
			return rec->mark.extra[i].value;
	return 0;
}

static struct stopped stopped_of(const struct record *rec, int64_t since)
{
	return (struct stopped){
		.cpu = rec->cpu,
		.event = (int32_t)rec->mark.event - 1,
		.id = extra_of(rec, "id"),
		.stream_id = extra_of(rec, "stream_id"),
		.since = since,
		.off = rec->off,
	};
}

static uint64_t stopped_hash(const struct stopped *s)
{
	const uint64_t key[] = { s->id, s->stream_id, (uint32_t)s->cpu };

	return hash_u64s(key, 3, 0);
}

SAME_BY(same_stopped, struct per_source, stopped[id], struct stopped, cpu, id,
	stream_id);

static void push_stopped(struct account *ac, uint16_t source,
			 const struct stopped *s, int64_t until)
{
	struct ledger_entry e =
		account_entry(source, "throttled", s->cpu, s->since, until);

	e.off = s->off;
	e.event = s->event;
	ledger_add(ac->ledger, &e);
}

/* Takes an UNTHROTTLE record. If the start is missing, the event was throttled
 * before the capture began, or the THROTTLE record was lost. */
static void account_unthrottle(struct account *ac, const struct record *rec)
{
	struct per_source *ps = &ac->src[rec->source];
	struct stopped s = stopped_of(rec, TIME_NONE);
	uint32_t i = table_find(&ps->by_event, stopped_hash(&s), same_stopped,
				ps, &s);

	if (i != TABLE_NONE) {
		s = ps->stopped[i];
		/* Removes entry i; the last entry takes its place. */
		uint32_t last = (uint32_t)--ps->n_stopped;

		table_remove(&ps->by_event, stopped_hash(&ps->stopped[i]), i);
		if (i != last) {
			uint64_t h = stopped_hash(&ps->stopped[last]);

			table_remove(&ps->by_event, h, last);
			ps->stopped[i] = ps->stopped[last];
			table_add(&ps->by_event, h, i);
		}
	}
	push_stopped(ac, rec->source, &s, record_time(rec));
}

/* Adds a loss before t for a ring that overwrites. If it is unknown whether the
 * ring was ever full, the loss explains nothing: the join considers the
 * capture's mode itself, as a last resort. */
static __attribute__((noinline)) void
push_overwritten(struct account *ac, const struct record *rec, int64_t t)
{
	const struct ledger_entry e = account_entry(rec->source, "overwritten",
						    rec->cpu, TIME_NONE, t);
	uint32_t id = ledger_add(ac->ledger, &e);

	if (ac->src[rec->source].src->info.overwrote)
		account_explain(ac, rec->source, id, rec->cpu, TIME_NONE, t);
}

/* Takes the losses that a record reports. If it were part of account_record(),
 * that would save and restore all its registers for each sample. */
static __attribute__((noinline)) void
account_take_reported(struct account *ac, const struct record *rec)
{
	if (rec->kind == REC_SAMPLE) {
		/* A sample that reads its counters may contain, for each event
		 * of its group, how many records of that event were dropped so
		 * far (PERF_FORMAT_LOST, Linux 6.0). If the number grows from
		 * one sample to the next, records of that event were dropped in
		 * between. LOST records report the same drops for the whole
		 * ring. */
		const struct rec_sample *s = &rec->sample;
		uint64_t id = 0;

		for (uint32_t i = 0; i < s->n_extra; i++) {
			const struct extra *x = &s->extra[i];
			const char *last = strrchr(x->name, '.');

			if (!last || strncmp(x->name, "read.", 5) != 0)
				continue;
			if (!strcmp(last, ".id"))
				id = x->value;
			else if (!strcmp(last, ".lost"))
				account_reading(ac, rec, id, x->value);
		}
	} else if (rec->kind == REC_LOST) {
		/* a duplicate record is not a second loss */
		if (!(rec->flags & REC_F_DUPLICATE))
			account_lost(ac, rec);
	} else if (rec->kind == REC_LOST_TOTAL) {
		struct per_source *ps = &ac->src[rec->source];
		bool filtered = rec->flags & REC_F_FILTERED;
		struct ring *r = account_ring_of(ps, rec);
		struct ledger_entry e = account_record_entry(
			rec, filtered ? "filtered" : "lost_total", TIME_NONE,
			TIME_NONE);

		e.n = rec->lost.n;
		e.event = rec->lost.event;
		ledger_add(ac->ledger, &e);
		if (filtered)
			return;
		ledger_add_up(&ps->all.total, rec->lost.n);
		ledger_add_up(r ? &r->total : &ps->stray.total, rec->lost.n);
		if (r)
			ledger_add_up(&r->placed[rec->lost.place], rec->lost.n);
	} else if (rec->kind == REC_MARK) {
		const char *name = rec->mark.name;

		if (!name || rec->flags & REC_F_DUPLICATE)
			return;
		if (!strcmp(name, "throttle")) {
			struct per_source *ps = &ac->src[rec->source];
			struct stopped s = stopped_of(rec, record_time(rec));
			uint64_t h = stopped_hash(&s);

			if (ps->n_stopped >= STOPPED_MAX ||
			    table_find(&ps->by_event, h, same_stopped, ps,
				       &s) != TABLE_NONE)
				return;
			table_add(&ps->by_event, h, (uint32_t)ps->n_stopped);
			*mem_add(ps->stopped, ps->n_stopped, ps->cap_stopped) =
				s;
		} else if (!strcmp(name, "unthrottle"))
			account_unthrottle(ac, rec);
		else if (!strcmp(name, "aux")) {
			uint64_t flags = extra_of(rec, "flags");
			int64_t t = record_time(rec);
			struct ledger_entry e =
				account_record_entry(rec, "aux", t, t);

			if (!(flags &
			      (AUX_TRUNCATED | AUX_PARTIAL | AUX_COLLISION)))
				return;
			ledger_add(ac->ledger, &e);
		}
	}
}

void account_record(struct account *ac, const struct record *rec)
{
	int64_t t = record_time(rec);

	if (rec->kind != REC_SAMPLE || rec->sample.n_extra)
		account_take_reported(ac, rec);
	if (t != TIME_NONE) {
		struct per_source *ps = &ac->src[rec->source];
		struct ring *r = account_ring_of(ps, rec);
		const struct source_info *info = &ps->src->info;

		if ((info->overwrite || info->overwrote) &&
		    (r ? r->last.at[0].time : ps->newest) == TIME_NONE)
			push_overwritten(ac, rec, t);
		raise_to(ps->newest, t);
		if (r) {
			/* Records of equal times are one, as long as their
			 * order in the ring is not known. */
			const struct in_ring now = { t, rec->seq };

			if (t < r->last.at[0].time ||
			    (t == r->last.at[0].time && !rec->seq))
				return;
			memmove(&r->last.at[1], &r->last.at[0],
				(LAST - 1) * sizeof(r->last.at[0]));
			r->last.at[0] = now;
		}
	}
}

/* Returns the end of a loss that lasts to the end of the capture; TIME_NONE if
 * the capture has no times. */
static int64_t account_loss_end(const struct per_source *ps)
{
	return ps->newest == TIME_NONE ? TIME_NONE : INT64_MAX;
}

/* Adds n records that are missing at a time; 0: their number is not known. */
static void push_lost(struct account *ac, struct ledger_entry e, uint64_t n,
		      int64_t t0, int64_t t1)
{
	e.n = n;
	e.counts = n != 0;
	account_add(ac, &e, t0, t1);
}

static void push_lost_end(struct account *ac, uint16_t source, int32_t cpu,
			  int64_t since, uint64_t n)
{
	const struct per_source *ps = &ac->src[source];
	int64_t last = ps->newest;
	/* If the ring has the last record of all, the drops follow all records.
	 */
	push_lost(ac,
		  account_entry(source, "lost_end", cpu, since,
				last > since ? last : TIME_NONE),
		  n, since, account_loss_end(ps));
}

/* Adds the recorder's number of overwritten records. Each ring has its own
 * entry for the time before its first record. */
static void push_overwrote(struct account *ac, uint16_t source, int32_t cpu,
			   uint64_t n)
{
	struct ledger_entry e =
		account_entry(source, "overwritten", cpu, TIME_NONE, TIME_NONE);

	e.n = n;
	e.counts = true;
	if (n)
		ledger_add(ac->ledger, &e);
}

/* Adds the drops that only LOST_SAMPLES reports. Both it and LOST report the
 * same drops, so the sum of all entries must be the larger of the two, even if
 * one CPU reported more than the recorder did. */
static void end_lost(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	uint64_t left =
		ps->all.total > ps->all.lost ? ps->all.total - ps->all.lost : 0;

	const bool known = !ps->stray.total && !ps->stray.lost;
	const struct ring *r;

	if (ps->src->info.overwrote) {
		for (size_t i = 0; known && (r = account_ring_at(ps, i)); i++) {
			uint64_t n =
				r->total > r->lost ? r->total - r->lost : 0;

			lower_to(n, left);
			push_overwrote(ac, source, r->cpu, n);
			left -= n;
		}
		push_overwrote(ac, source, -1, left);
		return;
	}
	if (!known) {
		/* Any ring lost them; its last record may be old. */
		if (left)
			push_lost_end(ac, source, -1, TIME_NONE, left);
		return;
	}
	for (size_t i = 0; (r = account_ring_at(ps, i)); i++) {
		uint64_t n = r->total > r->lost ? r->total - r->lost : 0;

		if (!n)
			continue;
		lower_to(n, left);
		left -= n;
		const uint64_t within =
			n < r->placed[LOST_WITHIN] ? n : r->placed[LOST_WITHIN];
		const uint64_t before = n - within < r->placed[LOST_BEFORE]
						? n - within
						: r->placed[LOST_BEFORE];
		const uint64_t away = n - within - before < r->placed[LOST_READ]
					      ? n - within - before
					      : r->placed[LOST_READ];

		if (within)
			push_lost(ac,
				  account_entry(source, "dropped", r->cpu,
						TIME_NONE, TIME_NONE),
				  within, TIME_NONE, account_loss_end(ps));
		if (away)
			push_lost(ac,
				  account_entry(source, "not_here", r->cpu,
						TIME_NONE, TIME_NONE),
				  away, TIME_NONE, account_loss_end(ps));
		if (before) {
			/* A ring overwrote records before one of its records:
			 * at a loss without a number, if there is one. */
			bool blank = r->blank_to != TIME_NONE;
			int64_t t0 = blank ? r->blank_from : TIME_NONE;
			int64_t t1 = blank ? r->blank_to : r->last.at[0].time;

			push_lost(ac,
				  account_entry(source, "lost", r->cpu, t0, t1),
				  before, t0, t1);
		}
		if (n > within + before + away || !n)
			push_lost_end(ac, source, r->cpu, r->last.at[0].time,
				      n - within - before - away);
	}
}

/* All rings lost what followed their last record in the file. */
static void push_cut(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	const struct ledger_entry e =
		account_entry(source, "damage", -1, ps->newest, TIME_NONE);
	uint32_t id = ledger_add(ac->ledger, &e);

	account_explain(ac, source, id, -1, ps->newest, account_loss_end(ps));
	const struct ring *r;

	for (size_t i = 0; (r = account_ring_at(ps, i)); i++)
		if (r->last.at[0].time != TIME_NONE)
			account_explain(ac, source, id, r->cpu,
					r->last.at[0].time, INT64_MAX);
}

/* Adds the losses that damage in the file's bytes may have caused. */
static void end_damage(struct account *ac, uint16_t source)
{
	const struct per_source *ps = &ac->src[source];
	struct ledger_broken d = { 0 };

	ledger_broken(ac->ledger, source, &d);
	for (size_t i = 0; i < d.n; i++) {
		int64_t t =
			d.time[i] > INT64_MAX ? INT64_MAX : (int64_t)d.time[i];
		struct ledger_entry e =
			account_entry(source, "damage", -1, t - 1, t);

		e.n = 1;
		account_add(ac, &e, t - 1, t);
	}
	/* A recorder that was killed did not read its rings to the end. */
	if (d.end || ps->src->info.truncated)
		push_cut(ac, source);
	if (d.anywhere) {
		const struct ledger_entry e = account_entry(
			source, "damage", -1, TIME_NONE, TIME_NONE);

		account_add(ac, &e, TIME_NONE, TIME_NONE);
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
				     ps->newest);
		end_lost(ac, (uint16_t)i);
		end_damage(ac, (uint16_t)i);
	}
}
