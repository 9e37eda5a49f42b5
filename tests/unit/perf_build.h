/* perf_build.h - small perf.data captures made in memory and read, for tests:
 * what perf_write.h wrote is opened by pb_open. */
#pragma once
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
#include "tests/perf_write.h"
#include "tests/unit/run.h"

/* The first n bytes as a file, opened; NULL and *err when it is refused. */
static inline struct source *pb_open_cut(struct pb *b, size_t n,
					 const struct source_opts *o,
					 struct ledger *lg, struct err *err)
{
	char path[64];
	int fd = memfd_create("capture", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, b->d, n), (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct source *src = formats_open(path, o, lg, err);

	close(fd);
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

static inline void pb_close(struct source *src, struct pb *b)
{
	source_close(src);
	pb_release(b);
}
