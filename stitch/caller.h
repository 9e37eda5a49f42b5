/* caller.h - the caller that a chain of frame pointers lacks.
 *
 * AArch64: the frame-pointer chain of a function without a frame of its own
 * lacks the caller, whose address is still in the link register, which perf
 * samples for that (Linux 5.17). Whether it is, the unwinder knows. */
#ifndef STITCH_CALLER_H
#define STITCH_CALLER_H
#include <stdbool.h>
#include <stdint.h>

struct record;
struct source;
struct space;
struct unwinder;

/* The second address of a sample's user half: true, or nothing is missing.
 * uw may be NULL. */
bool caller_find(struct unwinder *uw, const struct record *rec,
		 const struct source *src, const struct space *sp,
		 uint64_t *caller);
#endif
