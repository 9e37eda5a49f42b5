/* tasks.h - threads and processes: each life of an id is a row of its own.
 *
 * A slot is an index into an array whose entries are reused after the end of
 * a life; pointers are valid until the next call that may make a thread or a
 * process. A life that ended is kept for a while, because its deferred chain
 * comes after its EXIT record (backstitch-formats(5), "Deferred stacks: order
 * of records"), then tasks_retire() lets it
 * go and its rows are given out. */
#ifndef STITCH_TASKS_TASKS_H
#define STITCH_TASKS_TASKS_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/space.h"
#include "stitch/tasks/task.h"

struct facts;
struct tasks;

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
/* Then: the next life of its id. */
uint32_t tasks_next(struct tasks *ts, uint32_t slot);
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
