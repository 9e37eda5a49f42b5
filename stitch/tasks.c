/* tasks.c - threads and processes: each life of an id is a row of its own. */
#include "stitch/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/facts.h"
#include "stitch/mem.h"
#include "stitch/stitch.h"
#include "stitch/table.h"

/* Lives that ended, in the order of their ends. */
struct dying {
	uint32_t slot, id;
	int64_t end;
};

/* A FORK record is small, what it makes the child inherit may be large: a
 * capture made for it could demand any amount of rows and memory. Rows of
 * inherited mappings may be so many, and so many more with every fork; no
 * real capture comes near that. */
#define INHERIT_FIRST ((size_t)8 << 20)
#define INHERIT_EACH 128
/* Regions that had to be copied, because parent or child changed one, and are
 * still there (72 bytes each): above this a child starts with nothing. */
#define HELD_MAX ((size_t)8 << 20)

/* Most records are of a thread that was asked for a moment ago. */
#define RECENT 64

struct recent {
	uint16_t source;
	bool known;
	int32_t pid, tid;
	uint32_t slot;
};

struct tasks {
	struct facts *out;
	struct thread *thread;
	struct process *process;
	size_t n_thread, cap_thread, n_process, cap_process;
	uint32_t *free_thread, *free_process;
	size_t n_free_thread, cap_free_thread;
	size_t n_free_process, cap_free_process;
	struct table threads, processes; /* (source, id) -> slot */
	struct recent recent[RECENT];	 /* what tasks_thread() found */
	struct thread replaced;		 /* used: there is one */
	struct dying *dying;
	size_t dying_head, n_dying, cap_dying;
	size_t sweep; /* of tasks_retire(TIME_NONE) */
	uint32_t thread_ids, process_ids, comm_ids, mapping_ids;
	bool keep_old;
	size_t inherit;	    /* rows of inherited mappings left to give out */
	size_t held;	    /* regions copied after a fork */
	uint64_t unlisted;  /* inherited mappings without a row */
	struct table names; /* distinct names of threads */
	const char **name;
	size_t n_name, cap_name;
	struct arena text;
};

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

struct thread *tasks_thread_at(struct tasks *ts, uint32_t slot)
{
	return &ts->thread[slot];
}

struct process *tasks_process_at(struct tasks *ts, uint32_t slot)
{
	return &ts->process[slot];
}

/* The kernel writes tid -1 for tasks that are already unhashed (do_exit):
 * they are told apart by the pid, which may still be right. */
static uint64_t thread_key(uint16_t source, int32_t pid, int32_t tid)
{
	if (tid < 0)
		return hash_u64(((uint64_t)source << 40) | (1ull << 39) |
				(uint32_t)pid);
	return hash_u64(((uint64_t)source << 40) | (uint32_t)tid);
}

static uint64_t process_key(uint16_t source, int32_t pid)
{
	return hash_u64(((uint64_t)source << 40) | (uint32_t)pid);
}

static uint32_t find(const struct table *t, uint64_t key)
{
	return table_find(t, key, NULL, NULL, NULL);
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
				     &c->ts->held };
}

static void kernel_closed(void *arg, const struct region *r)
{
	push_mapping(arg, 0, r);
}

struct space_owner tasks_kernel_owner(struct tasks *ts)
{
	return (struct space_owner){ new_mapping_id, kernel_closed, ts, NULL };
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
	p->id = ++ts->process_ids;
	p->pid = pid;
	p->source = source;
	p->used = true;
	p->start = p->end = p->since = p->taken_over = TIME_NONE;
	p->next_maps = TIME_NONE;
	p->space.keep_old = ts->keep_old;
	p->space.changed = TIME_NONE;
	table_add(&ts->processes, process_key(source, pid), slot);
	return slot;
}

