/* tasks.c - threads and processes. */
#include "stitch/tasks/tasks.h"

#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/tasks/shared_tasks.h"

/* Rows of inherited mappings, of 35 bytes each, that a capture may have, plus a
 * number for each fork: a FORK record of 100 bytes could demand any number of
 * them. A build of 20,000 processes needs 10 each, a browser of a few hundred
 * processes 300 each. A process without rows still has the mappings, as they
 * are shared. */
#define INHERIT_FIRST ((size_t)1 << 20)
#define INHERIT_EACH 128
/* Most regions (72 bytes each) that are copied because a parent or child
 * changed one. Above this, a child starts without mappings. */
#define HELD_MAX ((size_t)4 << 20)

struct tasks *tasks_new(struct fact_queue *out)
{
	struct tasks *ts = mem_new(1, sizeof(*ts));

	ts->out = out;
	ts->inherit = INHERIT_FIRST;
	return ts;
}

void tasks_free(struct tasks *ts)
{
	if (!ts)
		return;
	for (size_t i = 0; i < ts->n_process; i++)
		space_release(&ts->process[i].space);
	free(ts->thread);
	free(ts->process);
	free(ts->free_thread);
	free(ts->free_process);
	free(ts->side);
	free(ts->dying);
	table_release(&ts->threads);
	table_release(&ts->processes);
	table_release(&ts->seen);
	intern_release(&ts->names);
	shared_spaces_release(&ts->kins);
	free(ts);
}

void tasks_together(struct tasks *ts, uint16_t source, uint16_t line)
{
	*mem_at(ts->side, ts->n_side, ts->cap_side, source) =
		(struct side){ true, line };
}

static void push_mapping(const struct space_owner *own, const struct region *r)
{
	struct tasks *ts = own->arg;

	*fact_queue_add(ts->out) = (struct fact){
		.kind = FACT_MAPPING,
		.mapping = {
			.id = r->id,
			.process = own->process,
			.start = r->start,
			.end = r->end,
			.pgoff = r->pgoff,
			.image = r->image,
			.prot = r->prot,
			.flags = r->flags,
			.t0 = r->t0,
			.t1 = r->t1,
		},
	};
}

static struct space_owner tasks_owner(struct tasks *ts, const struct process *p)
{
	return (struct space_owner){ .ids = &ts->mapping_ids,
				     .closed = push_mapping,
				     .arg = ts,
				     .process = p->id,
				     .held = &ts->held };
}

struct space_owner tasks_kernel_owner(struct tasks *ts)
{
	return (struct space_owner){ .ids = &ts->mapping_ids,
				     .closed = push_mapping,
				     .arg = ts };
}

/* Adds a process and returns its slot. */
static uint32_t tasks_new_process(struct tasks *ts, uint16_t source,
				  int32_t pid)
{
	uint32_t slot = mem_reuse(ts->process, ts->n_process, ts->cap_process,
				  ts->free_process, ts->n_free_process);
	struct process *p = &ts->process[slot];

	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->source = source;
	p->used = true;
	p->start = p->end = p->since = p->taken_over = TIME_NONE;
	p->next_maps = TIME_NONE;
	p->space.keep_old = ts->keep_old;
	p->space.changed = TIME_NONE;
	shared_tasks_add_process(ts, slot);
	table_add(&ts->processes, process_key(source, pid), slot);
	return slot;
}

static void tasks_drop_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	struct space_owner own = tasks_owner(ts, p);

	shared_tasks_drop_process(ts, slot);
	shared_spaces_leave(&ts->kins, p->kin);
	space_clear(&p->space, p->ended ? p->end : TIME_NONE, &own);
	space_release(&p->space);
	table_remove(&ts->processes, process_key(p->source, p->pid), slot);
	p->used = false;
	*mem_add(ts->free_process, ts->n_free_process, ts->cap_free_process) =
		slot;
}

/* Ends the incarnation of a process id. A process without threads is only
 * referenced by the table, so it is dropped. */
static void tasks_forget_process(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct process *p = &ts->process[slot];

	table_remove(&ts->processes, process_key(p->source, p->pid), slot);
	memset(ts->recent, 0, sizeof(ts->recent));
	if (p->n_slots)
		return;
	p->ended = true;
	p->end = t;
	tasks_drop_process(ts, slot);
}

