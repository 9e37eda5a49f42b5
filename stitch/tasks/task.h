/* task.h - what is known of one thread and of one process. */
#ifndef STITCH_TASKS_TASK_H
#define STITCH_TASKS_TASK_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/jit.h"
#include "stitch/tasks/join_task.h"
#include "stitch/tasks/space.h"

/* A life that several captures of one kernel know is one row, and a slot in
 * each: all slots of it are a ring. */
struct twin {
	uint32_t next;	    /* slot of another capture's; its own: of none */
	uint32_t view;	    /* tells all slots apart that there ever were */
	uint16_t source;    /* the smallest of those that are gone */
	bool replaced;	    /* by another capture its id is another life's */
	int64_t first;	    /* time of the record that made it; TIME_NONE */
	int64_t start, end; /* what those that are gone knew; TIME_NONE */
	bool exit;	    /* end was that of an EXIT record */
};

struct process {
	uint32_t id, parent; /* row ids */
	int32_t pid;
	uint16_t source;
	bool used; /* the slot is taken */
	bool ended;
	bool exit_seen;	    /* of a thread */
	uint32_t n_threads; /* threads that have not ended, tid -1 aside */
	uint32_t n_slots;   /* threads that still have a slot */
	int64_t start, end;
	/* Since when a mapping record of it may have been lost: its last
	 * exec, or that of whom it was forked from. TIME_NONE: all along. */
	int64_t since;
	/* When a thread other than the first called exec: it got the first
	 * one's id, and its own was free without an EXIT record. */
	int64_t taken_over;
	int64_t next_maps; /* when a saved list of mappings is due */
	struct space space;
	struct twin twin;
	struct jit_view jit;
};

struct thread {
	uint32_t id;	  /* row id */
	uint32_t process; /* slot */
	uint32_t comm;	  /* row id of the current name; 0: none yet */
	const char *name; /* the current name; NULL: none yet */
	int64_t named;	  /* since when; TIME_NONE */
	int32_t tid;
	uint16_t source;
	bool used;
	bool ended;
	bool exit_seen;	 /* ended, and by an EXIT record */
	bool reused_tid; /* another life of this tid came before */
	bool introduced; /* a FORK record told of it, or the recorder did */
	bool took_over;	 /* may have gone on under its process's id */
	bool by_exec;	 /* exec gave the name */
	bool made_up;	 /* nobody said the name */
	bool lent;	 /* comm is of another name, which a twin told */
	int64_t start, end;
	int64_t last; /* time of its newest record; TIME_NONE */
	int64_t over; /* when another capture saw its EXIT; TIME_NONE */
	struct twin twin;
	struct join_task join;
};
#endif