uint32_t tasks_process(struct tasks *ts, uint16_t source, int32_t pid)
{
	uint32_t slot = find(&ts->processes, process_key(source, pid));

	return slot != TABLE_NONE ? slot : new_process(ts, source, pid);
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
	uint32_t dead = find(&ts->threads, thread_key(p->source, p->pid, -1));

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
	if (th->tid >= 0 && --p->n_threads == 0)
		end_process(ts, th->process, t);
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
	th->id = ++ts->thread_ids;
	th->process = process;
	th->tid = tid;
	th->source = source;
	th->used = true;
	th->start = th->end = th->last = TIME_NONE;
	p->n_slots++;
	table_add(&ts->threads, thread_key(source, p->pid, tid), slot);
	if (tid >= 0) {
		p->n_threads++;
		p->ended = false; /* not all of its threads were known */
		p->end = TIME_NONE;
	} else if (p->ended) {
		end_life(ts, slot, p->end);
	}
	return slot;
}

/* All negative ids are one: see thread_key(). */
static struct recent *recent_of(struct tasks *ts, int32_t tid)
{
	return &ts->recent[tid < 0 ? 0 : (uint32_t)tid % RECENT];
}

static void forget_recent(struct tasks *ts, int32_t tid)
{
	recent_of(ts, tid)->known = false;
}

/* ftrace says of most events only which thread it was: such threads are of
 * process -1 until a record says more. Nothing of the life changes. */
static void move_to(struct tasks *ts, uint32_t slot, uint32_t process)
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
	now = find(&ts->processes, process_key(th->source, pid));
	return now == th->process || now == TABLE_NONE || th->ended;
}

static uint32_t find_thread(struct tasks *ts, uint16_t source, int32_t pid,
			    int32_t tid)
{
	uint32_t slot = find(&ts->threads, thread_key(source, pid, tid));

	if (slot != TABLE_NONE) {
		const struct thread *th = &ts->thread[slot];

		/* A dead task's pid is -1: the thread is known all the same. */
		if (pid < 0 || is_of(ts, th, pid))
			return slot;
		if (tid >= 0 && ts->process[th->process].pid < 0) {
			move_to(ts, slot, tasks_process(ts, source, pid));
			return slot;
		}
		/* told of by the recorder, and nothing more */
		bool introduced = th->introduced && th->last == TIME_NONE;

		note_replaced(ts, slot);
		end_thread(ts, slot, TIME_NONE);
		table_remove(&ts->threads, thread_key(source, pid, tid), slot);
		forget_recent(ts, tid);
		slot = new_thread(ts, source, tasks_process(ts, source, pid),
				  tid);
		ts->thread[slot].reused_tid = true;
		ts->thread[slot].introduced = introduced;
		return slot;
	}
	/* a thread that has a process's id is its first one */
	if (pid < 0 && tid > 0 &&
	    find(&ts->processes, process_key(source, tid)) != TABLE_NONE)
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

	*r = (struct recent){ source, true, pid, tid, slot };
	return slot;
}

uint32_t tasks_find(const struct tasks *ts, uint16_t source, int32_t pid,
		    int32_t tid)
{
	uint32_t slot = find(&ts->threads, thread_key(source, pid, tid));

	if (slot == TABLE_NONE ||
	    ts->process[ts->thread[slot].process].pid != pid)
		return TASKS_NONE;
	return slot;
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

static void add_comm(struct tasks *ts, uint32_t slot, const char *name,
		     int64_t t, bool exec)
{
	struct thread *th = &ts->thread[slot];
	struct fact f = {
		.kind = FACT_COMM,
		.comm = {
			.id = ++ts->comm_ids,
			.thread = th->id,
			.time = t,
			.exec = exec,
			.name = intern_name(ts, name),
		},
	};

	th->comm = f.comm.id;
	th->name = f.comm.name;
	facts_push(ts->out, &f);
}

uint32_t tasks_comm(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	char name[16];

	if (th->comm)
		return th->comm;
	if (th->tid == 0)
		snprintf(name, sizeof(name), "swapper");
	else
		snprintf(name, sizeof(name), ":%d", (int)th->tid);
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
		join_exec(&th->join, t);
	}
	add_comm(ts, slot, name, t, exec);
}

