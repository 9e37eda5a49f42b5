/* perf_write.h - the skeleton of a perf.data, for tests and for mkcap.c.
 *
 * A file: pb_begin, records (pb_rec ... pb_end), then pb_finish or, if sections
 * follow, pb_sections. A pipe: pb_begin_pipe, records. Either byte order. */
#pragma once
#include "formats/perf/perf.h"
#include "tests/put_bytes.h"

struct pb_event {
	uint32_t type, attr_size; /* attr_size: what the attr says of itself */
	uint64_t config, period, sample_type, read_format, flags, branch_type;
	uint64_t regs_user, regs_intr;
	uint32_t clockid;
	uint16_t max_stack;
	uint64_t ids[4];
	size_t n_ids;
};

static inline void pb_str(struct pb *b, const char *s)
{
	pb_str_to(b, s, 8);
}

/* A string of a section, padded to a multiple of `to`, behind its length. */
static inline void pb_text(struct pb *b, const char *s, size_t to)
{
	pb_u32(b, (uint32_t)((strlen(s) + to) / to * to));
	pb_str_to(b, s, to);
}

/* Big-endian compilers allocate bit-fields from the top bit. */
static inline uint64_t pb_mirror(uint64_t x)
{
	uint64_t y = 0;

	for (int i = 0; i < 64; i++)
		if (x >> i & 1)
			y |= (uint64_t)1 << (63 - i);
	return y;
}

/* A perf_event_attr has the 112 bytes of kernel 4.x, or more if it says so. */
#define PB_ATTR 112
static inline size_t pb_attr_len(const struct pb_event *e)
{
	return e->attr_size > PB_ATTR ? e->attr_size : PB_ATTR;
}

static inline void pb_attr(struct pb *b, const struct pb_event *e)
{
	pb_u32(b, e->type);
	pb_u32(b, e->attr_size);
	pb_u64(b, e->config);
	pb_u64(b, e->period);
	pb_u64(b, e->sample_type);
	pb_u64(b, e->read_format);
	pb_u64(b, b->big ? pb_mirror(e->flags) : e->flags);
	pb_zeros(b, 24);
	pb_u64(b, e->branch_type);
	pb_u64(b, e->regs_user);
	pb_u32(b, 0);
	pb_u32(b, e->clockid);
	pb_u64(b, e->regs_intr);
	pb_u32(b, 0);
	pb_u16(b, e->max_stack);
	pb_zeros(b, pb_attr_len(e) - 110);
}

static inline void pb_magic(struct pb *b, bool big, size_t header)
{
	memset(b, 0, sizeof(*b));
	b->big = big;
	pb_raw(b, big ? "2ELIFREP" : "PERFILE2", 8);
	pb_u64(b, header);
}

/* Header, ids, attrs: then the records. The attrs have one length. */
static inline void pb_begin(struct pb *b, bool big, const struct pb_event *ev,
			    size_t n)
{
	size_t entry = pb_attr_len(ev) + 16, ids = 104;

	pb_magic(b, big, ids);
	pb_u64(b, entry);
	pb_zeros(b, 80);
	for (size_t i = 0; i < n; i++)
		pb_u64s(b, ev[i].ids, ev[i].n_ids);
	pb_patch(b, 24, b->n, 8);
	pb_patch(b, 32, n * entry, 8);
	for (size_t i = 0; i < n; i++) {
		pb_attr(b, &ev[i]);
		pb_u64(b, ids);
		pb_u64(b, ev[i].n_ids * 8);
		ids += ev[i].n_ids * 8;
	}
	b->data = b->n;
	pb_patch(b, 40, b->n, 8);
}

static inline void pb_begin_pipe(struct pb *b, bool big)
{
	pb_magic(b, big, 16);
}

static inline void pb_rec(struct pb *b, uint32_t type, uint16_t misc)
{
	b->rec = b->n;
	pb_u32(b, type);
	pb_u16(b, misc);
	pb_u16(b, 0);
}

static inline void pb_end(struct pb *b)
{
	pb_patch(b, b->rec + 6, b->n - b->rec, 2);
}

static inline void pb_finish(struct pb *b)
{
	pb_patch(b, 48, b->n - b->data, 8);
}

/* Ends the records; a section follows for each of these bits. Returns where its
 * entry in their table is, 16 bytes before that of the next one. */
static inline size_t pb_sections(struct pb *b, uint64_t bits)
{
	size_t table = b->n;

	pb_finish(b);
	pb_patch(b, 72, bits, 8);
	for (; bits; bits &= bits - 1)
		pb_zeros(b, 16);
	return table;
}

/* Ends a section that began at start, whose entry is at `entry`. */
static inline void pb_section_end(struct pb *b, size_t entry, size_t start)
{
	pb_patch(b, entry, start, 8);
	pb_patch(b, entry + 8, b->n - start, 8);
}

/* The record of a pipe that tells of an event. */
static inline void pb_header_attr(struct pb *b, const struct pb_event *e)
{
	pb_rec(b, PR_HEADER_ATTR, 0);
	pb_attr(b, e);
	pb_u64s(b, e->ids, e->n_ids);
	pb_end(b);
}
