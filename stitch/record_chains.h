/* record_chains.h - the state of struct stitch; the kernel and user stacks of a
 * record, as raw chains, with the help of the unwinder. Only stitch.c and
 * record_chains.c include it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/audit/rules.h"
#include "stitch/fact_queue.h"
#include "stitch/join/unwinders.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/tasks/group_reads.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/tasks/space.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

/* The thread on a CPU by the last switch, and its name there. */
struct current_thread {
	int32_t tid; /* 0: idle, or unknown */
	bool unsure; /* records of this CPU were lost since */
	char name[THREAD_NAME];
};

/* Empty if it is all 0. */
struct cpu_current {
	struct current_thread *at; /* by CPU */
	size_t n, cap;
};

/* The state of one capture. */
struct per_source {
	bool known;
	bool shares; /* stitch_together() was called */
	/* the file is from perf inject: perf has unwound its chains */
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
	struct per_source *own;	  /* state of the record's source; borrowed from
				   * src */
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

/* slot is that of the record's thread. The record is st->rec. */

/* Finds the code that a process made at run time. Searches once, and again if a
 * record (hint) says where it is. */
void record_unwind_find_jit(struct stitch *st, struct process *p,
			    const struct rec_map *hint);
/* Returns the code that the process made at run time, for the current record,
 * or NULL. */
const struct jit_view *record_unwind_some_jit(struct stitch *st,
					      struct process *p);
static inline const struct jit_view *record_unwind_jit(struct stitch *st,
						       struct process *p)
{
	return p->jit.asked && !p->jit.own && !p->jit.parents
		       ? NULL
		       : record_unwind_some_jit(st, p);
}

/* Returns a region in the unwinder's form. */
struct unwind_map record_unwind_map(const struct region *r);
/* Begins to unwind dumps of later samples. */
void record_unwind_look_ahead(struct stitch *st);

/* Notes how well region r, which the record's source has mapped, locates the
 * kernel. */
void record_chains_note_kernel(struct stitch *st, const struct region *r);
/* Return raw chain ids of the record's stacks, or 0. slot is that of its
 * thread. */
uint32_t record_chains_some_kernel_chain(struct stitch *st,
					 const struct addrs *a);
static inline uint32_t record_chains_kernel_chain(struct stitch *st,
						  const struct addrs *a)
{
	return a->n || st->rec->flags & REC_F_GUEST
		       ? record_chains_some_kernel_chain(st, a)
		       : 0;
}
uint32_t record_chains_user_chain(struct stitch *st, uint32_t slot,
				  const struct addrs *a);
uint32_t record_chains_some_sample_chain(struct stitch *st, uint32_t slot);
/* Returns the raw chain id of a sample's own user stack, or 0. */
static inline uint32_t record_chains_sample_chain(struct stitch *st,
						  uint32_t slot)
{
	const struct rec_sample *s = &st->rec->sample;

	if (s->user.n || s->has_dump || st->rec->flags & REC_F_GUEST)
		return record_chains_some_sample_chain(st, slot);
	/* No address, no stack; but jitted code is dated by the first record of
	 * its process. */
	record_unwind_jit(st, stitch_process_of(st, slot));
	return 0;
}
/* Returns the raw chains of the stacks in the sample's fields, or NULL; the
 * fact queue owns them. */
const uint32_t *record_chains_held_chains(struct stitch *st);
/* Fills st->gain for a sample of the thread in slot. Returns the weight of the
 * sample's own event. */
uint64_t record_chains_weigh_group(struct stitch *st, uint32_t slot);
static inline uint64_t record_chains_weigh(struct stitch *st, uint32_t slot)
{
	return st->rec->sample.n_member ? record_chains_weigh_group(st, slot)
					: st->rec->sample.weight;
}
/* Returns true for a sample that only a living thread can cause. An exiting
 * task does not return to user mode, so the kernel gives it no cookie
 * (unwind_deferred_request(), Linux 7.2). */
bool record_chains_is_living(const struct record *rec);
/* Applies the sample's system call to the mappings of its process. */
void record_chains_take_call(struct stitch *st, uint32_t slot);
/* Checks the mapping of a sampled user address whose stack comes later. */
void record_chains_check_hit(struct stitch *st, uint32_t slot);
/* Notes the effects of a process's (slot) mapping on other processes. */
void record_chains_note_map(struct stitch *st, uint32_t process,
			    const struct region *r);
/* Keeps a late mapping of a process (slot), for stacks before it. */
void record_chains_late_map(struct stitch *st, uint32_t process,
			    const struct region *r);
