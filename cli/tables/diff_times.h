/* diff_times.h - what changed between two sides in times that are no samples:
 * pairs of events, and waits. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "analyze/diffs/compare.h"
#include "analyze/names/name_opts.h"

struct diff_limit;
struct err;
struct filter;
struct sides;

struct diff_times_opts {
	compare_open_fn *open;
	const void *open_arg;
	const struct filter *filter; /* borrowed */
	const char *format;
	size_t limit; /* rows; SIZE_MAX: all */
	bool all; /* threads; else of the program that a recording began with,
		   * if it did */
	bool off_cpu;	  /* waits; else pairs of events */
	bool wall;	  /* parts of the time of the program that a recording
			   * began with */
	bool by_waker;	  /* waits by who ended them, not by where they were */
	const char *kind; /* of pairs; NULL: all that were recorded */
	struct name_opts names;
	struct diff_limit *fail; /* what may not grow; borrowed */
};

/* Prints the table. Returns an enum status, or -1 and *err. */
int diff_times(const struct sides *s, const struct diff_times_opts *o,
	       struct err *err);