uint32_t tasks_process(struct tasks *ts, uint16_t source, int32_t pid)
{
	uint32_t slot =
		table_find_hash(&ts->processes, process_key(source, pid));

	if (slot == TABLE_NONE)
		return tasks_new_process(ts, source, pid);
	if (!ts->process[slot].shared.replaced)
		return slot;
	tasks_forget_process(ts, slot, TIME_NONE);
	return tasks_new_process(ts, source, pid);
}

/* Puts a thread in the queue of those to be retired. */
static void tasks_queue_end(struct tasks *ts, uint32_t slot, int64_t t)
{
	if (ts->dying_head == ts->n_dying)
		ts->dying_head = ts->n_dying = 0;
	*mem_add(ts->dying, ts->n_dying, ts->cap_dying) =
		(struct dying){ slot, ts->thread[slot].id, t };
}

static void tasks_end_life(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];

	if (th->ended)
		return;
	th->ended = true;
	th->end = t;
	tasks_queue_end(ts, slot, t);
}

/* Ends a thread, by its EXIT or because its id got a new incarnation; and its
 * process with the last one. */
static void tasks_end_thread(struct tasks *ts, uint32_t slot, int64_t t)
{
	const struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[th->process];

	if (th->ended)
		return;
	tasks_end_life(ts, slot, t);
	p->exit_seen |= th->exit_seen;
	if (th->tid < 0 || --p->n_threads > 0)
		return;
	/* Threads that were unhashed (tid -1) have no EXIT record of their own:
	 * they end with the process. */
	uint32_t dead = table_find_hash(&ts->threads,
					thread_key(p->source, p->pid, -1));

	p->ended = true;
	p->end = t;
	if (dead != TABLE_NONE && ts->thread[dead].process == th->process)
		tasks_end_life(ts, dead, t);
}

/* Moves a thread to its process. Most ftrace events only have the thread id:
 * such threads belong to process -1 until a record names their process. Nothing
 * else changes. */
static void tasks_move(struct tasks *ts, uint32_t slot, uint32_t process)
{
	struct thread *th = &ts->thread[slot];
	struct process *from = &ts->process[th->process];
	struct process *to = &ts->process[process];

	from->n_slots--;
	to->n_slots++;
	if (!th->ended) {
		from->n_threads--;
		to->n_threads++;
		to->ended = false;
		to->end = TIME_NONE;
	}
	th->process = process;
	shared_tasks_note_process(ts, slot);
}

/* Tells the slots of other captures which process the thread belongs to. */
static void tasks_tell_process(struct tasks *ts, uint32_t slot)
{
	int32_t pid = ts->process[ts->thread[slot].process].pid;

	if (pid < 0)
		return;
	for (uint32_t i = ts->thread[slot].shared.next; i != slot;
	     i = ts->thread[i].shared.next) {
		const struct thread *th = &ts->thread[i];

		if (ts->process[th->process].pid < 0)
			tasks_move(ts, i, tasks_process(ts, th->source, pid));
	}
}

/* Adds a thread of a process and returns its slot. */
static uint32_t tasks_new_thread(struct tasks *ts, uint16_t source,
				 uint32_t process, int32_t tid)
{
	uint32_t slot = mem_reuse(ts->thread, ts->n_thread, ts->cap_thread,
				  ts->free_thread, ts->n_free_thread);
	struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[process];

	memset(th, 0, sizeof(*th));
	th->process = process;
	th->tid = tid;
	th->source = source;
	th->used = true;
	th->start = th->end = th->last = th->over = th->left = TIME_NONE;
	p->n_slots++;
	shared_tasks_add_thread(ts, slot);
	table_add(&ts->threads, thread_key(source, p->pid, tid), slot);
	if (tid >= 0) {
		p->n_threads++;
		p->ended = false; /* not all of its threads were known */
		p->end = TIME_NONE;
	} else if (p->ended) {
		tasks_end_life(ts, slot, p->end);
	}
	tasks_tell_process(ts, slot);
	return slot;
}

/* Remembers a thread that loses its id, as it was before that. */
static void tasks_note_replaced(struct tasks *ts, uint32_t slot)
{
	const struct process *p = &ts->process[ts->thread[slot].process];

	ts->replaced = ts->thread[slot];
	ts->replaced.took_over = p->taken_over != TIME_NONE &&
				 p->taken_over >= ts->replaced.last;
}

bool tasks_replaced(struct tasks *ts, struct thread *out)
{
	if (!ts->replaced.used)
		return false;
	*out = ts->replaced;
	ts->replaced.used = false;
	return true;
}

