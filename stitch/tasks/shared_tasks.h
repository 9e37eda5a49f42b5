/* shared_tasks.h - inside the tasks: one life that several captures know.
 *
 * Each capture keeps a slot of its own for a life, and what it says changes
 * only that: its audit is its own. Slots of one life in different captures of
 * a line are twins: they have one row id, names and mappings that both tell
 * get one row, and the last one that goes gives out the row. A life is linked
 * when its slot is made: to the life of the same id that lives at that time in
 * another capture. A capture that alone makes a source costs nothing. */
#ifndef STITCH_TASKS_SHARED_TASKS_H
#define STITCH_TASKS_SHARED_TASKS_H
#include <stdbool.h>
#include <stdint.h>

struct region;
struct space;
struct tasks;

/* Of a FORK record: the child, and its parent's process; -1: not known. */
struct forked {
	uint16_t source;
	int32_t pid, tid, ppid;
};

/* A new slot gets its row id: that of a twin, or a new one. */
void twins_new_process(struct tasks *ts, uint32_t slot);
void twins_new_thread(struct tasks *ts, uint32_t slot);
/* A slot goes; the last one of a life gives out the row. */
void twins_drop_process(struct tasks *ts, uint32_t slot);
void twins_drop_thread(struct tasks *ts, uint32_t slot);

/* The process of the thread by another capture; -1: it does not know. */
int32_t twins_pid(struct tasks *ts, uint16_t source, int32_t tid);
/* Has another capture of the line seen that the thread's life was over by now?
 * A few records of a thread come after its EXIT, but none that it made
 * itself. */
bool twins_is_over(const struct tasks *ts, uint32_t slot);
/* The slot of the same process in another capture, in a ring; its own: there
 * is none. */
uint32_t twins_next(const struct tasks *ts, uint32_t process);

/* The others learn that a life of the id begins at t: what they have of that
 * id is over, unless it began just then. */
void twins_tell_fork(struct tasks *ts, const struct forked *f, int64_t t);
/* That this one has ended. */
void twins_tell_exit(struct tasks *ts, uint32_t slot, int64_t t);
/* Does the record of now belong to another life, as others tell? */
bool twins_is_past(const struct tasks *ts, uint32_t slot);

/* Has another capture seen the end of the process? */
bool twins_process_ended(const struct tasks *ts, uint32_t slot);

/* The thread has a new name: true when a twin has told it already. */
bool twins_has_name(struct tasks *ts, uint32_t slot);
/* Its name is also that of twins that have none. */
void twins_lend_name(struct tasks *ts, uint32_t slot);
/* It has none, and takes a twin's; false: there is none. */
bool twins_borrow_name(struct tasks *ts, uint32_t slot);

/* Has a twin of the process mapped the same? */
bool twins_have_map(const struct tasks *ts, uint32_t process,
		    const struct region *r);
/* And all that is in the space? */
bool twins_have_all(const struct tasks *ts, uint32_t process,
		    const struct space *sp);
#endif
