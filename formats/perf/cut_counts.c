/* cut_counts.c - counters in a stream that is cut, so that a piece can be read
 * alone. */
#include "formats/perf/cut_counts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/table.h"

#define RECORD_HEADER 8
#define ATTR_AT 8
#define LOST_AT 16  /* in LOST, behind the id */
#define IDS_AT 16   /* in ID_INDEX, behind their number */
#define ID_WIDTH 32 /* id, index, CPU, thread */
#define ID_CPU_AT 16
#define LOST_SUM_AT 8 /* in LOST_SAMPLES */
/* The shortest record that has a trailer, without it and the header. */
#define BODY_MIN 8
#define EVENTS_MAX 4096
#define IDS_MAX (1u << 20)
/* As many as a reader keeps; what more there is, is not changed. */
#define VALUES_MAX (1u << 20)
#define CPUS_MAX 65536

/* The value of a counter, of a thread if it counts for threads. */
struct cut_value {
	uint64_t id, last, base;
	uint32_t tid;
	uint32_t piece; /* in which base was the last value before it */
};

/* Lost records that a ring told in the piece that is received, and in those
 * before it, less what sums were reduced by. */
struct cut_ring {
	uint64_t now, before;
	uint32_t piece;
};

struct cut_counts {
	bool big, swap, has_reads;
	bool mixed; /* fields are at different places */
	struct perf_attr *event;
	size_t n_event, cap_event;
	struct table by_id;  /* events */
	struct table cpu_of; /* the CPUs of ids */
	struct cut_value *value;
	size_t n_value, cap_value;
	struct table by_key;
	struct cut_ring *ring;
	size_t n_ring, cap_ring;
	unsigned char copy[UINT16_MAX + 1];
};

struct cut_counts *cut_counts_new(bool big_endian)
{
	struct cut_counts *c = mem_new(1, sizeof(*c));

	c->big = big_endian;
	c->swap = bytes_must_swap(big_endian);
	return c;
}

void cut_counts_free(struct cut_counts *c)
{
	if (!c)
		return;
	free(c->event);
	free(c->value);
	free(c->ring);
	table_release(&c->by_id);
	table_release(&c->cpu_of);
	table_release(&c->by_key);
	free(c);
}

