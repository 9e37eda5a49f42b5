/* shared_threads.h - what the join knows about threads that several captures
 * see.
 *
 * Each capture has its own struct join_task for a thread, its view. In captures
 * of one kernel, the view only refers to a struct join_task that all of them
 * share, which is found by the thread's row id. It is removed with its last
 * view. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"
#include "stitch/tasks/join_task.h"
#include "stitch/base/table.h"

struct shared_thread {
	struct join_task task;
	uint32_t row, views; /* views 0: unused */
	enum join_reason why;
	int64_t end;
};

/* All zeros: empty. */
struct shared_threads {
	struct shared_thread *at;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
	struct table by_row;
};

void shared_threads_release(struct shared_threads *ps);
/* Returns what all captures know of a thread, of which a view is one capture's
 * part: a view that has no shared task gets one, and what the view has learned
 * of execs since the last call is taken over. Valid until the next call. */
struct join_task *shared_threads_task(struct shared_threads *ps, uint32_t row,
				      struct join_task *view);
/* Removes a view, as in join_retire(). If it was the last one, returns true and
 * the task, with what all views know about its end. */
bool shared_threads_retire(struct shared_threads *ps,
			   const struct join_task *view, enum join_reason *why,
			   int64_t *end, struct join_task *out);
