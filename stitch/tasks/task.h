/* task.h - the state of a thread and of a process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	/* Since when a mapping record may have been lost: since the last exec
	 * of it or of its ancestor. TIME_NONE: since the start. */
	int64_t since;
	/* When a thread other than the leader called exec: it got the leader's
	 * id, and its own id became free without an EXIT record. */
	int64_t taken_over;
	uint32_t kin;	   /* those that may have the same space
			    * (stitch/tasks/kin.h); 0: none */
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
	bool made_up;	 /* no record gave the name */
	bool hinted;	 /* a switch gave it, and no record of its own */
	bool lent; /* comm is the row of another name, from another capture */
	int64_t start, end;
	int64_t last;  /* time of its last record; TIME_NONE */
	int64_t first; /* time of its first record, if it has a last one */
	int64_t over;  /* when another capture saw its EXIT; TIME_NONE */
	struct shared_task shared;
	struct join_task join;
};

/* The slot that a record's ids led to. */
struct recent {
	uint16_t source;
	bool known;
	int32_t pid, tid;
	uint32_t slot;
};

/* Size of a cache, as most records are of a recently used thread. */
#define RECENT 64

/* What struct tasks begins with, by slot: each record asks for these several
 * times. */
struct tasks_slots {
	struct thread *thread;
	struct process *process;
	size_t dying_head, n_dying;   /* of those that wait to be retired */
	struct recent recent[RECENT]; /* cache of tasks_thread() */
};

/* All negative ids share an entry, as in the index of threads. */
static inline struct recent *tasks_recent(struct tasks_slots *at, int32_t tid)
{
	return &at->recent[tid < 0 ? 0 : (uint32_t)tid % RECENT];
}
