/* tasks.c - threads and processes: each life of an id is a row of its own. */
#include "stitch/tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/tasks_inner.h"
#include "stitch/tasks/shared_tasks.h"

/* A FORK record is small, what it makes the child inherit may be large: a
 * capture made for it could demand any amount of rows and memory. Rows of
 * inherited mappings may be so many, and so many more with every fork; no
 * real capture comes near that. */
#define INHERIT_FIRST ((size_t)8 << 20)
#define INHERIT_EACH 128
/* Regions that had to be copied, because parent or child changed one, and are
 * still there (72 bytes each): above this a child starts with nothing. */
#define HELD_MAX ((size_t)8 << 20)

struct tasks *tasks_new(struct facts *out)
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
	table_release(&ts->names);
	free(ts->name);
	arena_release(&ts->text);
	free(ts);
}

void tasks_keep_old(struct tasks *ts)
{
	ts->keep_old = true;
}

void tasks_together(struct tasks *ts, uint16_t source, uint16_t line)
{
	ts->side = mem_reach(ts->side, &ts->n_side, &ts->cap_side, source + 1u,
			     sizeof(*ts->side));
	ts->side[source] = (struct side){ true, line };
}

void tasks_now(struct tasks *ts, int64_t t)
{
	ts->now = t;
}

struct thread *tasks_thread_at(struct tasks *ts, uint32_t slot)
{
	return &ts->thread[slot];
}

struct process *tasks_process_at(struct tasks *ts, uint32_t slot)
{
	return &ts->process[slot];
}

static uint32_t new_mapping_id(void *arg, size_t n)
{
	struct tasks *ts = arg;
	uint32_t first = ts->mapping_ids + 1;

	ts->mapping_ids += (uint32_t)n;
	return first;
}

static void push_mapping(struct tasks *ts, uint32_t process,
			 const struct region *r)
{
	struct fact f = {
		.kind = FACT_MAPPING,
		.mapping = {
			.id = r->id,
			.process = process,
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

	facts_push(ts->out, &f);
}

/* A space's owner needs to know whose region it was. */
struct closing {
	struct tasks *ts;
	uint32_t process;
};

static uint32_t closing_new_id(void *arg, size_t n)
{
	return new_mapping_id(((struct closing *)arg)->ts, n);
}

static void closing_closed(void *arg, const struct region *r)
{
	struct closing *c = arg;

	push_mapping(c->ts, c->process, r);
}

static struct space_owner owner(struct closing *c)
{
	return (struct space_owner){ closing_new_id, closing_closed, c,
				     &c->ts->held, false };
}

static void kernel_closed(void *arg, const struct region *r)
{
	push_mapping(arg, 0, r);
}

struct space_owner tasks_kernel_owner(struct tasks *ts)
{
	return (struct space_owner){ new_mapping_id, kernel_closed, ts, NULL,
				     false };
}

static uint32_t new_process(struct tasks *ts, uint16_t source, int32_t pid)
{
	uint32_t slot;

	if (ts->n_free_process) {
		slot = ts->free_process[--ts->n_free_process];
	} else {
		ts->process = mem_grow(ts->process, &ts->cap_process,
				       ts->n_process + 1, sizeof(*ts->process));
		slot = (uint32_t)ts->n_process++;
	}
	struct process *p = &ts->process[slot];

	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->source = source;
	p->used = true;
	p->start = p->end = p->since = p->taken_over = TIME_NONE;
	p->next_maps = TIME_NONE;
	p->space.keep_old = ts->keep_old;
	p->space.changed = TIME_NONE;
	twins_new_process(ts, slot);
	table_add(&ts->processes, process_key(source, pid), slot);
	return slot;
}

static void drop_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);

	twins_drop_process(ts, slot);
	space_clear(&p->space, p->ended ? p->end : TIME_NONE, &own);
	space_release(&p->space);
	table_remove(&ts->processes, process_key(p->source, p->pid), slot);
	p->used = false;
	ts->free_process = mem_grow(ts->free_process, &ts->cap_free_process,
				    ts->n_free_process + 1, sizeof(slot));
	ts->free_process[ts->n_free_process++] = slot;
}

