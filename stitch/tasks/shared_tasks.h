/* shared_tasks.h - threads and processes that several captures of a kernel see.
 *
 * Captures of one kernel are called a line. Each capture has its own slot for a
 * thread or process, which only its own records change. All slots of one
 * incarnation form a ring and share one row id. A name or mapping that several
 * captures report gets one row, and the slot that is dropped last outputs the
 * row of the incarnation. A new slot joins the ring of the incarnation with the
 * same id that lives at that time in another capture. A capture that is alone
 * in its line has no overhead. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct region;
struct space;
struct tasks;

/* The child of a FORK record, and its parent's process; -1: unknown. */
struct forked {
	uint16_t source;
	int32_t pid, tid, ppid;
};

/* Gives a new slot its row id: that of its ring, or a new one. */
void shared_tasks_add_process(struct tasks *ts, uint32_t slot);
void shared_tasks_add_thread(struct tasks *ts, uint32_t slot);
/* Removes a slot from its ring; outputs the row if it was the last one. */
void shared_tasks_drop_process(struct tasks *ts, uint32_t slot);
void shared_tasks_drop_thread(struct tasks *ts, uint32_t slot);

/* Notes that the thread now belongs to a known process. */
void shared_tasks_note_process(struct tasks *ts, uint32_t slot);
/* Returns the process id of the thread, as another capture knows it, or -1. */
int32_t shared_tasks_pid(struct tasks *ts, uint16_t source, int32_t tid);
/* Returns true if another capture of the line saw the end of the thread before
 * now. A few records about a thread follow its EXIT, but none that it made
 * itself. */
bool shared_tasks_is_over(const struct tasks *ts, uint32_t slot);
/* Returns the slot of the same process in the next capture of the ring; the
 * same slot if there is no other. */
uint32_t shared_tasks_next(const struct tasks *ts, uint32_t process);
/* Returns since when a process runs its program, as far as any capture of the
 * ring recorded it: its last exec or its start; else INT64_MIN + 1. */
int64_t shared_tasks_since(const struct tasks *ts, uint32_t process);

/* Tells the other captures that an incarnation of the id begins at t: their
 * incarnation of that id has ended, unless it began at the same time. */
void shared_tasks_tell_fork(struct tasks *ts, const struct forked *f,
			    int64_t t);
/* Tells the other captures that the thread ended at t. */
void shared_tasks_tell_exit(struct tasks *ts, uint32_t slot, int64_t t);
/* Returns true if, by other captures, a record made now belongs to a later
 * incarnation than slot's. */
bool shared_tasks_is_past(const struct tasks *ts, uint32_t slot);

/* Returns true if another capture saw the end of the process. */
bool shared_tasks_process_ended(const struct tasks *ts, uint32_t slot);

/* To be called for a new name of a thread. Returns true, and takes over the row
 * id, if another capture reported the name already. */
bool shared_tasks_reuse_name(struct tasks *ts, uint32_t slot);
/* Gives the thread's name to slots of the ring that have none. */
void shared_tasks_lend_name(struct tasks *ts, uint32_t slot);
/* Gives the thread a name from another slot of its ring. Returns false if there
 * is none. */
bool shared_tasks_borrow_name(struct tasks *ts, uint32_t slot);

/* Returns true if another capture has the same mapping of the process. */
bool shared_tasks_have_map(const struct tasks *ts, uint32_t process,
			   const struct region *r);
/* Returns true if another capture has all mappings of sp. */
bool shared_tasks_have_all_maps(const struct tasks *ts, uint32_t process,
				const struct space *sp);