static uint64_t cut_counts_u64(const struct cut_counts *c, const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

static void cut_counts_put(const struct cut_counts *c, void *at, uint64_t v)
{
	v = c->swap ? __builtin_bswap64(v) : v;
	memcpy(at, &v, sizeof(v));
}

/* Adds an id to a table, unless it is there or there are too many. */
static void cut_counts_add_id(struct cut_counts *c, struct table *t,
			      const void *id, uint32_t v)
{
	uint64_t h = hash_u64(cut_counts_u64(c, id));

	if (t->n < IDS_MAX && table_find_hash(t, h) == TABLE_NONE)
		table_add(t, h, v);
}

static void cut_counts_attr(struct cut_counts *c, const struct cut_counted *r)
{
	const unsigned char *p = r->data;
	struct perf_attr e = { .size = 0 };
	uint32_t size = UINT32_MAX;

	if (r->size >= ATTR_AT + 48) {
		memcpy(&size, p + ATTR_AT + 4, sizeof(size));
		size = c->swap ? __builtin_bswap32(size) : size;
		e.sample_type = cut_counts_u64(c, p + ATTR_AT + 24);
		e.read_format = cut_counts_u64(c, p + ATTR_AT + 32);
		e.flags = perf_attr_flags(cut_counts_u64(c, p + ATTR_AT + 40),
					  c->big);
		perf_attr_lay_out(&e);
	}
	const struct perf_attr *first = c->n_event ? c->event : &e;

	c->mixed |= first->t_size != e.t_size || first->t_time != e.t_time ||
		    first->t_cpu != e.t_cpu || first->t_id != e.t_id ||
		    first->s_time != e.s_time;
	c->has_reads |= (e.sample_type & PS_READ) && (e.read_format & READ_ID);
	if (c->n_event == EVENTS_MAX)
		return;
	for (size_t at = ATTR_AT + (size_t)size; at + 8 <= r->size; at += 8)
		cut_counts_add_id(c, &c->by_id, p + at, (uint32_t)c->n_event);
	*mem_add(c->event, c->n_event, c->cap_event) = e;
}

static void cut_counts_ids(struct cut_counts *c, const struct cut_counted *r)
{
	const unsigned char *p = r->data;

	for (size_t at = IDS_AT; at + ID_WIDTH <= r->size; at += ID_WIDTH) {
		uint64_t cpu = cut_counts_u64(c, p + at + ID_CPU_AT);

		if (cpu < CPUS_MAX)
			cut_counts_add_id(c, &c->cpu_of, p + at, (uint32_t)cpu);
	}
}

size_t cut_counts_trailer(const struct cut_counts *c)
{
	return c->n_event && !c->mixed ? c->event[0].t_size : 0;
}

void cut_counts_stamp(const struct cut_counts *c, uint32_t type,
		      const struct bytes *b, struct cut_stamp *out)
{
	const struct perf_attr *a = c->event;
	size_t n = bytes_left(b);
	uint32_t cpu = UINT32_MAX;

	*out = (struct cut_stamp){ .cpu = -1 };
	if (!c->n_event || c->mixed || type >= PR_HEADER_ATTR)
		return;
	if (type == PR_SAMPLE) {
		if (a->s_time)
			bytes_peek_u64(b, a->s_time - RECORD_HEADER,
				       &out->time);
	} else if (n >= BODY_MIN + (size_t)a->t_size) {
		if (a->t_time)
			bytes_peek_u64(b, n - a->t_time, &out->time);
		if (a->t_cpu && !bytes_peek_u32(b, n - a->t_cpu, &cpu))
			out->cpu = (int32_t)cpu;
		if (a->t_id)
			bytes_peek_u64(b, n - a->t_id, &out->id);
	}
	if (out->time >= TIME_UNREAL)
		out->time = 0;
}

/* ---- values in samples */

/* Returns the event of a sample, NULL if it is unknown. */
static const struct perf_attr *cut_counts_event(const struct cut_counts *c,
						const struct cut_counted *r)
{
	size_t at = c->event[0].s_id;

	if (c->n_event == 1)
		return c->event;
	if (!at || at + 8 > r->size)
		return NULL;
	uint64_t id = cut_counts_u64(c, (const unsigned char *)r->data + at);
	uint32_t i = table_find_hash(&c->by_id, hash_u64(id));

	return i == TABLE_NONE ? NULL : &c->event[i];
}

static bool cut_counts_is_same(const void *owner, uint32_t i, const void *key)
{
	const struct cut_value *a =
		&((const struct cut_counts *)owner)->value[i];
	const struct cut_value *b = key;

	return a->id == b->id && a->tid == b->tid;
}

/* Returns what a counter has counted since the piece began. */
static uint64_t cut_counts_since(struct cut_counts *c,
				 const struct cut_value *v)
{
	uint64_t h = hash_pair(v->id, v->tid);
	uint32_t i = table_find(&c->by_key, h, cut_counts_is_same, c, v);

	if (i == TABLE_NONE) {
		if (c->n_value == VALUES_MAX)
			return v->last;
		table_add(&c->by_key, h, (uint32_t)c->n_value);
		*mem_add(c->value, c->n_value, c->cap_value) = *v;
		return v->last;
	}
	struct cut_value *old = &c->value[i];

	if (old->piece < v->piece) {
		old->base = old->last;
		old->piece = v->piece;
	}
	/* one that is smaller is of a late record, and counts nothing */
	if (v->last > old->last)
		old->last = v->last;
	return v->last > old->base ? v->last - old->base : 0;
}

static const void *cut_counts_sample(struct cut_counts *c,
				     const struct cut_counted *r)
{
	const struct perf_attr *e =
		c->has_reads ? cut_counts_event(c, r) : NULL;

	if (!e || !(e->sample_type & PS_READ) || !(e->read_format & READ_ID))
		return r->data;
	size_t at = e->s_end;
	size_t times =
		8 * (size_t)__builtin_popcountll(e->read_format &
						 (READ_ENABLED | READ_RUNNING));
	struct cut_value v = { .piece = r->piece };
	uint64_t n = 1;

	if (at + 24 > r->size)
		return r->data;
	memcpy(c->copy, r->data, r->size);
	if ((e->flags & PA_INHERIT) && e->s_tid)
		memcpy(&v.tid, c->copy + e->s_tid + 4, sizeof(v.tid));
	if (e->read_format & READ_GROUP) {
		n = cut_counts_u64(c, c->copy + at);
		at += 8 + times;
		times = 0;
	}
	/* alone: value, times, id; in a group: value, id */
	size_t each = 16 + times + (e->read_format & READ_LOST ? 8 : 0);

	for (; n && each <= r->size && at <= r->size - each; n--, at += each) {
		v.last = cut_counts_u64(c, c->copy + at);
		v.id = cut_counts_u64(c, c->copy + at + 8 + times);
		cut_counts_put(c, c->copy + at, cut_counts_since(c, &v));
	}
	return c->copy;
}

/* ---- lost records */

/* Returns the ring of a CPU, at a piece: what was told before is counted. */
static struct cut_ring *cut_counts_ring(struct cut_counts *c, int32_t cpu,
					uint32_t piece)
{
	size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

	c->ring = mem_reach(c->ring, &c->n_ring, &c->cap_ring, at + 1,
			    sizeof(*c->ring));
	struct cut_ring *ring = &c->ring[at];

	if (ring->piece < piece) {
		ring->before = saturating_add(ring->before, ring->now);
		ring->now = 0;
		ring->piece = piece;
	}
	return ring;
}

static const void *cut_counts_lost(struct cut_counts *c,
				   const struct cut_counted *r, int32_t cpu)
{
	struct cut_ring *ring = cut_counts_ring(c, cpu, r->piece);

	if (r->size < LOST_AT + 8)
		return r->data;
	uint64_t n =
		cut_counts_u64(c, (const unsigned char *)r->data + LOST_AT);
	uint64_t *sum = r->piece < ring->piece ? &ring->before : &ring->now;

	*sum = saturating_add(*sum, n);
	return r->data;
}

/* Takes from *n what the pieces before have told. */
static void cut_counts_take_told(struct cut_ring *ring, uint64_t *n)
{
	uint64_t told = ring->before < *n ? ring->before : *n;

	ring->before -= told;
	*n -= told;
}

static const void *cut_counts_lost_sum(struct cut_counts *c,
				       const struct cut_counted *r, uint64_t id)
{
	uint32_t at = table_find_hash(&c->cpu_of, hash_u64(id));
	int32_t cpu = at == TABLE_NONE ? -1 : (int32_t)at;

	if (r->size < LOST_SUM_AT + 8)
		return r->data;
	memcpy(c->copy, r->data, r->size);
	uint64_t n = cut_counts_u64(c, c->copy + LOST_SUM_AT);

	cut_counts_take_told(cut_counts_ring(c, cpu, r->piece), &n);
	for (size_t i = 0; cpu < 0 && i < c->n_ring; i++)
		cut_counts_take_told(
			cut_counts_ring(c, (int32_t)i - 1, r->piece), &n);
	cut_counts_put(c, c->copy + LOST_SUM_AT, n);
	return c->copy;
}

const void *cut_counts_take(struct cut_counts *c, const struct cut_counted *r)
{
	switch (r->type) {
	case PR_HEADER_ATTR:
		cut_counts_attr(c, r);
		return r->data;
	case PR_ID_INDEX:
		cut_counts_ids(c, r);
		return r->data;
	case PR_SAMPLE:
		return cut_counts_sample(c, r);
	case PR_LOST:
		return cut_counts_lost(c, r, r->stamp.cpu);
	case PR_LOST_SAMPLES:
		/* with a time it is no sum, and what a filter removed is not
		 * lost */
		if (r->stamp.time || r->misc & PM_BIT15)
			return r->data;
		return cut_counts_lost_sum(c, r, r->stamp.id);
	default:
		return r->data;
	}
}
