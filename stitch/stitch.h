/* stitch.h - turns ordered records into facts.
 *
 * Events come in time order with ids 1, 2, 3, ... The request of an event may
 * follow much later: when its chain has arrived, or when it is certain that
 * none will. All other facts come as soon as they are known. Images, frames,
 * stacks and raw chains are in struct frames before a fact refers to them. */
#pragma once
#include <stdint.h>

#include "stitch/tasks/header_ids.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/late_maps.h"

struct err;
struct fact_queue;
struct late_maps;
struct ledger;
struct order;
struct snapshot;
struct stitch;
struct unwinder;

struct stitch_opts {
	struct unwinder *unwinder; /* NULL: there is none */
	unsigned int layout;	   /* of cookies: cookie_layout_parse() */
	bool infer;	 /* add callers that are missing in frame-pointer chains
			  * if the code proves them */
	bool dumps_only; /* ask the unwinder for stack dumps and link registers
			  * only, not about chains that were recorded */
	/* finds the segments of a file in memory (late_maps.h); NULL: they are
	 * not known */
	partial_maps_fn files;
	void *files_arg;
	header_written_fn *written; /* NULL: not known */
	void *written_arg;
	jit_find_fn *jit; /* finds code made at run time; NULL: not known */
	void *jit_arg;
};

/* Borrows all arguments, but for the opts (NULL: all zeros); in must outlive
 * the stitch. */
struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, const struct stitch_opts *o);
/* Adds a list of what a process had mapped (late_maps.h). Call it before the
 * first fact. s->map is borrowed until stitch_free(). Lists of a lower rank
 * have precedence; those in the capture itself rank last. */
void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank);
/* Declares that captures are of one kernel and on one clock: facts from one of
 * them (tasks, mappings, chains) hold for all. first is the smallest index in
 * the group. Captures that are not declared share nothing. Call it before the
 * first fact. */
void stitch_together(struct stitch *st, uint16_t source, uint16_t first);
/* Takes records until `until` facts have been queued in all. Returns 1, 0 if
 * all records were taken, or -1 and *err. The caller takes the queue's array
 * with its lists, and replaces them (fact.h and fact_queue.h say what they
 * borrow). */
int stitch_run(struct stitch *st, uint64_t until, struct err *err);
struct fact_queue *stitch_facts(struct stitch *st);
/* Returns the number of events so far. */
uint32_t stitch_events(const struct stitch *st);
/* Returns the mappings that came late, which belong to the stitch. Call it
 * after the last fact. */
struct late_maps *stitch_late_maps(struct stitch *st);
void stitch_free(struct stitch *st);
