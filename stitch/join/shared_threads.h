/* shared_threads.h - threads that several captures know: what the join keeps of
 * such a thread is one for all of them.
 *
 * Each capture has its own view of a thread, with a struct join_task in it. In
 * captures of one kernel that is only the way to the one behind it, which is
 * found by the thread's row id. It goes when the last view of it does. */
#ifndef STITCH_JOIN_SHARED_THREADS_H
#define STITCH_JOIN_SHARED_THREADS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"
#include "stitch/tasks/join_task.h"
#include "stitch/base/table.h"

struct peer {
	struct join_task task;
	uint32_t row, views; /* views 0: it is free */
	enum join_reason why;
	int64_t end;
};

/* All zeros is empty. */
struct peers {
	struct peer *at;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
	struct table by_row;
};

void peers_release(struct peers *ps);
/* The task behind a view; it holds until the next call. */
struct join_task *peers_task(struct peers *ps, uint32_t row,
			     struct join_task *view);
/* A view is let go, as in join_retire(). True, with the task and what all
 * views together know of its end: it was the last one. */
bool peers_retire(struct peers *ps, const struct join_task *view,
		  enum join_reason *why, int64_t *end, struct join_task *out);
#endif
