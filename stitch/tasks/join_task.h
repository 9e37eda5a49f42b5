/* join_task.h - what the join keeps of a thread. */
#ifndef STITCH_TASKS_JOIN_TASK_H
#define STITCH_TASKS_JOIN_TASK_H
#include <stdbool.h>
#include <stdint.h>

#define JOIN_RECENT 4

/* Cookies of one kind that a thread had. */
struct join_cookies {
	uint32_t recent[JOIN_RECENT]; /* entries, newest first; 0: none */
	int64_t last;		      /* time of the last chain or cookie */
	bool seen;		      /* there was one */
	bool has_mark;		      /* had a marker without cookie */
};

/* The part of a thread that join owns; zeroed at the thread's birth. Of a
 * capture that shares its line with others: use what join_task_of() gives. */
struct join_task {
	struct join_cookies cookies, nonces;
	int64_t exec; /* time of the last exec */
	bool has_exec;
	uint32_t
		execs; /* how many so far: the order where there are no times */
	uint32_t peer; /* stitch/join/shared_threads.h; 0: none */
};

/* The thread called exec at `time`. */
static inline void join_task_exec(struct join_task *task, int64_t time)
{
	task->has_exec = true;
	task->exec = time;
	task->execs++;
}
#endif