/* Its id means another process from now on. Nobody but the table knew one
 * without threads. */
static void forget_process(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct process *p = &ts->process[slot];

	table_remove(&ts->processes, process_key(p->source, p->pid), slot);
	memset(ts->recent, 0, sizeof(ts->recent));
	if (p->n_slots)
		return;
	p->ended = true;
	p->end = t;
	drop_process(ts, slot);
}

uint32_t tasks_process(struct tasks *ts, uint16_t source, int32_t pid)
{
	uint32_t slot = tasks_look(&ts->processes, process_key(source, pid));

	if (slot == TABLE_NONE)
		return new_process(ts, source, pid);
	if (!ts->process[slot].twin.replaced)
		return slot;
	forget_process(ts, slot, TIME_NONE);
	return new_process(ts, source, pid);
}

/* The thread waits to be retired from now on. */
static void end_life(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];

	if (th->ended)
		return;
	th->ended = true;
	th->end = t;
	if (ts->dying_head == ts->n_dying)
		ts->dying_head = ts->n_dying = 0;
	ts->dying = mem_grow(ts->dying, &ts->cap_dying, ts->n_dying + 1,
			     sizeof(*ts->dying));
	ts->dying[ts->n_dying++] = (struct dying){ slot, th->id, t };
}

/* What was said of tasks that were unhashed already (tid -1) never gets an
 * EXIT record of its own: it ends with the process. */
static void end_process(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct process *p = &ts->process[slot];
	uint32_t dead =
		tasks_look(&ts->threads, thread_key(p->source, p->pid, -1));

	p->ended = true;
	p->end = t;
	if (dead != TABLE_NONE && ts->thread[dead].process == slot)
		end_life(ts, dead, t);
}

/* A life ends: by its EXIT, or because its id means another one now. */
static void end_thread(struct tasks *ts, uint32_t slot, int64_t t)
{
	const struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[th->process];

	if (th->ended)
		return;
	end_life(ts, slot, t);
	p->exit_seen |= th->exit_seen;
	if (th->tid >= 0 && --p->n_threads == 0)
		end_process(ts, th->process, t);
}

/* ftrace says of most events only which thread it was: such threads are of
 * process -1 until a record says more. Nothing of the life changes. */
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
}

/* The other slots of the thread's life learn which process it is of. */
static void tasks_tell_process(struct tasks *ts, uint32_t slot)
{
	int32_t pid = ts->process[ts->thread[slot].process].pid;

	if (pid < 0)
		return;
	for (uint32_t i = ts->thread[slot].twin.next; i != slot;
	     i = ts->thread[i].twin.next) {
		const struct thread *th = &ts->thread[i];

		if (ts->process[th->process].pid < 0)
			tasks_move(ts, i, tasks_process(ts, th->source, pid));
	}
}

static uint32_t new_thread(struct tasks *ts, uint16_t source, uint32_t process,
			   int32_t tid)
{
	uint32_t slot;

	if (ts->n_free_thread) {
		slot = ts->free_thread[--ts->n_free_thread];
	} else {
		ts->thread = mem_grow(ts->thread, &ts->cap_thread,
				      ts->n_thread + 1, sizeof(*ts->thread));
		slot = (uint32_t)ts->n_thread++;
	}
	struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[process];

	memset(th, 0, sizeof(*th));
	th->process = process;
	th->tid = tid;
	th->source = source;
	th->used = true;
	th->start = th->end = th->last = th->over = TIME_NONE;
	p->n_slots++;
	twins_new_thread(ts, slot);
	table_add(&ts->threads, thread_key(source, p->pid, tid), slot);
	if (tid >= 0) {
		p->n_threads++;
		p->ended = false; /* not all of its threads were known */
		p->end = TIME_NONE;
	} else if (p->ended) {
		end_life(ts, slot, p->end);
	}
	tasks_tell_process(ts, slot);
	return slot;
}

/* A life that loses its id, as it is before that. */
static void note_replaced(struct tasks *ts, uint32_t slot)
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

/* Is it of the process that has this id now, or of none that lives? */
static bool is_of(const struct tasks *ts, const struct thread *th, int32_t pid)
{
	uint32_t now;

	if (ts->process[th->process].pid != pid)
		return false;
	now = tasks_look(&ts->processes, process_key(th->source, pid));
	return now == th->process || now == TABLE_NONE || th->ended;
}

