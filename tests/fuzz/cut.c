/* cut.c - libFuzzer target: any bytes as a stream that is cut into pieces. What
 * a piece begins with can itself be cut, to its end. */
#include <stdlib.h>
#include <string.h>

#include "formats/perf/cut.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces that are looked at: each is as long as what was read. */
#define HEADS_MAX 8

static void fuzz_cut_holds(bool holds)
{
	if (!holds)
		abort();
}

/* Takes one record from a copy of its own size, so that reading beyond it is
 * seen: first too little of it, then all. Returns its length; 0 at the end. */
static size_t fuzz_cut_take(struct perf_cut *c, const uint8_t *data, size_t len,
			    struct err *err)
{
	size_t n = len < 8 ? len : 8;
	uint64_t used = 0;

	for (;;) {
		void *copy = mem_new(n, 1);

		memcpy(copy, data, n);
		int got = perf_cut_take(c, copy, n, &used, err);

		free(copy);
		fuzz_cut_holds(got >= 0 || err->msg[0]);
		fuzz_cut_holds(got <= 0 || (used && used <= n));
		fuzz_cut_holds(got || used > n);
		if (got)
			return got > 0 ? (size_t)used : 0;
		if (used > len)
			return 0;
		n = (size_t)used;
	}
}

/* The begin of a piece has no events, but a record may be years from the one
 * before it there, if the clock was set by years between others. */
static void fuzz_cut_is_head(const struct perf_cut *c)
{
	struct err first = { .msg = "" };

	perf_cut_damaged(c, &first);
	fuzz_cut_holds(!perf_cut_taken(c)->events ||
		       strstr(first.msg, "is damaged"));
}

/* The begin of a piece is a stream. */
static void fuzz_cut_look(struct perf_cut *c)
{
	struct perf_cut *again = perf_cut_new("head");
	struct err err = { 0 };
	char *text = NULL;
	size_t len = 0;
	size_t at = 0;
	FILE *f = mem_stream(&text, &len);

	perf_cut_head(c, perf_cut_place(c), f);
	perf_cut_mark(c, PERF_CUT_ENDS, perf_cut_place(c), f);
	mem_stream_end(f);
	while (at < len) {
		size_t n = fuzz_cut_take(again, (uint8_t *)text + at, len - at,
					 &err);

		fuzz_cut_holds(n > 0);
		fuzz_cut_is_head(again);
		at += n;
	}
	perf_cut_free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_cut *c = perf_cut_new("fuzz");
	struct err err = { 0 };
	int heads = 0;
	size_t n;

	for (size_t at = 0; at < size; at += n) {
		n = fuzz_cut_take(c, data + at, size - at, &err);
		if (!n)
			break;
		if (at && perf_cut_taken(c)->rounds && perf_cut_may_end(c) &&
		    heads++ < HEADS_MAX)
			fuzz_cut_look(c);
	}
	fuzz_cut_look(c);
	perf_cut_free(c);
	return 0;
}