/* Returns true if the thread belongs to the process that has this pid now, or
 * if no process has it. */
static bool thread_is_of(const struct tasks *ts, const struct thread *th,
			 int32_t pid)
{
	if (ts->process[th->process].pid != pid)
		return false;
	uint32_t now =
		table_find_hash(&ts->processes, process_key(th->source, pid));
	return now == th->process || now == TABLE_NONE || th->ended;
}

static uint32_t tasks_find_thread(struct tasks *ts, uint16_t source,
				  int32_t pid, int32_t tid);

/* Starts an incarnation that another capture saw, so nothing is missing here.
 * The leader's id is that of its process. */
static uint32_t tasks_next_reported(struct tasks *ts, uint32_t slot,
				    int32_t pid)
{
	const struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[th->process];
	uint16_t source = th->source;
	int32_t tid = th->tid;

	p->shared.replaced |=
		tid == p->pid && shared_tasks_process_ended(ts, th->process);
	table_remove(&ts->threads, thread_key(source, p->pid, tid), slot);
	tasks_forget_recent(ts, tid);
	tasks_end_thread(ts, slot, TIME_NONE);
	slot = tasks_find_thread(ts, source, pid, tid);
	ts->thread[slot].reused_tid = true;
	ts->thread[slot].introduced = true;
	return slot;
}

/* Returns the slot of the living thread with this id; creates it if needed. */
static uint32_t tasks_find_thread(struct tasks *ts, uint16_t source,
				  int32_t pid, int32_t tid)
{
	uint32_t slot =
		table_find_hash(&ts->threads, thread_key(source, pid, tid));

	if (slot != TABLE_NONE) {
		const struct thread *th = &ts->thread[slot];

		if (shared_tasks_is_past(ts, slot))
			return tasks_next_reported(ts, slot, pid);
		/* A dead task has pid -1, but the thread is known. */
		if (pid < 0 || thread_is_of(ts, th, pid))
			return slot;
		if (tid >= 0 && ts->process[th->process].pid < 0) {
			tasks_move(ts, slot, tasks_process(ts, source, pid));
			tasks_tell_process(ts, slot);
			return slot;
		}
		/* The recorder listed it, but it made no record. */
		bool introduced = th->introduced && th->last == TIME_NONE;

		tasks_note_replaced(ts, slot);
		tasks_end_thread(ts, slot, TIME_NONE);
		table_remove(&ts->threads, thread_key(source, pid, tid), slot);
		tasks_forget_recent(ts, tid);
		slot = tasks_new_thread(ts, source,
					tasks_process(ts, source, pid), tid);
		ts->thread[slot].reused_tid = true;
		ts->thread[slot].introduced = introduced;
		return slot;
	}
	if (pid < 0)
		pid = shared_tasks_pid(ts, source, tid);
	/* A thread with the id of a process is its leader. */
	if (pid < 0 && tid > 0 &&
	    table_find_hash(&ts->processes, process_key(source, tid)) !=
		    TABLE_NONE)
		pid = tid;
	return tasks_new_thread(ts, source, tasks_process(ts, source, pid),
				tid);
}

uint32_t tasks_thread_anew(struct tasks *ts, uint16_t source, int32_t pid,
			   int32_t tid)
{
	uint32_t slot = tasks_find_thread(ts, source, pid, tid);

	*tasks_recent(ts, tid) =
		(struct recent){ source, ts->thread[slot].over == TIME_NONE,
				 pid, tid, slot };
	return slot;
}

/* Returns the slot of the thread with this id in this process, even if it has
 * ended; or TASKS_NONE. */
static uint32_t tasks_look_member(const struct tasks *ts, uint16_t source,
				  int32_t pid, int32_t tid)
{
	uint32_t slot =
		table_find_hash(&ts->threads, thread_key(source, pid, tid));

	return slot == TABLE_NONE ||
			       ts->process[ts->thread[slot].process].pid != pid
		       ? TASKS_NONE
		       : slot;
}

uint32_t tasks_exited(const struct tasks *ts, uint16_t source, int32_t tid)
{
	uint32_t slot = tid > 0 ? table_find_hash(&ts->threads,
						  thread_key(source, -1, tid))
				: TABLE_NONE;

	return slot != TABLE_NONE && ts->thread[slot].exit_seen ? slot
								: TASKS_NONE;
}