static uint32_t find_thread(struct tasks *ts, uint16_t source, int32_t pid,
			    int32_t tid);

/* Another capture has told that the id is of another life now: nothing is
 * missing here. The first thread's id is its process's. */
static uint32_t next_told(struct tasks *ts, uint32_t slot, int32_t pid)
{
	const struct thread *th = &ts->thread[slot];
	struct process *p = &ts->process[th->process];
	uint16_t source = th->source;
	int32_t tid = th->tid;

	p->twin.replaced |=
		tid == p->pid && twins_process_ended(ts, th->process);
	table_remove(&ts->threads, thread_key(source, p->pid, tid), slot);
	tasks_forget_recent(ts, tid);
	end_thread(ts, slot, TIME_NONE);
	slot = find_thread(ts, source, pid, tid);
	ts->thread[slot].reused_tid = true;
	ts->thread[slot].introduced = true;
	return slot;
}

static uint32_t find_thread(struct tasks *ts, uint16_t source, int32_t pid,
			    int32_t tid)
{
	uint32_t slot = tasks_look(&ts->threads, thread_key(source, pid, tid));

	if (slot != TABLE_NONE) {
		const struct thread *th = &ts->thread[slot];

		if (twins_is_past(ts, slot))
			return next_told(ts, slot, pid);
		/* A dead task's pid is -1: the thread is known all the same. */
		if (pid < 0 || is_of(ts, th, pid))
			return slot;
		if (tid >= 0 && ts->process[th->process].pid < 0) {
			tasks_move(ts, slot, tasks_process(ts, source, pid));
			tasks_tell_process(ts, slot);
			return slot;
		}
		/* told of by the recorder, and nothing more */
		bool introduced = th->introduced && th->last == TIME_NONE;

		note_replaced(ts, slot);
		end_thread(ts, slot, TIME_NONE);
		table_remove(&ts->threads, thread_key(source, pid, tid), slot);
		tasks_forget_recent(ts, tid);
		slot = new_thread(ts, source, tasks_process(ts, source, pid),
				  tid);
		ts->thread[slot].reused_tid = true;
		ts->thread[slot].introduced = introduced;
		return slot;
	}
	if (pid < 0)
		pid = twins_pid(ts, source, tid);
	/* a thread that has a process's id is its first one */
	if (pid < 0 && tid > 0 &&
	    tasks_look(&ts->processes, process_key(source, tid)) != TABLE_NONE)
		pid = tid;
	return new_thread(ts, source, tasks_process(ts, source, pid), tid);
}

uint32_t tasks_thread(struct tasks *ts, uint16_t source, int32_t pid,
		      int32_t tid)
{
	struct recent *r = recent_of(ts, tid);

	if (r->known && r->tid == tid && r->pid == pid && r->source == source)
		return r->slot;
	uint32_t slot = find_thread(ts, source, pid, tid);

	*r = (struct recent){ source, ts->thread[slot].over == TIME_NONE, pid,
			      tid, slot };
	return slot;
}

uint32_t tasks_find(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid)
{
	uint32_t slot = tasks_look(&ts->threads, thread_key(source, pid, tid));

	if (slot == TABLE_NONE ||
	    ts->process[ts->thread[slot].process].pid != pid)
		return TASKS_NONE;
	return twins_is_past(ts, slot) ? next_told(ts, slot, pid) : slot;
}

uint32_t tasks_next(struct tasks *ts, uint32_t slot)
{
	return next_told(ts, slot, ts->process[ts->thread[slot].process].pid);
}

static bool same_name(const void *o, uint32_t id, const void *key)
{
	return !strcmp(((const struct tasks *)o)->name[id], key);
}

static const char *intern_name(struct tasks *ts, const char *name)
{
	uint64_t h = hash_bytes(name, strlen(name), 0);
	uint32_t id = table_find(&ts->names, h, same_name, ts, name);

	if (id != TABLE_NONE)
		return ts->name[id];
	ts->name = mem_grow(ts->name, &ts->cap_name, ts->n_name + 1,
			    sizeof(*ts->name));
	ts->name[ts->n_name] = arena_strdup(&ts->text, name);
	table_add(&ts->names, h, (uint32_t)ts->n_name++);
	return ts->name[ts->n_name - 1];
}

