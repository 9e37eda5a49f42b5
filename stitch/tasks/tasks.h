/* tasks.h - threads and processes: each life of an id is a row of its own.
 *
 * A slot is an index into an array whose entries are reused after the end of
 * a life; pointers are valid until the next call that may make a thread or a
 * process. A life that ended is kept for a while, because its deferred chain
 * comes after its EXIT record (formats.md C.3), then tasks_retire() lets it
 * go and its rows are given out. */
#ifndef STITCH_TASKS_TASKS_H
#define STITCH_TASKS_TASKS_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/jit.h"
#include "stitch/join/join.h"
#include "stitch/tasks/space.h"

struct facts;
struct tasks;

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

struct tasks *tasks_new(struct facts *out);
void tasks_free(struct tasks *ts);
/* Keep ended mappings for look-ups in the past. */
void tasks_keep_old(struct tasks *ts);

/* The source is of the line of captures that share what they know (line: the
 * first of them); before its first task. */
void tasks_together(struct tasks *ts, uint16_t source, uint16_t line);
/* The time of the record that the next calls are about; TIME_NONE. */
void tasks_now(struct tasks *ts, int64_t t);

struct thread *tasks_thread_at(struct tasks *ts, uint32_t slot);
struct process *tasks_process_at(struct tasks *ts, uint32_t slot);

/* The living thread or process of that id, made when it is not known. pid -1
 * is not known: a known thread stays what it is, and one that was first seen
 * so gets its process when a record names it. */
uint32_t tasks_thread(struct tasks *ts, uint16_t source, int32_t pid,
		      int32_t tid);
uint32_t tasks_process(struct tasks *ts, uint16_t source, int32_t pid);
/* The thread of that id, if it is known: its slot, or TASKS_NONE. */
#define TASKS_NONE UINT32_MAX
uint32_t tasks_find(struct tasks *ts, uint16_t source, int32_t pid,
		    int32_t tid);
/* Who had an id until a record since the last call gave it to another life:
 * true and a copy. */
bool tasks_replaced(struct tasks *ts, struct thread *out);
/* Has another capture of the line seen that this life was over by now? A few
 * records of a thread come after its EXIT, but none that it made itself. */
bool tasks_is_over(const struct tasks *ts, uint32_t slot);
/* Then: the next life of its id. */
uint32_t tasks_next(struct tasks *ts, uint32_t slot);
/* The slot of the same process in another capture, in a ring; its own: there
 * is none. */
uint32_t tasks_twin(const struct tasks *ts, uint32_t process);
/* The row id of the thread's name, made (":TID") when there is none. */
uint32_t tasks_comm(struct tasks *ts, uint32_t slot);

/* State changes. A fork's pid -1 is the parent's, ppid -1 that of ptid as far
 * as it is known. synth: told by the recorder about the time before; then a
 * fork copies no mappings, and an existing life goes on. */
uint32_t tasks_fork(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid,
		    int32_t ppid, int32_t ptid, int64_t t, bool synth);
void tasks_set_comm(struct tasks *ts, uint32_t slot, const char *name,
		    int64_t t, bool exec);
/* A thread other than the first may have called exec and be the first one
 * now. */
void tasks_take_over(struct tasks *ts, uint32_t slot, int64_t t);
void tasks_exit(struct tasks *ts, uint32_t slot, int64_t t);
/* The id means another life from now on (its fork record was lost): the next
 * tasks_thread() makes a new one; a process without threads goes with it. */
void tasks_forget(struct tasks *ts, uint32_t slot);
void tasks_map(struct tasks *ts, uint32_t process, const struct region *r);
/* Nothing is mapped in [start, end) from t on; end 0: to the end. */
void tasks_unmap(struct tasks *ts, uint32_t process, uint64_t start,
		 uint64_t end, int64_t t);

/* Lets one life go that ended before t: its thread slot in *slot, still
 * readable until tasks_drop(). false: none. TIME_NONE: any life at all, also
 * those that have not ended (the end of the capture). */
bool tasks_retire(struct tasks *ts, int64_t t, uint32_t *slot);
/* Gives out its rows; with the last thread those of the process too. */
void tasks_drop(struct tasks *ts, uint32_t slot);
/* At the end, after all threads: the processes that never had one. */
void tasks_drop_rest(struct tasks *ts);

/* Mappings that forked processes inherited and that got no row, because they
 * were too many. */
uint64_t tasks_unlisted(const struct tasks *ts);

/* The kernel's own space owner: mapping rows with process 0. */
struct space_owner tasks_kernel_owner(struct tasks *ts);
#endif
