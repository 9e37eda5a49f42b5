/* join_task.h - what the join knows about a thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define JOIN_RECENT 4

/* The last cookies of one kind of a thread. */
struct join_cookies {
	uint32_t recent[JOIN_RECENT]; /* entries, newest first; 0: none */
	int64_t last;  /* time of the last sample or chain with a cookie */
	bool seen;     /* the thread had such a cookie */
	bool has_mark; /* a marker without cookie came after the last cookie */
};

/* Owned by the join; zeroed when the thread is created. If the capture shares
 * its line with others, use what join_task_of() returns instead. */
struct join_task {
	struct join_cookies cookies, nonces;
	int64_t exec; /* time of the last exec */
	bool has_exec;
	uint32_t execs;	 /* number of execs, which replaces the time in
			  * captures without times */
	uint32_t shared; /* index in shared_threads, plus 1; 0: none */
};

/* Notes that the thread called exec at this time. */
static inline void join_task_exec(struct join_task *task, int64_t time)
{
	task->has_exec = true;
	task->exec = time;
	task->execs++;
}