/* A name that another capture has told of already has its row. */
static void add_comm(struct tasks *ts, uint32_t slot, const char *name,
		     int64_t t, bool exec)
{
	struct thread *th = &ts->thread[slot];
	struct fact f = {
		.kind = FACT_COMM,
		.comm = {
			.thread = th->id,
			.time = t,
			.exec = exec,
			.name = intern_name(ts, name),
		},
	};

	th->name = f.comm.name;
	th->named = t;
	th->by_exec = exec;
	if (twins_has_name(ts, slot))
		return;
	f.comm.id = ++ts->comm_ids;
	th->comm = f.comm.id;
	twins_lend_name(ts, slot);
	facts_push(ts->out, &f);
}

uint32_t tasks_comm(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	char name[16];

	/* it turned out that the name is of another row */
	if (!th->comm && th->name)
		add_comm(ts, slot, th->name, th->named, th->by_exec);
	if (th->comm || twins_borrow_name(ts, slot))
		return th->comm;
	if (th->tid == 0)
		snprintf(name, sizeof(name), "swapper");
	else
		snprintf(name, sizeof(name), ":%d", (int)th->tid);
	th->made_up = true;
	add_comm(ts, slot, name, TIME_NONE, false);
	return ts->thread[slot].comm;
}

void tasks_set_comm(struct tasks *ts, uint32_t slot, const char *name,
		    int64_t t, bool exec)
{
	struct thread *th = &ts->thread[slot];

	if (exec) {
		struct process *p = &ts->process[th->process];
		struct closing c = { ts, p->id };
		struct space_owner own = owner(&c);

		p->since = t;
		space_exec(&p->space, t, &own);
		jit_view_start(&p->jit, t);
		join_task_exec(&th->join, t);
	}
	th->made_up = false;
	add_comm(ts, slot, name, t, exec);
}

/* The life that had this id ends: its slot stays until it is retired. */
static void replace(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;

	note_replaced(ts, slot);
	end_thread(ts, slot, t);
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

	replace(ts, slot, TIME_NONE);
	if (p->ended)
		table_remove(&ts->processes, process_key(p->source, p->pid),
			     process);
}

static void inherit(struct tasks *ts, uint32_t slot, struct process *from,
		    int64_t t)
{
	struct process *p = &ts->process[slot];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);
	size_t n = space_count(&from->space);
	bool share = ts->held <= HELD_MAX;
	bool told = twins_have_all(ts, slot, &from->space);
	bool rows = share && n <= ts->inherit && !told;

	ts->inherit -= rows ? n : 0;
	ts->inherit += INHERIT_EACH;
	if (!rows && !told)
		ts->unlisted += n;
	if (share)
		space_copy(&p->space, &from->space, t, rows, &own);
}

uint64_t tasks_unlisted(const struct tasks *ts)
{
	return ts->unlisted;
}

/* A process made by fork starts with its parent's mappings; one that the
 * recorder tells of afterwards gets its own mapping records. */
static uint32_t fork_process(struct tasks *ts, uint16_t source, int32_t pid,
			     int32_t ppid, int64_t t, bool synth)
{
	uint32_t was = tasks_look(&ts->processes, process_key(source, pid));
	uint32_t from = tasks_process(ts, source, ppid);

	if (was != TABLE_NONE && !synth) {
		forget_process(ts, was, t);
		was = TABLE_NONE;
	}
	uint32_t slot = was != TABLE_NONE ? was : new_process(ts, source, pid);
	struct process *p = &ts->process[slot];

	p->parent = ts->process[from].id;
	if (synth)
		return slot;
	p->start = t;
	p->since = ts->process[from].since;
	inherit(ts, slot, &ts->process[from], t);
	jit_view_fork(&ts->process[slot].jit, &ts->process[from].jit, t);
	return slot;
}

