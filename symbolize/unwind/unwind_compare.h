/* unwind_compare.h - unwinds each stack dump twice, with all tables and with
 * SFrame alone, and counts how far the second one gets. */
#ifndef SYMBOLIZE_UNWIND_UNWIND_COMPARE_H
#define SYMBOLIZE_UNWIND_UNWIND_COMPARE_H
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/mem.h"
#include "stitch/unwinder.h"

struct frames;
struct symbolizer;

/* Where SFrame's stacks ended early: an image. */
struct unwind_compare_stop {
	const char *path; /* "": no mapping; NULL: none ended there */
	uint64_t n;
	uint64_t why[UNWIND_N];
};

struct unwind_compare_count {
	uint64_t stacks;
	uint64_t same;	/* all frames equal */
	uint64_t early; /* SFrame has the inner part of the other's */
	uint64_t late;	/* the other way round */
	uint64_t other; /* a frame differs */
	uint64_t frames, by_sframe, equal; /* frames of both, and those that
					    * are equal from the inner end on */
	uint64_t whole,
		whole_sframe;	/* stacks that reach the outermost frame */
	uint64_t end[UNWIND_N]; /* SFrame's stacks, by their end */
	struct unwind_compare_stop *stop; /* by image */
	size_t n, cap;
	struct arena text;
};

/* Gives stacks as unwind_new() does, and counts into *out, which outlives it.
 * Only what tables say counts: frames that were guessed are left out. */
struct unwinder *unwind_compare_new(struct symbolizer *sy,
				    const struct frames *fr,
				    struct unwind_compare_count *out);
void unwind_compare_release(struct unwind_compare_count *c);
#endif