uint32_t tasks_find(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid)
{
	uint32_t slot = tasks_look_member(ts, source, pid, tid);

	return slot != TASKS_NONE && shared_tasks_is_past(ts, slot)
		       ? tasks_next_reported(ts, slot, pid)
		       : slot;
}

uint32_t tasks_peek(const struct tasks *ts, uint16_t source, int32_t pid,
		    int32_t tid)
{
	uint32_t slot = tasks_look_member(ts, source, pid, tid);

	return slot != TASKS_NONE && shared_tasks_is_past(ts, slot) ? TASKS_NONE
								    : slot;
}

uint32_t tasks_next(struct tasks *ts, uint32_t slot)
{
	return tasks_next_reported(ts, slot,
				   ts->process[ts->thread[slot].process].pid);
}

/* Sets a thread's name, and outputs it unless another capture has already
 * reported it. */
static void tasks_add_comm(struct tasks *ts, uint32_t slot, const char *name,
			   int64_t t, bool exec)
{
	struct thread *th = &ts->thread[slot];
	struct fact f = {
		.kind = FACT_COMM,
		.comm = {
			.thread = th->id,
			.time = t,
			.exec = exec,
			.name = intern_get(&ts->names, intern_add(&ts->names, name)),
		},
	};

	th->name = f.comm.name;
	th->named = t;
	th->by_exec = exec;
	if (shared_tasks_reuse_name(ts, slot))
		return;
	f.comm.id = ++ts->comm_ids;
	th->comm = f.comm.id;
	shared_tasks_lend_name(ts, slot);
	*fact_queue_add(ts->out) = f;
}

uint32_t tasks_comm(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	char name[16];

	/* The name's row turned out to be that of another name. */
	if (!th->comm && th->name)
		tasks_add_comm(ts, slot, th->name, th->named, th->by_exec);
	if (th->comm || shared_tasks_borrow_name(ts, slot))
		return th->comm;
	if (th->tid == 0)
		snprintf(name, sizeof(name), "swapper");
	else
		snprintf(name, sizeof(name), ":%d", (int)th->tid);
	th->made_up = true;
	tasks_add_comm(ts, slot, name, TIME_NONE, false);
	return ts->thread[slot].comm;
}

/* Ends all mappings of a process. */
static void tasks_unmap_all(struct tasks *ts, uint32_t process, int64_t t)
{
	struct process *p = &ts->process[process];
	struct space_owner own = tasks_owner(ts, p);

	space_exec(&p->space, t, &own);
}

void tasks_set_comm(struct tasks *ts, uint32_t slot, const char *name,
		    int64_t t, bool exec)
{
	struct thread *th = &ts->thread[slot];

	if (exec) {
		struct process *p = &ts->process[th->process];

		p->since = t;
		tasks_unmap_all(ts, th->process, t);
		shared_spaces_leave(&ts->kins, p->kin);
		p->kin = 0;
		jit_view_start(&p->jit, t);
		join_task_exec(&th->join, t);
	}
	th->made_up = th->hinted = false;
	tasks_add_comm(ts, slot, name, t, exec);
}

void tasks_hint_comm(struct tasks *ts, uint32_t slot, const char *name,
		     int64_t t)
{
	const struct thread *th = &ts->thread[slot];

	if (th->tid <= 0 || th->lent || shared_tasks_is_past(ts, slot) ||
	    (th->name && !th->made_up &&
	     (!th->hinted || !strcmp(th->name, name))))
		return;
	tasks_set_comm(ts, slot, name, t, false);
	ts->thread[slot].hinted = true;
}

/* Ends the incarnation that has this id. Its slot stays until it is retired. */
static void tasks_replace(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;

	tasks_note_replaced(ts, slot);
	tasks_end_thread(ts, slot, t);
	tasks_forget_recent(ts, th->tid);
	table_remove(
		&ts->threads,
		thread_key(ts->thread[slot].source, pid, ts->thread[slot].tid),
		slot);
}

void tasks_forget(struct tasks *ts, uint32_t slot)
{
	uint32_t process = ts->thread[slot].process;
	const struct process *p = &ts->process[process];

	tasks_replace(ts, slot, TIME_NONE);
	if (p->ended)
		table_remove(&ts->processes, process_key(p->source, p->pid),
			     process);
}

