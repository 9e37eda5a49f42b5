/* thread_names.h - names that several threads have, which are shown with a tid.
 *
 * Call thread_names_add() for all threads, then thread_names_tell(). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/intern.h"

/* Empty if it is all 0. */
struct thread_names {
	struct intern names;
	int64_t *tid; /* by id in names: whose it is; -1: several threads' */
	size_t n, cap;
	struct intern told; /* names that were returned with a tid */
};

void thread_names_release(struct thread_names *t);
void thread_names_add(struct thread_names *t, const char *name, int64_t tid);
/* Returns the name, with " (TID)" if several threads have it and tid is above
 * 0; "" for a thread without a name. Valid until thread_names_release(). */
const char *thread_names_tell(struct thread_names *t, const char *name,
			      int64_t tid);
/* Returns the name with each number as "<N>", which threads of one role share:
 * "worker<N>", as perf 7.1 does; the caller frees it. */
char *thread_names_role(const char *comm);
