/* tasks.h - threads and processes: each incarnation of an id is a row.
 *
 * An incarnation is the time between start and end of one thread or process
 * with an id. A slot is the index of an incarnation in an array; it is reused
 * after the end. Pointers to threads and processes are valid until the next
 * call that may create one. An incarnation that ended is kept for a while,
 * because its deferred chain follows its EXIT record (backstitch-formats(5),
 * "Deferred stacks: order of records"); then tasks_retire() returns it, and its
 * rows are output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/space.h"
#include "stitch/tasks/task.h"

struct fact_queue;

struct tasks *tasks_new(struct fact_queue *out);
void tasks_free(struct tasks *ts);
/* Declares that the source shares what it knows with the other captures of a
 * line, which is named after its first source. Call it before the source's
 * first task. */
void tasks_together(struct tasks *ts, uint16_t source, uint16_t line);

static inline struct thread *tasks_thread_at(struct tasks *ts, uint32_t slot)
{
	return &ts->thread[slot];
}
static inline struct process *tasks_process_at(struct tasks *ts, uint32_t slot)
{
	return &ts->process[slot];
}

/* The slow path of tasks_thread(): the thread is not among the recent ones. */
uint32_t tasks_thread_anew(struct tasks *ts, uint16_t source, int32_t pid,
			   int32_t tid);
/* Return the slot of the living thread or process with this id, which is
 * created if it is unknown. pid -1: unknown; a known thread keeps its process,
 * and a new thread gets one when a record names it. */
static inline uint32_t tasks_thread(struct tasks *ts, uint16_t source,
				    int32_t pid, int32_t tid)
{
	const struct recent *r = tasks_recent(ts, tid);

	return r->known && r->tid == tid && r->pid == pid && r->source == source
		       ? r->slot
		       : tasks_thread_anew(ts, source, pid, tid);
}
uint32_t tasks_process(struct tasks *ts, uint16_t source, int32_t pid);
/* Returns the slot of the thread with this id, or TASKS_NONE. */
#define TASKS_NONE UINT32_MAX
uint32_t tasks_find(struct tasks *ts, uint16_t source, int32_t pid,
		    int32_t tid);
/* Like tasks_find(), for a record that is not due yet: changes nothing, and
 * returns TASKS_NONE if tasks_find() would start the id's next incarnation. */
uint32_t tasks_peek(const struct tasks *ts, uint16_t source, int32_t pid,
		    int32_t tid);
/* Copies to *out the thread whose id went to another incarnation since the last
 * call. Returns false if there is none. */
bool tasks_replaced(struct tasks *ts, struct thread *out);
/* Starts the next incarnation of the thread's id, if shared_tasks_is_over().
 * Returns its slot. */
uint32_t tasks_next(struct tasks *ts, uint32_t slot);
/* Returns the row id of the thread's name. Makes a name (":TID") if there is
 * none. */
uint32_t tasks_comm(struct tasks *ts, uint32_t slot);

/* Returns the slot of the thread with that id if its EXIT record was seen, or
 * TASKS_NONE. */
uint32_t tasks_exited(const struct tasks *ts, uint16_t source, int32_t tid);

/* Takes a FORK record, and returns the slot of the new thread. pid -1: the same
 * process as the parent; ppid -1: the process of ptid, as far as it is known.
 * synth: the recorder lists a thread that started earlier: no mappings are
 * inherited, and a known incarnation continues. */
uint32_t tasks_fork(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid,
		    int32_t ppid, int32_t ptid, int64_t t, bool synth);
void tasks_set_comm(struct tasks *ts, uint32_t slot, const char *name,
		    int64_t t, bool exec);
/* Takes the name of a thread at t from a switch. It is used if no record names
 * the thread, as when the recorder keeps only the newest records or one CPU;
 * and only from t on, as the thread may have had another name before. */
void tasks_hint_comm(struct tasks *ts, uint32_t slot, const char *name,
		     int64_t t);
/* Returns false if tasks_hint_comm() would change nothing; a fast test. */
static inline bool tasks_wants_hint(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	return !th->name || th->made_up || th->hinted;
}
/* Notes that a thread may have called exec and become the leader. */
void tasks_take_over(struct tasks *ts, uint32_t slot, int64_t t);
/* Takes an EXIT of perf. When a program with other rights is executed, as sudo,
 * or one that its user may not read, the kernel takes the events of the thread
 * away, which writes an EXIT after the COMM of the exec (perf_event_exit_task()
 * in fs/exec.c, Linux 2.6.34 to 7.2), and the thread goes on: a record that
 * only a living thread makes, or a second EXIT, proves that. Without one, the
 * EXIT was the thread's own, which ended in its exec. */
void tasks_exit(struct tasks *ts, uint32_t slot, int64_t t);
/* Notes that a thread lives. in_exec: it has just called exec. */
void tasks_live(struct tasks *ts, uint32_t slot, bool in_exec);
/* Ends an incarnation of an id after the FORK of the next one was lost: the
 * next tasks_thread() creates that. A process without threads ends as well. */
void tasks_forget(struct tasks *ts, uint32_t slot);
void tasks_map(struct tasks *ts, uint32_t process, const struct region *r);
/* Returns whether p, or a process that may share its space, mapped the address
 * since the fork. */
bool tasks_kin_maps(const struct tasks *ts, const struct process *p,
		    uint64_t addr);
/* Removes the mappings in [start, end) at t. end 0: to the end of the address
 * space. */
void tasks_unmap(struct tasks *ts, uint32_t process, uint64_t start,
		 uint64_t end, int64_t t);

/* Stores the slot of a thread that ended before t in *slot; its data is valid
 * until tasks_drop(). Returns false if there is none. TIME_NONE: takes any
 * thread, even one that has not ended (at the end of the capture). */
bool tasks_retire(struct tasks *ts, int64_t t, uint32_t *slot);
/* Returns false if no ended thread waits to be retired; a fast test. */
static inline bool tasks_any_ended(const struct tasks *ts)
{
	return ts->dying_head < ts->n_dying;
}
/* Outputs the thread's rows, and with its last thread those of the process. */
void tasks_drop(struct tasks *ts, uint32_t slot);
/* Outputs one of the processes that did not end. Returns false if there is none
 * left. Call it last: the mappings of all of them together would need more
 * memory than any other step. */
bool tasks_drop_rest(struct tasks *ts);

/* Returns the owner of kernel spaces: mapping rows with process 0. */
struct space_owner tasks_kernel_owner(struct tasks *ts);
