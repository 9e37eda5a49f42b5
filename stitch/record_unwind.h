/* record_unwind.h - what the unwinder is asked about a record, and what it sees
 * of the process: mappings, those that other captures have, and jitted code.
 *
 * slot is that of the record's thread. The record is st->rec. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/stitch_state.h"
#include "stitch/unwinder.h"

/* Collects the address spaces that other captures have of the process. Returns
 * how many. */
uint32_t record_unwind_spaces(struct stitch *st, uint32_t process,
			      const struct space *out[SHARED_SPACES_MAX]);
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
/* Asks the unwinder whether the caller of a recorded list's first address is in
 * the list; *caller: if it is inferred. */
enum unwind_caller record_unwind_caller(struct stitch *st, uint32_t slot,
					const struct addrs *a,
					uint64_t *caller);
/* Returns whether the user stack of a sample was made by perf inject
 * --convert-callchain, which hides this where the recording was asked for dumps
 * by perf's configuration: its callers are inside calls. */
bool record_unwind_is_converted(struct stitch *st, uint32_t slot);
/* Returns what the answer depends on besides addresses and mappings: the
 * machine, and whether registers are of 32 bits or 64. */
uint64_t record_unwind_depends(const struct stitch *st);
/* AArch64: perf samples the link register (Linux 5.17), which may still hold
 * the address that the innermost function returns to. Returns whether it does,
 * and the address. */
bool record_unwind_link(struct stitch *st, uint32_t slot, uint64_t *caller);
/* Unwinds the sample's copy of the stack, from the sampled registers on, or
 * from its address if the program counter is not among them. */
void record_unwind_dump(struct stitch *st, uint32_t slot,
			struct unwind_out *out);
/* Begins to unwind dumps of later samples. */
void record_unwind_look_ahead(struct stitch *st);
