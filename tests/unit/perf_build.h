/* perf_build.h - small perf.data captures made in memory, for tests.
 *
 * pb_begin, then records (pb_rec ... pb_end), then pb_finish; pb_open gives a
 * source on it. Either byte order; all numbers go through pb_u16/u32/u64. */
#ifndef TESTS_PERF_BUILD_H
#define TESTS_PERF_BUILD_H
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

struct pb_event {
	uint32_t type, attr_size; /* attr_size: what the attr says of itself */
	uint64_t config, period, sample_type, read_format, flags, branch_type;
	uint64_t regs_user, regs_intr;
	uint64_t ids[4];
	size_t n_ids;
};

struct pb {
	unsigned char *d;
	size_t n, cap, rec, data;
	bool big;
	int fd;
};

static inline void pb_raw(struct pb *b, const void *p, size_t n)
{
	b->d = mem_grow(b->d, &b->cap, b->n + n, 1);
	memcpy(b->d + b->n, p, n);
	b->n += n;
}

static inline void pb_num(struct pb *b, uint64_t v, int len)
{
	unsigned char raw[8];

	for (int i = 0; i < len; i++)
		raw[b->big ? len - 1 - i : i] = (unsigned char)(v >> 8 * i);
	pb_raw(b, raw, (size_t)len);
}

static inline void pb_u16(struct pb *b, uint16_t v)
{
	pb_num(b, v, 2);
}

static inline void pb_u32(struct pb *b, uint32_t v)
{
	pb_num(b, v, 4);
}

static inline void pb_u64(struct pb *b, uint64_t v)
{
	pb_num(b, v, 8);
}

/* Writes v over what stands at `at`. */
static inline void pb_patch(struct pb *b, size_t at, uint64_t v, int len)
{
	size_t n = b->n;

	b->n = at;
	pb_num(b, v, len);
	b->n = n;
}

static inline void pb_str(struct pb *b, const char *s)
{
	static const char zero[8];
	size_t n = strlen(s) + 1;

	pb_raw(b, s, n);
	pb_raw(b, zero, (8 - n % 8) % 8);
}

static inline uint64_t pb_mirror(uint64_t x)
{
	uint64_t y = 0;

	for (int i = 0; i < 64; i++)
		if (x >> i & 1)
			y |= (uint64_t)1 << (63 - i);
	return y;
}

/* perf_event_attr of 112 bytes, as kernel 4.x has it. */
#define PB_ATTR 112
static inline void pb_attr(struct pb *b, const struct pb_event *e)
{
	size_t start = b->n;

	pb_u32(b, e->type);
	pb_u32(b, e->attr_size);
	pb_u64(b, e->config);
	pb_u64(b, e->period);
	pb_u64(b, e->sample_type);
	pb_u64(b, e->read_format);
	pb_u64(b, b->big ? pb_mirror(e->flags) : e->flags);
	while (b->n < start + 72)
		pb_u64(b, 0);
	pb_u64(b, e->branch_type);
	pb_u64(b, e->regs_user);
	pb_u64(b, 0);
	pb_u64(b, e->regs_intr);
	pb_u64(b, 0);
}

/* Header, ids, attrs: then the records. */
static inline void pb_begin(struct pb *b, bool big, const struct pb_event *ev,
			    size_t n)
{
	size_t ids[8];

	memset(b, 0, sizeof(*b));
	b->big = big;
	b->fd = -1;
	pb_raw(b, big ? "2ELIFREP" : "PERFILE2", 8);
	pb_u64(b, 104);
	pb_u64(b, PB_ATTR + 16);
	for (int i = 0; i < 10; i++)
		pb_u64(b, 0);
	for (size_t i = 0; i < n; i++) {
		ids[i] = b->n;
		for (size_t j = 0; j < ev[i].n_ids; j++)
			pb_u64(b, ev[i].ids[j]);
	}
	pb_patch(b, 24, b->n, 8);
	pb_patch(b, 32, n * (PB_ATTR + 16), 8);
	for (size_t i = 0; i < n; i++) {
		pb_attr(b, &ev[i]);
		pb_u64(b, ids[i]);
		pb_u64(b, ev[i].n_ids * 8);
	}
	b->data = b->n;
	pb_patch(b, 40, b->n, 8);
}

/* A pipe-form capture. */
static inline void pb_begin_pipe(struct pb *b, bool big)
{
	memset(b, 0, sizeof(*b));
	b->big = big;
	b->fd = -1;
	pb_raw(b, big ? "2ELIFREP" : "PERFILE2", 8);
	pb_u64(b, 16);
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

/* The first n bytes as a file, opened; NULL and *err when it is refused. */
static inline struct source *pb_open_cut(struct pb *b, size_t n,
					 const struct source_opts *o,
					 struct ledger *lg, struct err *err)
{
	char path[64];

	b->fd = memfd_create("capture", 0);
	ck_assert_int_ge(b->fd, 0);
	ck_assert_int_eq(write(b->fd, b->d, n), (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->fd);
	struct source *src = formats_open(path, o, lg, err);

	close(b->fd);
	return src;
}

/* Opened and scanned; the test fails when it is not. */
static inline struct source *pb_open(struct pb *b, struct ledger *lg)
{
	struct err err = { 0 };
	struct source *src = pb_open_cut(b, b->n, NULL, lg, &err);

	ck_assert_msg(src != NULL, "%s", err.msg);
	ck_assert_msg(!src->ops->scan(src, &err), "%s", err.msg);
	return src;
}

/* The next record decoded; false at the end. */
static inline bool pb_next(struct source *src, struct ref *ref,
			   struct record *rec)
{
	struct err err = { 0 };
	int got = src->ops->next(src, ref, &err);

	ck_assert_msg(got >= 0, "%s", err.msg);
	if (!got)
		return false;
	ck_assert_msg(!src->ops->decode(src, ref, rec, &err), "%s", err.msg);
	return true;
}

static inline void pb_release(struct pb *b)
{
	free(b->d);
}
#endif
