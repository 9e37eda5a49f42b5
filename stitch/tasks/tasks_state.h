/* tasks_state.h - the state of struct tasks, for tasks.c and shared_tasks.c. */
#pragma once
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/kin.h"
#include "stitch/tasks/task.h"

/* Ended threads, in the order of their ends. */
struct dying {
	uint32_t slot, id;
	int64_t end;
};

/* Whether a source shares, and with which line. */
struct side {
	bool shares;
	uint16_t line;
};

struct fact_queue;

struct tasks {
	struct tasks_slots at; /* must be the first */
	struct fact_queue *out;
	struct side *side;
	size_t n_side, cap_side;
	int64_t now;
	size_t n_thread, cap_thread, n_process, cap_process;
	uint32_t *free_thread, *free_process;
	size_t n_free_thread, cap_free_thread;
	size_t n_free_process, cap_free_process;
	struct table threads, processes; /* (source, id) -> slot */
	struct thread replaced;		 /* used: valid */
	struct dying *dying;
	size_t cap_dying;
	size_t sweep;	      /* position of tasks_retire(TIME_NONE) */
	size_t sweep_process; /* position of tasks_drop_rest() */
	uint32_t thread_ids, process_ids, comm_ids, mapping_ids, views;
	bool keep_old;
	size_t inherit;	     /* number of inherited mappings that may still get
			      * rows */
	size_t held;	     /* number of regions copied after forks */
	uint64_t unlisted;   /* inherited mappings without a row */
	struct intern names; /* of threads */
	struct kins kins;
};

/* The kernel writes tid -1 for tasks that are unhashed already (do_exit()).
 * They are distinguished by the pid, which may still be valid. */
static inline uint64_t thread_key(uint16_t source, int32_t pid, int32_t tid)
{
	if (tid < 0)
		return hash_u64(((uint64_t)source << 40) | (1ull << 39) |
				(uint32_t)pid);
	return hash_u64(((uint64_t)source << 40) | (uint32_t)tid);
}

static inline uint64_t process_key(uint16_t source, int32_t pid)
{
	return hash_u64(((uint64_t)source << 40) | (uint32_t)pid);
}

static inline void tasks_forget_recent(struct tasks *ts, int32_t tid)
{
	tasks_recent(&ts->at, tid)->known = false;
}
