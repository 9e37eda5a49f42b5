/* record_chains.h - the kernel and user stacks of a record, as raw chains,
 * and what the unwinder is asked about it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/record.h"
#include "stitch/stitch_state.h"
#include "stitch/unwinder.h"

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

/* Returns a region as the unwinder takes it. */
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
