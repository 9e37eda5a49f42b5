/* align.h - puts the captures of a run on one timeline, for which it reads each
 * of them once in advance. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/command.h"
#include "stitch/order/align.h"

struct source;

/* --clock-offset --sched-clock-offset --separate */
extern const struct opt align_opts[];

/* Is each path to be a capture, as --separate or --clock-offset is about them?
 */
bool align_keeps_apart(void);
/* Opens a capture without recording anything in the ledger or the database.
 * Returns 0, or -1 and *err. */
typedef int align_open_fn(void *arg, const char *path, struct source **out,
			  struct err *err);

/* Stores an array with an entry for each capture in *out, which the caller
 * frees; NULL if each stays on its own clock, as there is only one, or by
 * --separate. Returns 0, or -1 and *err if two captures cannot be aligned. */
int align_inputs(char *const *paths, size_t n, align_open_fn *open, void *arg,
		 struct align_out **out, struct err *err);