/* The life that had this id ends: its slot stays until it is retired. */
static void replace(struct tasks *ts, uint32_t slot, int64_t t)
{
	struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;

	note_replaced(ts, slot);
	end_thread(ts, slot, t);
	forget_recent(ts, th->tid);
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

static void drop_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);
	struct fact f = {
		.kind = FACT_PROCESS,
		.process = {
			.id = p->id,
			.parent = p->parent,
			.pid = p->pid,
			.source = p->source,
			.start = p->start,
			.end = p->end,
		},
	};

	facts_push(ts->out, &f);
	space_clear(&p->space, p->ended ? p->end : TIME_NONE, &own);
	space_release(&p->space);
	table_remove(&ts->processes, process_key(p->source, p->pid), slot);
	p->used = false;
	ts->free_process = mem_grow(ts->free_process, &ts->cap_free_process,
				    ts->n_free_process + 1, sizeof(slot));
	ts->free_process[ts->n_free_process++] = slot;
}

static void inherit(struct tasks *ts, struct process *p, struct process *from,
		    int64_t t)
{
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);
	size_t n = space_count(&from->space);
	bool share = ts->held <= HELD_MAX;
	bool rows = share && n <= ts->inherit;

	ts->inherit -= rows ? n : 0;
	ts->inherit += INHERIT_EACH;
	if (!rows)
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
	uint64_t key = process_key(source, pid);
	uint32_t was = find(&ts->processes, key);
	uint32_t from = tasks_process(ts, source, ppid);

	if (was != TABLE_NONE && !synth) {
		table_remove(&ts->processes, key, was);
		memset(ts->recent, 0, sizeof(ts->recent));
		/* Nobody but the table knew one without threads. */
		if (!ts->process[was].n_slots) {
			ts->process[was].ended = true;
			ts->process[was].end = t;
			drop_process(ts, was);
		}
		was = TABLE_NONE;
	}
	uint32_t slot = was != TABLE_NONE ? was : new_process(ts, source, pid);
	struct process *p = &ts->process[slot];

	p->parent = ts->process[from].id;
	if (synth)
		return slot;
	p->start = t;
	p->since = ts->process[from].since;
	inherit(ts, p, &ts->process[from], t);
	jit_view_fork(&p->jit, &ts->process[from].jit, t);
	return slot;
}

uint32_t tasks_fork(struct tasks *ts, uint16_t source, int32_t pid, int32_t tid,
		    int32_t ppid, int32_t ptid, int64_t t, bool synth)
{
	uint32_t old = find(&ts->threads, thread_key(source, pid, tid));
	uint32_t parent = find(&ts->threads, thread_key(source, ppid, ptid));
	uint32_t process;

	if (old != TABLE_NONE && synth) {
		ts->thread[old].introduced = true;
		return old;
	}
	if (old != TABLE_NONE)
		replace(ts, old, t);
	if (ppid < 0 && ptid >= 0 && parent != TABLE_NONE)
		ppid = ts->process[ts->thread[parent].process].pid;
	if (pid < 0)
		process = tasks_process(ts, source, ppid);
	else if (pid == ppid)
		process = tasks_process(ts, source, pid);
	else
		process = fork_process(ts, source, pid, ppid, t, synth);
	uint32_t slot = new_thread(ts, source, process, tid);
	struct thread *th = &ts->thread[slot];

	th->start = synth ? TIME_NONE : t;
	th->introduced = true;
	th->reused_tid = old != TABLE_NONE;
	if (parent != TABLE_NONE && parent != slot && ts->thread[parent].name)
		add_comm(ts, slot, ts->thread[parent].name, th->start, false);
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
}

void tasks_map(struct tasks *ts, uint32_t process, const struct region *r)
{
	struct process *p = &ts->process[process];
	struct closing c = { ts, p->id };
	struct space_owner own = owner(&c);

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
	struct fact f = {
		.kind = FACT_THREAD,
		.thread = {
			.id = th->id,
			.process = p->id,
			.tid = th->tid,
			.start = th->start,
			.end = th->end,
		},
	};

	facts_push(ts->out, &f);
	forget_recent(ts, th->tid);
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
