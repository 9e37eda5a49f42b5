/* stitch_state.h - the state of struct stitch, for stitch.c and the record_*.c
 * next to it only. */
#pragma once
#include "stitch/audit/rules.h"
#include "stitch/cpu_current.h"
#include "stitch/fact_queue.h"
#include "stitch/join/unwinders.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/tasks/group_reads.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/tasks/space.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

/* The state of one capture. */
struct per_source {
	bool known;
	bool shares; /* stitch_together() was called */
	/* of a file of perf inject: its chains are what perf unwound */
	bool unwound;
	const struct source *from;
	uint16_t line; /* smallest index of the captures of its kernel */
	int64_t last;  /* time of its newest record */
	struct cpu_current seats;
	struct snapshots *maps;	 /* saved lists of mappings; NULL: none */
	struct space base, over; /* kernel mappings: the kernel's own, and code
				  * above them */
	/* How well base locates the kernel; and, in the first source of a line,
	 * the source that knows it best, plus 1; 0: none. */
	unsigned int kernel_known, kernel_by;
};

#define SHARED_SPACES_MAX 8 /* most other captures to ask for mappings */

struct stitch {
	struct order *in;
	struct frames *fr;
	struct ledger *ledger;
	struct unwinder *uw;
	struct unwind_ahead *ahead; /* NULL: no threads unwind */
	struct fact_queue facts;
	struct tasks *tasks;
	struct losses *losses;
	struct account *account;
	struct counters *counters;
	struct audit *audit;
	struct join *join;
	struct resolve *resolve;
	struct stack_parts parts; /* incomplete stacks */
	struct mmap_calls *calls;
	struct group_reads reads;
	struct late_maps late;
	struct partial_maps whole;
	struct per_source *src;
	size_t n_src, cap_src;
	struct record *rec, none; /* the newest record; before the first */
	struct per_source *own;	  /* of its source; borrowed from src */
	jit_find_fn *find_jit;	  /* NULL: code made at run time is unknown */
	void *find_arg;
	struct audit_in look;	    /* what the rules need to know about rec */
	uint32_t who;		    /* slot of its thread, or TASKS_NONE */
	struct thread before, gone; /* memory that look points to */
	uint64_t *chain;	    /* a chain with an inferred address */
	size_t cap_chain;
	uint64_t *gain; /* what the members of the last sample's group counted;
			 * 0: nothing, or it is the sample's own event */
	size_t cap_gain;
	int64_t now;		 /* time of the newest record */
	uint32_t events, chains; /* last ids given out */
	bool infer;		 /* add missing callers that code proves */
	bool dumps_only;	 /* do not look for missing callers */
	bool closing, ended;
};

static inline const struct source *stitch_source(struct stitch *st, uint16_t i)
{
	return i < st->n_src && st->src[i].known ? st->src[i].from
						 : order_source(st->in, i);
}

static inline struct process *stitch_process_of(struct stitch *st,
						uint32_t slot)
{
	return tasks_process_at(st->tasks,
				tasks_thread_at(st->tasks, slot)->process);
}