/* Returns whether a thread, the only one of its process, is known only from the
 * recorder's list. perf lists /proc while it already records (perf 6.1,
 * record__synthesize()), so the FORK of such a thread may follow later in the
 * file. */
static bool tasks_is_listed(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];
	const struct process *p = &ts->process[th->process];

	return th->introduced && !th->ended && th->start == TIME_NONE &&
	       th->last == TIME_NONE && th->tid == p->pid && p->n_slots == 1;
}

/* Returns the process of the thread that a FORK record announces. */
static uint32_t tasks_forked_process(struct tasks *ts, const struct forked *f,
				     int64_t t, bool synth, bool listed)
{
	int32_t pid = f->pid;

	if (!synth)
		shared_tasks_tell_fork(ts, f, t);
	if (pid < 0)
		pid = shared_tasks_pid(ts, f->source, f->tid);
	if (pid < 0)
		return tasks_process(ts, f->source, f->ppid);
	if (pid == f->ppid || (f->pid < 0 && pid != f->tid))
		return tasks_process(ts, f->source, pid);
	/* A forked process starts with its parent's mappings. For a process
	 * that the recorder lists, mapping records follow. listed: it was
	 * listed before. */
	uint16_t source = f->source;
	int32_t ppid = f->ppid;
	uint32_t was =
		table_find_hash(&ts->processes, process_key(source, pid));
	uint32_t from = tasks_process(ts, source, ppid);

	if (was != TABLE_NONE && listed) {
		/* the listed mappings belong to an exec that is recorded,
		 * too */
		tasks_unmap_all(ts, was, t);
		regions_release(&ts->process[was].space.before);
	} else if (was != TABLE_NONE && !synth) {
		tasks_forget_process(ts, was, t);
		was = TABLE_NONE;
	}
	uint32_t slot =
		was != TABLE_NONE ? was : tasks_new_process(ts, source, pid);
	struct process *p = &ts->process[slot];

	p->parent = ts->process[from].id;
	if (synth)
		return slot;
	p->start = t;
	p->since = ts->process[from].since;
	struct process *child = &ts->process[slot];
	struct space_owner own = tasks_owner(ts, child);
	size_t n = ts->process[from].space.now.n;
	bool share = ts->held <= HELD_MAX;
	bool with_rows =
		shared_tasks_have_all_maps(ts, slot, &ts->process[from].space);
	bool rows = share && n <= ts->inherit && !with_rows;

	ts->inherit -= rows ? n : 0;
	ts->inherit += INHERIT_EACH;
	if (!rows && !with_rows)
		ts->unlisted += n;
	if (share)
		space_copy(&child->space, &ts->process[from].space, t, rows,
			   &own);
	if (!ts->process[from].kin)
		ts->process[from].kin = shared_spaces_join(&ts->kins, 0);
	p->kin = shared_spaces_join(&ts->kins, ts->process[from].kin);
	jit_view_fork(&ts->process[slot].jit, &ts->process[from].jit, t);
	return slot;
}

/* Ends a thread at its EXIT. */
static void tasks_exit_now(struct tasks *ts, uint32_t slot, int64_t t)
{
	ts->thread[slot].left = TIME_NONE;
	ts->thread[slot].exit_seen |= !ts->thread[slot].ended;
	tasks_end_thread(ts, slot, t);
	shared_tasks_tell_exit(ts, slot, t);
}

uint32_t tasks_fork(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid,
		    int32_t ppid, int32_t ptid, int64_t t, bool synth)
{
	uint32_t old =
		table_find_hash(&ts->threads, thread_key(source, pid, tid));
	uint32_t parent =
		table_find_hash(&ts->threads, thread_key(source, ppid, ptid));
	struct forked f = { source, pid, tid, ppid };

	if (old != TABLE_NONE && synth) {
		ts->thread[old].introduced = true;
		return old;
	}
	if (old != TABLE_NONE && ts->thread[old].left != TIME_NONE)
		tasks_exit_now(ts, old, ts->thread[old].left);
	bool listed = old != TABLE_NONE && pid == tid && pid != ppid &&
		      tasks_is_listed(ts, old);

	if (old != TABLE_NONE && !listed)
		tasks_replace(ts, old, t);
	if (ppid < 0 && ptid >= 0 && parent != TABLE_NONE)
		f.ppid = ts->process[ts->thread[parent].process].pid;
	uint32_t process = tasks_forked_process(ts, &f, t, synth, listed);
	uint32_t slot =
		listed ? old : tasks_new_thread(ts, source, process, tid);
	struct thread *th = &ts->thread[slot];

	th->start = synth ? TIME_NONE : t;
	th->introduced = true;
	th->reused_tid = old != TABLE_NONE && !listed;
	/* ":1234" is not inherited, as the child would be called by its own
	 * number; "swapper", the idle thread's name, is. */
	if (parent != TABLE_NONE && parent != slot && ts->thread[parent].name &&
	    (!ts->thread[parent].made_up || ptid == 0)) {
		th->made_up = ts->thread[parent].made_up;
		tasks_add_comm(ts, slot, ts->thread[parent].name, th->start,
			       false);
	}
	return slot;
}