/* The process of the thread that a FORK record tells of. */
static uint32_t forked_process(struct tasks *ts, const struct forked *f,
			       int64_t t, bool synth)
{
	int32_t pid = f->pid;

	if (!synth)
		twins_tell_fork(ts, f, t);
	if (pid < 0)
		pid = twins_pid(ts, f->source, f->tid);
	if (pid < 0)
		return tasks_process(ts, f->source, f->ppid);
	if (pid == f->ppid || (f->pid < 0 && pid != f->tid))
		return tasks_process(ts, f->source, pid);
	return fork_process(ts, f->source, pid, f->ppid, t, synth);
}

uint32_t tasks_fork(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid,
		    int32_t ppid, int32_t ptid, int64_t t, bool synth)
{
	uint32_t old = tasks_look(&ts->threads, thread_key(source, pid, tid));
	uint32_t parent =
		tasks_look(&ts->threads, thread_key(source, ppid, ptid));
	struct forked f = { source, pid, tid, ppid };

	if (old != TABLE_NONE && synth) {
		ts->thread[old].introduced = true;
		return old;
	}
	if (old != TABLE_NONE)
		replace(ts, old, t);
	if (ppid < 0 && ptid >= 0 && parent != TABLE_NONE)
		f.ppid = ts->process[ts->thread[parent].process].pid;
	uint32_t slot =
		new_thread(ts, source, forked_process(ts, &f, t, synth), tid);
	struct thread *th = &ts->thread[slot];

	th->start = synth ? TIME_NONE : t;
	th->introduced = true;
	th->reused_tid = old != TABLE_NONE;
	if (parent != TABLE_NONE && parent != slot && ts->thread[parent].name) {
		th->made_up = ts->thread[parent].made_up;
		add_comm(ts, slot, ts->thread[parent].name, th->start, false);
	}
	return slot;
}

void tasks_take_over(struct tasks *ts, uint32_t slot, int64_t t)
{
	ts->process[ts->thread[slot].process].taken_over = t;
}

void tasks_exit(struct tasks *ts, uint32_t slot, int64_t t)
{
	ts->thread[slot].exit_seen |= !ts->thread[slot].ended;
	end_thread(ts, slot, t);
	twins_tell_exit(ts, slot, t);
}

void tasks_map(struct tasks *ts, uint32_t process, const struct region *r)
{
	struct process *p = &ts->process[process];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);

	own.told = twins_have_map(ts, process, r);
	space_map(&p->space, r, &own);
}

void tasks_unmap(struct tasks *ts, uint32_t process, uint64_t start,
		 uint64_t end, int64_t t)
{
	struct process *p = &ts->process[process];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);

	space_unmap(&p->space, start, end, t, &own);
}

/* Keeps the queue of lives that end from growing behind its head. */
static void compact_dying(struct tasks *ts)
{
	if (ts->dying_head < 1024 || ts->dying_head < ts->n_dying / 2)
		return;
	memmove(ts->dying, ts->dying + ts->dying_head,
		(ts->n_dying - ts->dying_head) * sizeof(*ts->dying));
	ts->n_dying -= ts->dying_head;
	ts->dying_head = 0;
}

bool tasks_retire(struct tasks *ts, int64_t t, uint32_t *slot)
{
	while (ts->dying_head < ts->n_dying) {
		struct dying *d = &ts->dying[ts->dying_head];

		if (t != TIME_NONE && d->end != TIME_NONE && d->end >= t)
			return false;
		compact_dying(ts);
		d = &ts->dying[ts->dying_head++];
		const struct thread *th = &ts->thread[d->slot];
		if (!th->used || th->id != d->id)
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

	twins_drop_thread(ts, slot);
	tasks_forget_recent(ts, th->tid);
	table_remove(&ts->threads, thread_key(th->source, p->pid, th->tid),
		     slot);
	th->used = false;
	ts->free_thread = mem_grow(ts->free_thread, &ts->cap_free_thread,
				   ts->n_free_thread + 1, sizeof(slot));
	ts->free_thread[ts->n_free_thread++] = slot;
	if (--p->n_slots == 0 && p->ended)
		drop_process(ts, process);
}

void tasks_drop_rest(struct tasks *ts)
{
	for (uint32_t i = 0; i < ts->n_process; i++)
		if (ts->process[i].used)
			drop_process(ts, i);
}
