/* incarnations.c - which life of a thread id a record belongs to. */
#include "stitch/tasks/incarnations.h"

#include "stitch/record.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/tasks/tasks.h"

static const struct process *process_of(struct tasks *ts, uint32_t slot)
{
	return tasks_process_at(ts, tasks_thread_at(ts, slot)->process);
}

/* Another life of the thread's id begins. */
static uint32_t next_life(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = tasks_thread_at(ts, slot);
	int32_t pid = process_of(ts, slot)->pid;
	int32_t tid = th->tid;
	uint16_t source = th->source;

	tasks_forget(ts, slot);
	slot = tasks_thread(ts, source, pid, tid);
	tasks_thread_at(ts, slot)->reused_tid = true;
	return slot;
}

/* A late record is of the life that was; and tid 0 and those below it are of
 * more than one thread. */
uint32_t lives_living(struct tasks *ts, const struct record *rec, int64_t t,
		      uint32_t slot, struct thread *gone)
{
	const struct thread *th = tasks_thread_at(ts, slot);

	if (twins_is_over(ts, slot) && !(rec->flags & REC_F_LATE))
		return tasks_next(ts, slot);
	if (!th->exit_seen || th->end == TIME_NONE || th->tid <= 0 ||
	    t == TIME_NONE || t <= th->end || rec->flags & REC_F_LATE)
		return slot;
	*gone = *th;
	return next_life(ts, slot);
}

/* A thread that is not the first of its process and calls exec becomes the
 * first one, which had to end before (fs/exec.c de_thread()): perhaps so long
 * ago that it is not known any more, or its EXIT was lost. */
static bool takes_over(struct tasks *ts, const struct record *rec,
		       uint32_t slot)
{
	const struct process *p = process_of(ts, slot);

	if (!(rec->flags & REC_F_EXEC) || rec->pid != rec->tid)
		return false;
	return tasks_thread_at(ts, slot)->ended ? !p->ended : p->n_threads > 1;
}

/* A late record is of the life that was; and the other threads of a process
 * may give a name to the first one when that has ended. */
static bool named_by_others(struct tasks *ts, const struct record *rec,
			    uint32_t slot)
{
	return rec->flags & REC_F_LATE ||
	       (rec->pid == rec->tid && !process_of(ts, slot)->ended);
}

uint32_t lives_named(struct tasks *ts, const struct record *rec, int64_t t,
		     uint32_t slot, struct thread *gone)
{
	bool ended = tasks_thread_at(ts, slot)->ended;
	bool introduced = t == TIME_NONE;

	if (takes_over(ts, rec, slot)) {
		tasks_take_over(ts, slot, t);
		if (ended)
			slot = next_life(ts, slot);
		introduced |= tasks_thread_at(ts, slot)->last == TIME_NONE;
	} else if (ended && !named_by_others(ts, rec, slot)) {
		uint32_t now = lives_living(ts, rec, t, slot, gone);

		slot = now == slot ? next_life(ts, slot) : now;
	} else if (!named_by_others(ts, rec, slot)) {
		slot = lives_living(ts, rec, t, slot, gone);
	}
	tasks_thread_at(ts, slot)->introduced |= introduced;
	return slot;
}
