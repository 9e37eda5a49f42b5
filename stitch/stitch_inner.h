/* stitch_inner.h - the two halves of a record's stack, as raw chains; and what
 * the stitch knows, for the files of it alone. */
#ifndef STITCH_STITCH_INNER_H
#define STITCH_STITCH_INNER_H
#include "stitch/fact_queue.h"
#include "stitch/order/order.h"
#include "stitch/join/stack_parts.h"
#include "stitch/record.h"
#include "stitch/audit/rules.h"
#include "stitch/tasks/space.h"
#include "stitch/fact.h"
#include "stitch/tasks/tasks.h"

/* What is kept for each capture. */
struct per_source {
	bool known;
	bool shares;		 /* line was said */
	uint16_t line;		 /* stitch_together()'s first */
	int64_t last;		 /* time of its newest record */
	struct snapshots *maps;	 /* NULL: none */
	struct space base, over; /* the kernel's */
	/* How well base says where the kernel is; and of the first source of a
	 * line, plus 1: who knows best. */
	unsigned int kernel_known, kernel_by;
};

#define HALVES_TWINS 8 /* other captures that are asked */

struct stitch {
	struct order *in;
	struct frames *fr;
	struct ledger *ledger;
	struct unwinder *uw;
	struct facts facts;
	struct tasks *tasks;
	struct losses *losses;
	struct account *account;
	struct counters *counters;
	struct audit *audit;
	struct join *join;
	struct resolve *resolve;
	struct parts parts; /* of stacks that are not whole so far */
	struct calls *calls;
	struct whole *whole; /* NULL: no file is here */
	struct per_source *src;
	size_t n_src, cap_src;
	struct record rec;
	struct audit_in look;	    /* what the rules are told of rec */
	uint32_t who;		    /* slot of its thread; TASKS_NONE */
	struct thread before, gone; /* look's */
	jit_find_fn *find_jit;	    /* NULL: nobody looks */
	void *find_arg;
	uint64_t *chain; /* a chain with an inferred address */
	size_t cap_chain;
	uint32_t *held; /* of the last event */
	size_t cap_held;
	int64_t now;		 /* time of the newest record */
	uint32_t events, chains; /* ids given out */
	bool infer;		 /* callers that chains lack, by code */
	bool stopped, closing, ended;
};

static inline const struct source *source_of(struct stitch *st, uint16_t i)
{
	return order_source(st->in, i);
}

static inline struct process *process_of(struct stitch *st, uint32_t slot)
{
	return tasks_process_at(st->tasks,
				tasks_thread_at(st->tasks, slot)->process);
}

/* The record's source has mapped r for the kernel. */
void halves_know_kernel(struct stitch *st, const struct region *r);
/* Looks for the code that a process made, once, and again when a record
 * (hint) says where it is. */
void halves_find_jit(struct stitch *st, struct process *p,
		     const struct rec_map *hint);
/* Raw chain ids of the record's halves; 0: none. slot: of its thread. */
uint32_t halves_kernel(struct stitch *st, const struct addrs *a);
uint32_t halves_user(struct stitch *st, uint32_t slot, const struct addrs *a);
/* The user half that a sample has in itself. */
uint32_t halves_sample(struct stitch *st, uint32_t slot);
/* A hit in user mode whose stack comes later: there is only its address. */
void halves_look_at_hit(struct stitch *st, uint32_t slot);
#endif
