/* task.h - the state of threads and processes, which only tasks.c and
 * shared_tasks.c change. */
#pragma once
#include <stdbool.h>

#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/join_task.h"
#include "stitch/tasks/space.h"

/* Links the slots that several captures of one kernel have for one incarnation:
 * they share a row, and form a ring. */
struct shared_task {
	uint32_t next;	 /* next slot of the ring; the own slot: no other */
	uint32_t view;	 /* unique over all slots ever used */
	uint16_t source; /* smallest source of the slots that were dropped */
	bool replaced;	 /* another capture saw a new incarnation of the id */
	int64_t first;	 /* time of the record that created it; TIME_NONE */
	int64_t start, end; /* from slots that were dropped; TIME_NONE */
	bool exit;	    /* end is the time of an EXIT record */
};

struct process {
	uint32_t id, parent; /* row ids */
	int32_t pid;
	uint16_t source;
	bool used; /* the slot is in use */
	bool ended;
	bool exit_seen;	    /* an EXIT record of a thread was seen */
	uint32_t n_threads; /* threads that have not ended, except those with
			     * tid -1 */
	uint32_t n_slots;   /* threads that have a slot */
	int64_t start, end;
	/* Time from which on a mapping record may have been lost: that of the
	 * last exec of the process or its ancestor. TIME_NONE: the start of the
	 * capture. */
	int64_t since;
	/* When a thread other than the leader called exec: it got the leader's
	 * id, and its own id became free without an EXIT record. */
	int64_t taken_over;
	uint32_t kin;	   /* number of the processes that may share its space
			    * (stitch/tasks/space.h); 0: none */
	int64_t next_maps; /* time when a saved list of mappings is due */
	struct space space;
	struct shared_task shared;
	struct jit_view jit;
};

struct thread {
	uint32_t id;	  /* row id */
	uint32_t process; /* slot of its process */
	uint32_t comm;	  /* row id of the current name; 0: none yet */
	const char *name; /* the current name; NULL: none yet */
	int64_t named;	  /* since when it has the name; TIME_NONE: unknown */
	int32_t tid;
	uint16_t source;
	bool used;
	bool ended;
	bool exit_seen;	 /* it ended, and an EXIT record said so */
	bool reused_tid; /* the tid had an earlier incarnation */
	bool introduced; /* a FORK record or the recorder's list announced it */
	bool took_over;	 /* may have continued with its process's id */
	bool by_exec;	 /* the name was set by exec */
	bool in_exec;	 /* it is in an exec, without a record since:
			  * tasks_exit() */
	bool made_up;	 /* no record gave the name */
	bool hinted; /* the name comes from a switch, not from a COMM record */
	bool lent;   /* comm is the row of another name, from another capture */
	int64_t start, end;
	int64_t last;  /* time of its last record; TIME_NONE */
	int64_t first; /* time of its first record, if it has a last one */
	int64_t over;  /* when another capture saw its EXIT; TIME_NONE */
	int64_t left;  /* time of an EXIT that may only be that of its events,
			* see tasks_exit(); TIME_NONE: none */
	struct shared_task shared;
	struct join_task join;
};

struct fact_queue;

/* The slot that a record's ids led to. */
struct recent {
	uint16_t source;
	bool known;
	int32_t pid, tid;
	uint32_t slot;
};

/* Size of a cache, as most records belong to a recently used thread. */
#define RECENT 64

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

struct tasks {
	struct thread *thread; /* by slot */
	struct process *process;
	struct recent recent[RECENT]; /* cache of tasks_thread() */
	struct fact_queue *out;
	struct side *side;
	size_t n_side, cap_side;
	int64_t now; /* time of the current record; TIME_NONE: unknown */
	size_t n_thread, cap_thread, n_process, cap_process;
	uint32_t *free_thread, *free_process;
	size_t n_free_thread, cap_free_thread;
	size_t n_free_process, cap_free_process;
	struct table threads, processes; /* (source, id) -> slot */
	struct table seen;	/* ids that sources of a line have had */
	struct thread replaced; /* used: valid */
	struct dying *dying;	/* ended threads that wait to be retired, from
				 * dying_head on */
	size_t dying_head, n_dying, cap_dying;
	size_t sweep;	      /* position of tasks_retire(TIME_NONE) */
	size_t sweep_process; /* position of tasks_drop_rest() */
	uint32_t thread_ids, process_ids, comm_ids, mapping_ids, views;
	bool keep_old;	     /* keep ended mappings for look-ups in the past */
	size_t inherit;	     /* number of inherited mappings that may still get
			      * rows */
	size_t held;	     /* number of regions copied after forks */
	uint64_t unlisted;   /* inherited mappings without a row */
	struct intern names; /* of threads */
	struct shared_spaces kins;
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

/* All negative ids share an entry, as in the index of threads. */
static inline struct recent *tasks_recent(struct tasks *ts, int32_t tid)
{
	return &ts->recent[tid < 0 ? 0 : (uint32_t)tid % RECENT];
}

static inline void tasks_forget_recent(struct tasks *ts, int32_t tid)
{
	tasks_recent(ts, tid)->known = false;
}
