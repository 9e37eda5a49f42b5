/* incarnations.c - decides which incarnation of a thread id made a record. */
#include "stitch/tasks/incarnations.h"

#include "stitch/record.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/tasks/tasks.h"

static const struct process *task_process(struct tasks *ts, uint32_t slot)
{
	return tasks_process_at(ts, tasks_thread_at(ts, slot)->process);
}

/* Starts another incarnation of the thread's id. */
static uint32_t start_next_life(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = tasks_thread_at(ts, slot);
	int32_t pid = task_process(ts, slot)->pid;
	int32_t tid = th->tid;
	uint16_t source = th->source;

	tasks_forget(ts, slot);
	slot = tasks_thread(ts, source, pid, tid);
	tasks_thread_at(ts, slot)->reused_tid = true;
	return slot;
}

/* A late record belongs to the earlier incarnation. Tid 0 and negative tids
 * stand for several threads. */
uint32_t incarnations_of_record(struct tasks *ts, const struct record *rec,
				int64_t t, uint32_t slot, struct thread *gone)
{
	const struct thread *th = tasks_thread_at(ts, slot);

	if (shared_tasks_is_over(ts, slot) && !(rec->flags & REC_F_LATE))
		return tasks_next(ts, slot);
	if (!th->exit_seen || th->end == TIME_NONE || th->tid <= 0 ||
	    t == TIME_NONE || t <= th->end || rec->flags & REC_F_LATE)
		return slot;
	*gone = *th;
	return start_next_life(ts, slot);
}

/* A late record belongs to the earlier incarnation. Other threads of a process
 * may still name the leader after it has ended. */
static bool named_by_others(struct tasks *ts, const struct record *rec,
			    uint32_t slot)
{
	return rec->flags & REC_F_LATE ||
	       (rec->pid == rec->tid && !task_process(ts, slot)->ended);
}

uint32_t incarnations_of_comm(struct tasks *ts, const struct record *rec,
			      int64_t t, uint32_t slot, struct thread *gone)
{
	bool ended = tasks_thread_at(ts, slot)->ended;
	bool introduced = t == TIME_NONE;

	/* When a thread that is not the group leader calls exec, it becomes the
	 * leader, after the old leader has ended (fs/exec.c, de_thread()). The
	 * old leader may have ended so long ago that it is forgotten, or its
	 * EXIT was lost. */
	const struct process *p = task_process(ts, slot);

	if ((rec->flags & REC_F_EXEC) && rec->pid == rec->tid &&
	    (tasks_thread_at(ts, slot)->ended ? !p->ended : p->n_threads > 1)) {
		tasks_take_over(ts, slot, t);
		if (ended)
			slot = start_next_life(ts, slot);
		introduced |= tasks_thread_at(ts, slot)->last == TIME_NONE;
	} else if (ended && !named_by_others(ts, rec, slot)) {
		uint32_t now = incarnations_of_record(ts, rec, t, slot, gone);

		slot = now == slot ? start_next_life(ts, slot) : now;
	} else if (!named_by_others(ts, rec, slot)) {
		slot = incarnations_of_record(ts, rec, t, slot, gone);
	}
	tasks_thread_at(ts, slot)->introduced |= introduced;
	return slot;
}
