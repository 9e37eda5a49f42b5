/* thread_names.h - which names several threads have: a row of one of these is
 * told with its tid.
 *
 * thread_names_add() for all of them, then questions. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/intern.h"

/* Empty if it is all 0. */
struct thread_names {
	struct intern names;
	int64_t *tid; /* by name: who has it; -1: several */
	size_t n, cap;
	struct intern told; /* what was answered */
};

void thread_names_release(struct thread_names *t);
void thread_names_add(struct thread_names *t, const char *name, int64_t tid);
/* Returns the name, with " (TID)" if several threads have it; "" for a thread
 * without one. Valid until thread_names_release(). */
const char *thread_names_tell(struct thread_names *t, const char *name,
			      int64_t tid);
/* Returns what threads that differ by a number only have in common,
 * "worker<N>", as perf 7.1 does; the caller frees it. */
char *thread_names_role(const char *comm);
