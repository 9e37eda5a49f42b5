/* align.h - the captures of a run on one timeline: reads each of them once
 * before, for what they have in common. */
#ifndef CLI_INGEST_ALIGN_H
#define CLI_INGEST_ALIGN_H
#include <stddef.h>

#include "cli/command.h"
#include "stitch/order/align.h"

struct source;

/* --clock-offset --sched-clock-offset --separate */
extern const struct opt align_opts[];

/* Opens a capture for itself: nothing of it is noted anywhere. 0, or -1. */
typedef int align_open_fn(void *arg, const char *path, struct source **out,
			  struct err *err);

/* *out: one for each capture, the caller's to free; NULL: each stays on its
 * own clock, as there is only one, or by --separate. -1 and *err: two of them
 * do not go together. */
int align_inputs(char *const *paths, size_t n, align_open_fn *open, void *arg,
		 struct align_out **out, struct err *err);
#endif
