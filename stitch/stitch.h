/* stitch.h - turns ordered records into facts.
 *
 * Events come in time order with ids 1, 2, 3, ... The request of an event may
 * follow much later: when its chain has arrived, or when it is certain that
 * none will. All other facts come as soon as they are known. Images, frames,
 * stacks and raw chains are in struct frames before a fact refers to them. */
#pragma once
#include <stdint.h>

#include "stitch/tasks/jit.h"
#include "stitch/tasks/partial_maps.h"

struct err;
struct fact_queue;
struct late_maps;
struct ledger;
struct order;
struct snapshot;
struct stitch;
struct unwinder;

/* Borrows all arguments; in must outlive the stitch. uw may be NULL. */
struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, struct unwinder *uw);
/* Sets the layout of cookies, as from cookie_layout_parse(). Call it before the
 * first fact. */
void stitch_layout(struct stitch *st, unsigned int layout);
/* Adds callers that are missing in frame-pointer chains if the code proves
 * them. Call it before the first fact. */
void stitch_infer_callers(struct stitch *st);
/* From now on the unwinder is asked for stack dumps and link registers only,
 * not about chains that were recorded. */
void stitch_dumps_only(struct stitch *st);
/* Adds a list of what a process had mapped (snapshots.h). Call it before the
 * first fact. s->map is borrowed until stitch_free(). Lists of a lower rank
 * have precedence; those in the capture itself rank last. */
void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank);
/* Sets the function that says where a file's segments are in memory
 * (partial_maps.h). Call it before the first fact. Without it, nothing is known
 * about segments. */
void stitch_files(struct stitch *st, partial_maps_fn fn, void *arg);
/* Declares that captures are of one kernel and on one clock: what one of them
 * tells (tasks, mappings, chains) holds for all. first is the smallest index in
 * the group. Captures that are not declared share nothing. Call it before the
 * first fact. */
void stitch_together(struct stitch *st, uint16_t source, uint16_t first);
/* Sets the function that finds code made at run time (jit.h). Call it before
 * the first fact. */
void stitch_jit(struct stitch *st, jit_find_fn *fn, void *arg);
/* Takes records until the queue of facts has had so many. Returns 1, 0 if all
 * records were taken, or -1 and *err. The caller takes the queue's array with
 * its lists, and replaces them (fact.h, fact_queue.h: what is borrowed). */
int stitch_run(struct stitch *st, uint64_t until, struct err *err);
struct fact_queue *stitch_facts(struct stitch *st);
/* Returns the number of events so far. */
uint32_t stitch_events(const struct stitch *st);
/* Returns the mappings that came late, which belong to the stitch. Call it
 * after the last fact. */
struct late_maps *stitch_late_maps(struct stitch *st);
void stitch_free(struct stitch *st);
