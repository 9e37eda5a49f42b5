/* align.h - puts the captures of a run on one timeline, for which it reads each
 * of them once in advance. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "stitch/order/align.h"

struct source;

/* What the user knows about the clocks of several captures. */
struct align_ask {
	/* CAPTURE=NS: ns to add to the times of a capture, which is named as in
	 * the command line, or by its place there. Borrowed. */
	const char *const *offset;
	size_t n_offset;
	const char *sched_offset; /* perf's clock to ftrace's, ns; or NULL */
	bool separate;		  /* each capture keeps its own clock */
};

/* Returns whether each path has to be one capture, as the options name them. */
static inline bool align_keeps_apart(const struct align_ask *a)
{
	return a->separate || a->n_offset;
}
/* Opens a capture without recording anything in the ledger or the database.
 * Returns 0, or -1 and *err. */
typedef int align_open_fn(void *arg, const char *path, struct source **out,
			  struct err *err);

/* Stores an array with an entry for each capture in *out, which the caller
 * frees; NULL if each stays on its own clock, as there is only one, or by
 * --separate. Returns 0, or -1 and *err if two captures cannot be aligned. */
int align_inputs(const struct align_ask *a, char *const *paths, size_t n,
		 align_open_fn *open, void *arg, struct align_out **out,
		 struct err *err);
