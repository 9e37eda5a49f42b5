/* record_chains.h - the kernel and user stacks of a record, as raw chains; and
 * the state of struct stitch, for stitch.c and record_chains.c only. */
#ifndef STITCH_RECORD_CHAINS_H
#define STITCH_RECORD_CHAINS_H
#include "stitch/fact_queue.h"
#include "stitch/order/order.h"
#include "stitch/join/stack_parts.h"
#include "stitch/record.h"
#include "stitch/audit/counters.h"
#include "stitch/audit/rules.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/tasks/seats.h"
#include "stitch/tasks/space.h"
#include "stitch/fact.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

/* The state of one capture. */
struct per_source {
	bool known;
	bool shares; /* stitch_together() was called */
	const struct source *from;
	uint16_t line; /* smallest index of the captures of its kernel */
	int64_t last;  /* time of its newest record */
	struct seats seats;
	struct snapshots *maps;	 /* saved lists of mappings; NULL: none */
	struct space base, over; /* kernel mappings: the kernel's own, and code
				  * above them */
	/* How well base locates the kernel; and, in the first source of a line,
	 * the source that knows it best, plus 1; 0: none. */
	unsigned int kernel_known, kernel_by;
};

#define SHARED_SPACES_MAX 8 /* most other captures to ask for mappings */

/* What the unwinder says of a recorded list depends on its first address, the
 * machine and what is mapped: most lists begin where one before did. A caller
 * is inferred from all addresses; lists with one hash of 64 bits are taken for
 * equal. */
struct known_caller {
	uint64_t addr, epoch; /* epoch 0: empty entry */
	uint64_t list;	      /* hash of all addresses; 0: not inferred */
	uint64_t caller;      /* if found says so */
	const char *arch;     /* of the capture */
	uint32_t any;	      /* sum of the spaces' counters */
	uint32_t abi;	      /* of the registers: 32 bits or 64 */
	uint8_t found;	      /* enum unwind_caller */
};

#define KNOWN_CALLERS 2048

struct stitch {
	struct order *in;
	struct frames *fr;
	struct ledger *ledger;
	struct unwinder *uw;
	struct ahead *ahead; /* NULL: no threads unwind */
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
	struct group_reads *reads;
	struct late_maps late;
	struct partial_maps *whole; /* NULL: segments of files are unknown */
	struct per_source *src;
	size_t n_src, cap_src;
	struct record *rec, none;   /* the newest record; before the first */
	struct per_source *own;	    /* of its source; borrowed from src */
	struct audit_in look;	    /* what the rules need to know about rec */
	uint32_t who;		    /* slot of its thread, or TASKS_NONE */
	struct thread before, gone; /* memory that look points to */
	jit_find_fn *find_jit;	    /* NULL: code made at run time is unknown */
	void *find_arg;
	struct known_caller caller[KNOWN_CALLERS]; /* by hash of the address or
						    * list */
	uint64_t *chain; /* a chain with an inferred address */
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

/* Notes how well region r, which the record's source has mapped, locates the
 * kernel. */
void record_chains_note_kernel(struct stitch *st, const struct region *r);
/* Finds the code that a process made at run time. Searches once, and again if a
 * record (hint) says where it is. */
void record_chains_find_jit(struct stitch *st, struct process *p,
			    const struct rec_map *hint);
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
/* Returns the raw chain id of a sample's own user stack, or 0. */
uint32_t record_chains_sample_chain(struct stitch *st, uint32_t slot);
/* Returns the raw chains of the stacks in the sample's fields, which are the
 * queue's, or NULL. */
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
/* Notes what a mapping of a process (its slot) means for the others. */
void record_chains_note_map(struct stitch *st, uint32_t process,
			    const struct region *r);
/* Keeps a mapping of a process (its slot) that came late, for stacks before
 * it. */
void record_chains_late_map(struct stitch *st, uint32_t process,
			    const struct region *r);
/* Begins to unwind dumps of later samples. */
void record_chains_look_ahead(struct stitch *st);
/* Calls fn with each CPU whose clock differs, before the sources end. */
void record_chains_find_skew(struct stitch *st, counters_found_fn *fn);
#endif
