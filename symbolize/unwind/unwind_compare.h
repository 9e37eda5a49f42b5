/* unwind_compare.h - unwinds each stack dump twice, with all tables and with
 * SFrame alone, and compares the results. */
#pragma once

#include "stitch/base/mem.h"
#include "stitch/unwinder.h"

struct frames;
struct symbolizer;

/* Counts of stacks that SFrame ended early in one image. */
struct unwind_compare_stop {
	const char *path; /* "": no mapping; NULL: unused */
	uint64_t n;
	uint64_t why[UNWIND_N];
};

struct unwind_compare_count {
	uint64_t stacks;
	uint64_t same;	/* stacks with equal frames */
	uint64_t early; /* SFrame has only the inner frames */
	uint64_t late;	/* the other tables have only the inner frames */
	uint64_t other; /* stacks in which a frame differs */
	/* frames by all tables, by SFrame, and those equal from the innermost
	 * on */
	uint64_t frames, by_sframe, equal;
	uint64_t whole,
		whole_sframe;	/* stacks unwound to the outermost frame */
	uint64_t end[UNWIND_N]; /* stacks by how SFrame ended */
	struct unwind_compare_stop *stop; /* by image id */
	size_t n, cap;
	struct arena text;
};

/* Returns an unwinder with the results of unwind_new() that counts into *out,
 * which must outlive it. Guessed frames are not counted. */
struct unwinder *unwind_compare_new(struct symbolizer *sy,
				    const struct frames *fr,
				    struct unwind_compare_count *out);
void unwind_compare_release(struct unwind_compare_count *c);
