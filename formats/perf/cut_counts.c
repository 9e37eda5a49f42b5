/* cut_counts.c - counters in a stream that is cut, so that a piece can be read
 * alone. */
#include "formats/perf/cut_state.h"

#include "stitch/base/saturate.h"
#include "stitch/base/table.h"

#define LOST_AT 16    /* in LOST, behind the id */
#define LOST_SUM_AT 8 /* in LOST_SAMPLES */
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
	struct cut_read *read;
	struct cut_value *value;
	size_t n_value, cap_value;
	struct table by_key;
	struct cut_ring *ring;
	size_t n_ring, cap_ring;
	unsigned char copy[UINT16_MAX + 1];
};

struct cut_counts *cut_counts_new(struct cut_read *read)
{
	struct cut_counts *c = mem_new(1, sizeof(*c));

	c->read = read;
	return c;
}

void cut_counts_free(struct cut_counts *c)
{
	if (!c)
		return;
	table_release(&c->by_key);
	free_all(c->value, c->ring, c);
}

static void cut_counts_put(struct cut_counts *c, size_t at, uint64_t v)
{
	v = c->read->p.swap ? __builtin_bswap64(v) : v;
	memcpy(c->copy + at, &v, sizeof(v));
}

SAME_BY(cut_counts_is_same, struct cut_counts, value[id], struct cut_value, id,
	tid);

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
	raise_to(old->last, v->last);
	return v->last > old->base ? v->last - old->base : 0;
}

static const void *cut_counts_sample(struct cut_counts *c,
				     const struct perf_rec *r, uint32_t piece)
{
	const struct perf_attr *e = perf_attr_of_record(&c->read->p, r);

	if (!e || !(e->sample_type & PS_READ) || !(e->read_format & READ_ID))
		return r->b.pos;
	size_t at = e->s_end;
	size_t times =
		8 * (size_t)__builtin_popcountll(e->read_format &
						 (READ_ENABLED | READ_RUNNING));
	struct cut_value v = { .piece = piece };
	uint64_t n = 1;

	if (at + 16 > r->size)
		return r->b.pos;
	memcpy(c->copy, r->b.pos, r->size);
	if ((e->flags & PA_INHERIT) && e->s_tid)
		memcpy(&v.tid, c->copy + e->s_tid + 4, sizeof(v.tid));
	if (e->read_format & READ_GROUP) {
		bytes_peek_u64(&r->b, at, &n);
		at += 8 + times;
		times = 0;
	}
	/* alone: value, times, id; in a group: value, id */
	size_t each = 16 + times + (e->read_format & READ_LOST ? 8 : 0);

	for (; n && each <= r->size && at <= r->size - each; n--, at += each) {
		bytes_peek_u64(&r->b, at, &v.last);
		bytes_peek_u64(&r->b, at + 8 + times, &v.id);
		cut_counts_put(c, at, cut_counts_since(c, &v));
	}
	return c->copy;
}

/* Returns the ring of a CPU, at a piece: what was told before is counted. */
static struct cut_ring *cut_counts_ring(struct cut_counts *c, int32_t cpu,
					uint32_t piece)
{
	size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

	struct cut_ring *ring = mem_at(c->ring, c->n_ring, c->cap_ring, at);

	if (ring->piece < piece) {
		ring->before = saturating_add(ring->before, ring->now);
		ring->now = 0;
		ring->piece = piece;
	}
	return ring;
}

static void cut_counts_lost(struct cut_counts *c, const struct perf_rec *r,
			    int32_t cpu, uint32_t piece)
{
	struct cut_ring *ring = cut_counts_ring(c, cpu, piece);
	uint64_t *sum = piece < ring->piece ? &ring->before : &ring->now;
	uint64_t n;

	if (!bytes_peek_u64(&r->b, LOST_AT, &n))
		*sum = saturating_add(*sum, n);
}

/* Takes from *n what the pieces before have told. */
static void cut_counts_take_told(struct cut_ring *ring, uint64_t *n)
{
	uint64_t told = ring->before < *n ? ring->before : *n;

	ring->before -= told;
	*n -= told;
}

const void *cut_counts_take(struct cut_counts *c, const struct perf_rec *r,
			    const struct cut_stamp *stamp, uint32_t piece)
{
	switch (r->type) {
	case PR_SAMPLE:
		return cut_counts_sample(c, r, piece);
	case PR_LOST:
		cut_counts_lost(c, r, stamp->cpu, piece);
		return r->b.pos;
	case PR_LOST_SAMPLES:
		/* with a time it is no sum, and what a filter removed is not
		 * lost */
		if (stamp->time || r->misc & PM_BIT15)
			return r->b.pos;
		int32_t cpu = cut_read_cpu(c->read, stamp->id);
		uint64_t n;

		if (bytes_peek_u64(&r->b, LOST_SUM_AT, &n))
			return r->b.pos;
		memcpy(c->copy, r->b.pos, r->size);
		cut_counts_take_told(cut_counts_ring(c, cpu, piece), &n);
		for (size_t i = 0; cpu < 0 && i < c->n_ring; i++)
			cut_counts_take_told(
				cut_counts_ring(c, (int32_t)i - 1, piece), &n);
		cut_counts_put(c, LOST_SUM_AT, n);
		return c->copy;
	default:
		return r->b.pos;
	}
}
