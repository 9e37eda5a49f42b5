/* unwind_ahead.h - gives stack dumps to the unwinder's threads before their
 * samples are due.
 *
 * A dump is unwound with the mappings that its process has now. If they change
 * before the sample is due, the result is dropped, and the sample is unwound as
 * if there were no threads. So results do not depend on threads. */
#pragma once
#include <stdbool.h>

struct unwind_ahead;
struct order;
struct process;
struct record;
struct stitch;
struct unwind_in;
struct unwind_out;
struct unwinder;

/* Whether a dump can be unwound ahead. */
enum unwind_ahead_when {
	AHEAD_NOW,
	AHEAD_LATER, /* not before some earlier record was taken */
	AHEAD_NEVER,
};

/* Returns an enum unwind_ahead_when for a sample with a dump, by the caller's
 * state of its process. For AHEAD_NOW, fills in->machine, in->user_mask,
 * in->swap, in->epoch and *p. */
typedef int unwind_ahead_fn(struct stitch *st, const struct record *rec,
			    struct unwind_in *in, const struct process **p);

/* Returns NULL if the unwinder has no threads, or there are no dumps. */
struct unwind_ahead *unwind_ahead_new(struct order *ord, struct unwinder *uw);
/* Ends all dumps that were begun. Call it before uw->ops->free(). */
void unwind_ahead_free(struct unwind_ahead *a);
/* Takes note of a record that was taken: examines some of the following
 * records, and begins the dumps whose processes will not change before they are
 * due. Call it once for each record of the order. */
void unwind_ahead_begin(struct unwind_ahead *a, struct stitch *st,
			unwind_ahead_fn *fn);
/* Returns true and *out if the dump `in` of the current record, a sample of p,
 * was unwound, and nothing on which the result depends has changed. Call it at
 * most once for a record. a may be NULL. */
bool unwind_ahead_take(struct unwind_ahead *a, const struct unwind_in *in,
		       const struct process *p, struct unwind_out *out);
