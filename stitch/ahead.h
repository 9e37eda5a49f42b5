/* ahead.h - gives stack dumps to the unwinder's threads before their samples
 * are due.
 *
 * A dump is unwound with the mappings that its process has now. Until the
 * sample is due they may change: then the result is dropped, and the sample is
 * unwound as if there were no threads. So results are the same. */
#ifndef STITCH_AHEAD_H
#define STITCH_AHEAD_H
#include <stdbool.h>
#include <stdint.h>

struct ahead;
struct order;
struct process;
struct record;
struct stitch;
struct unwind_in;
struct unwind_out;
struct unwinder;

/* The caller's state of the process of a sample with a dump: fills in->machine,
 * in->user_mask, in->swap, in->pc and in->epoch. Returns NULL if it cannot be
 * unwound ahead.
 */
typedef const struct process *
ahead_fn(struct stitch *st, const struct record *rec, struct unwind_in *in);

/* Returns NULL if the unwinder has no threads, or there are no dumps. */
struct ahead *ahead_new(struct order *ord, struct unwinder *uw);
/* Ends all that was begun; to be called before uw->ops->free(). */
void ahead_free(struct ahead *a);
/* Begins as many dumps as there is room for. NULL is fine. */
void ahead_begin(struct ahead *a, struct stitch *st, ahead_fn *fn);
/* Returns true and *out if the dump of in, a sample of p, was unwound, and
 * nothing that it depends on has changed. NULL is fine. */
bool ahead_take(struct ahead *a, const struct unwind_in *in,
		const struct process *p, struct unwind_out *out);
#endif
