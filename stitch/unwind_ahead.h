/* unwind_ahead.h - gives stack dumps to the unwinder's threads before their
 * samples are due.
 *
 * A dump is unwound with the mappings that its process has now. Until the
 * sample is due they may change: then the result is dropped, and the sample is
 * unwound as if there were no threads. So results are the same. */
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
	AHEAD_LATER, /* not before something in front of it was taken */
	AHEAD_NEVER,
};

/* Returns enum unwind_ahead_when: by the caller's state of the process of a
 * sample with a dump. AHEAD_NOW: fills in->machine, in->user_mask, in->swap,
 * in->epoch and *p. */
typedef int unwind_ahead_fn(struct stitch *st, const struct record *rec,
			    struct unwind_in *in, const struct process **p);

/* Returns NULL if the unwinder has no threads, or there are no dumps. */
struct unwind_ahead *unwind_ahead_new(struct order *ord, struct unwinder *uw);
/* Ends all that was begun; to be called before uw->ops->free(). */
void unwind_ahead_free(struct unwind_ahead *a);
/* A record was taken. Looks at some of those after it, and begins the dumps
 * whose processes are known as they will be when they are due. To be called
 * once for each record of the order. */
void unwind_ahead_begin(struct unwind_ahead *a, struct stitch *st,
			unwind_ahead_fn *fn);
/* Returns true and *out if the dump of in, of the record that is being taken
 * and a sample of p, was unwound, and nothing that it depends on has changed.
 * To be called once for a record at most. NULL is fine. */
bool unwind_ahead_take(struct unwind_ahead *a, const struct unwind_in *in,
		       const struct process *p, struct unwind_out *out);
