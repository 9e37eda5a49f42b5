/* stitch.h - ordered records in, facts out: each fact is a row to be.
 *
 * Events come in time order with ids 1, 2, 3 ...; the request of an event may
 * come much later (when its chain arrived, or when it is sure that it never
 * will), everything else when it is known. Images, frames, stacks and raw
 * chains are not facts: they are in struct frames, and a fact only names ids
 * that are already there. */
#ifndef STITCH_STITCH_H
#define STITCH_STITCH_H
#include <stdint.h>

#include "stitch/tasks/jit.h"
#include "stitch/tasks/partial_maps.h"

struct err;
struct fact;
struct frames;
struct ledger;
struct order;
struct snapshot;
struct stitch;
struct unwinder;

/* Borrows all of them; order must outlive the stitch. uw may be NULL. */
struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, struct unwinder *uw);
/* How cookies are made (enum cookie_layout); before the first fact. */
void stitch_layout(struct stitch *st, unsigned int layout);
/* Put in callers that frame-pointer chains lack where code proves them; before
 * the first fact. */
void stitch_infer_callers(struct stitch *st);
/* What a process of a source had mapped: snapshots.h. Before the first fact;
 * the list is borrowed until stitch_free(). Those that the source itself has
 * are used where nothing is given. */
void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank);
/* Who knows where in memory which part of a file is
 * (stitch/tasks/partial_maps.h); before the first fact. Without: nobody does.
 */
void stitch_files(struct stitch *st, whole_fn fn, void *arg);
/* Captures of one kernel whose times are on one clock: what one of them knows
 * holds for all (tasks, what they have mapped, chains of cookies). first: the
 * smallest index of those that belong together; by itself each capture is
 * alone. Before the first fact. */
void stitch_together(struct stitch *st, uint16_t source, uint16_t first);
/* Who finds the code that processes made themselves: jit.h. Before the first
 * fact. */
void stitch_jit(struct stitch *st, jit_find_fn *fn, void *arg);
/* 1 and *out, 0 the end (everything handed out), -1 an error. Strings and
 * rec hold until the next call. */
int stitch_next(struct stitch *st, struct fact *out, struct err *err);
/* End the input here: the next calls give out what waits. For SIGINT. */
void stitch_stop(struct stitch *st);
void stitch_free(struct stitch *st);
#endif