void tasks_take_over(struct tasks *ts, uint32_t slot, int64_t t)
{
	ts->process[ts->thread[slot].process].taken_over = t;
}

void tasks_exit(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];

	if (!th->in_exec || th->ended || t == TIME_NONE) {
		tasks_exit_now(ts, slot, t);
		return;
	}
	th->in_exec = false;
	th->left = t;
	tasks_queue_end(ts, slot, t);
}

void tasks_live(struct tasks *ts, uint32_t slot, bool in_exec)
{
	ts->thread[slot].in_exec = in_exec;
	ts->thread[slot].left = TIME_NONE;
}

void tasks_map(struct tasks *ts, uint32_t process, const struct region *r)
{
	struct process *p = &ts->process[process];
	struct space_owner own = tasks_owner(ts, p);

	if (r->t0 != TIME_NONE)
		shared_spaces_map(&ts->kins, p->kin, r->start, r->end);
	own.with_rows = shared_tasks_have_map(ts, process, r);
	space_map(&p->space, r, &own);
}

bool tasks_kin_maps(const struct tasks *ts, const struct process *p,
		    uint64_t addr)
{
	return shared_spaces_maps(&ts->kins, p->kin, addr);
}

void tasks_unmap(struct tasks *ts, uint32_t process, uint64_t start,
		 uint64_t end, int64_t t)
{
	struct process *p = &ts->process[process];
	struct space_owner own = tasks_owner(ts, p);

	space_unmap(&p->space, start, end, t, &own);
}

bool tasks_retire(struct tasks *ts, int64_t t, uint32_t *slot)
{
	while (ts->dying_head < ts->n_dying) {
		size_t head = ts->dying_head;
		struct dying *d = &ts->dying[head];

		if (t != TIME_NONE && d->end != TIME_NONE && d->end >= t)
			return false;
		/* the part of the queue that was processed is removed */
		if (head >= 1024 && head >= ts->n_dying / 2) {
			ts->n_dying -= head;
			memmove(ts->dying, d, ts->n_dying * sizeof(*ts->dying));
			ts->dying_head = 0;
		}
		d = &ts->dying[ts->dying_head++];
		const struct thread *th = &ts->thread[d->slot];
		if (!th->used || th->id != d->id)
			continue;
		if (!th->ended) {
			/* a living thread is queued again when it ends */
			if (th->left != TIME_NONE)
				tasks_exit_now(ts, d->slot, th->left);
			continue;
		}
		/* this EXIT belonged to an exec; the thread's own comes
		 * later */
		if (th->end != d->end)
			continue;
		*slot = d->slot;
		return true;
	}
	if (t != TIME_NONE)
		return false;
	for (; ts->sweep < ts->n_thread; ts->sweep++) {
		if (!ts->thread[ts->sweep].used)
			continue;
		*slot = (uint32_t)ts->sweep;
		return true;
	}
	return false;
}

void tasks_drop(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	uint32_t process = th->process;
	struct process *p = &ts->process[process];

	shared_tasks_drop_thread(ts, slot);
	tasks_forget_recent(ts, th->tid);
	table_remove(&ts->threads, thread_key(th->source, p->pid, th->tid),
		     slot);
	th->used = false;
	*mem_add(ts->free_thread, ts->n_free_thread, ts->cap_free_thread) =
		slot;
	if (--p->n_slots == 0 && p->ended)
		tasks_drop_process(ts, process);
}

bool tasks_drop_rest(struct tasks *ts)
{
	for (; ts->sweep_process < ts->n_process; ts->sweep_process++)
		if (ts->process[ts->sweep_process].used) {
			tasks_drop_process(ts, (uint32_t)ts->sweep_process);
			return true;
		}
	return false;
}
