/* shared_tasks.c - threads and processes that several captures of a kernel
 * see.
 *
 * Thread 9 in two captures, and then another one with its id, of which capture
 * 1 has no record yet:
 *
 *	capture 0	slot 4, ended		slot 8
 *			|			|
 *			ring: row 12		ring: row 15
 *			|
 *	capture 1	slot 7, replaced
 *
 * What one capture learns is passed to the slots that the others have of an id:
 * a FORK replaces those that did not begin with it (tell_fork_to_others()), an
 * EXIT notes when they ended. A slot that is dropped leaves what it
 * knows of start and end to the next one of its ring (hand_over_to_next()); the
 * last one writes the row. */
#include "stitch/tasks/shared_tasks.h"

#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/tasks/task.h"

/* Greatest difference between the times that two captures give to one event.
 * Each takes the time itself (7 us apart for a FORK in 7.2, 5 ms for an EXIT in
 * an emulated machine), and one clock may be computed from another. No id is
 * reused this fast. */
#define APART_NS 10000000ll
/* A thread that ended makes no record of its own this long afterwards. */
#define GONE_NS 2000000000ll

enum shared_kind {
	SHARED_THREAD,
	SHARED_PROCESS,
};

/* Keys of tasks.seen: what is known about an id, so that captures which do not
 * know it need not be searched. */
enum seen_kind {
	SEEN_THREAD,
	SEEN_PROCESS,
	SEEN_PID, /* a thread of this id belongs to a known process */
};

/* Returns the next source after `i` that shares with `source`, or -1. Start
 * with i = -1. */
static int next_sharing_source(const struct tasks *ts, uint16_t source, int i)
{
	if (source >= ts->n_side || !ts->side[source].shares)
		return -1;
	for (i++; (size_t)i < ts->n_side; i++)
		if (i != source && ts->side[i].shares &&
		    ts->side[i].line == ts->side[source].line)
			return i;
	return -1;
}

static uint64_t seen_key(const struct tasks *ts, uint16_t source,
			 enum seen_kind kind, int32_t pid, int32_t tid)
{
	const uint64_t word[] = { (uint64_t)ts->side[source].line << 8 | kind,
				  thread_key(0, pid, tid) };

	return hash_u64s(word, 2, 0);
}

/* Returns whether a source that shares with this one, or itself, has had a slot
 * of the id. */
static bool is_seen(const struct tasks *ts, uint16_t source,
		    enum seen_kind kind, int32_t pid, int32_t tid)
{
	return source < ts->n_side && ts->side[source].shares &&
	       table_find_hash(&ts->seen, seen_key(ts, source, kind, pid,
						   tid)) != TABLE_NONE;
}

/* Notes that a source had a slot of the id. Returns whether one was seen
 * before. */
static bool note_seen(struct tasks *ts, uint16_t source, enum seen_kind kind,
		      int32_t pid, int32_t tid)
{
	bool seen = is_seen(ts, source, kind, pid, tid);

	if (!seen && source < ts->n_side && ts->side[source].shares)
		table_add(&ts->seen, seen_key(ts, source, kind, pid, tid), 0);
	return seen;
}

void shared_tasks_note_process(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;

	if (pid >= 0)
		note_seen(ts, th->source, SEEN_PID, pid, th->tid);
}

static struct shared_task *shared_task_of(const struct tasks *ts,
					  enum shared_kind kind, uint32_t slot)
{
	return kind == SHARED_THREAD ? &ts->thread[slot].shared
				     : &ts->process[slot].shared;
}

static uint32_t *shared_row_of(struct tasks *ts, enum shared_kind kind,
			       uint32_t slot)
{
	return kind == SHARED_THREAD ? &ts->thread[slot].id
				     : &ts->process[slot].id;
}

/* Adds slot to the ring of `to`. to TABLE_NONE: creates a ring and a row id. */
static void ring_enter(struct tasks *ts, enum shared_kind kind, uint32_t slot,
		       uint32_t to)
{
	struct shared_task *tw = shared_task_of(ts, kind, slot);

	tw->next = slot;
	if (to == TABLE_NONE) {
		*shared_row_of(ts, kind, slot) = kind == SHARED_THREAD
							 ? ++ts->thread_ids
							 : ++ts->process_ids;
		return;
	}
	tw->next = shared_task_of(ts, kind, to)->next;
	shared_task_of(ts, kind, to)->next = slot;
	*shared_row_of(ts, kind, slot) = *shared_row_of(ts, kind, to);
}

/* Invalidates cached stacks that were resolved with the mappings of all slots
 * of the ring. */
static void drop_cached_stacks(struct tasks *ts, enum shared_kind kind,
			       uint32_t slot)
{
	uint32_t sum = 1;
	uint32_t i = slot;

	if (kind != SHARED_PROCESS)
		return;
	do {
		sum += ts->process[i].space.any + ts->process[i].space.cut;
		i = ts->process[i].shared.next;
	} while (i != slot);
	do {
		ts->process[i].space.any += sum;
		i = ts->process[i].shared.next;
	} while (i != slot);
}

static bool ring_has_source(const struct tasks *ts, enum shared_kind kind,
			    uint32_t slot, uint16_t source)
{
	uint32_t i = slot;

	do {
		if (kind == SHARED_THREAD ? ts->thread[i].source == source
					  : ts->process[i].source == source)
			return true;
		i = shared_task_of(ts, kind, i)->next;
	} while (i != slot);
	return false;
}

/* Returns true if a thread or process ended more than `by` ns ago, so that one
 * that begins now is another. */
static bool ended_before(const struct tasks *ts, bool ended, int64_t end,
			 int64_t by)
{
	return ended &&
	       (end == TIME_NONE || ts->now == TIME_NONE || ts->now - by > end);
}

bool shared_tasks_is_past(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	return th->shared.replaced ||
	       ts->process[th->process].shared.replaced ||
	       (th->over != TIME_NONE && !th->ended &&
		ended_before(ts, true, th->over, GONE_NS));
}

bool shared_tasks_is_over(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	return th->over != TIME_NONE && !th->ended && th->tid > 0 &&
	       ended_before(ts, true, th->over, APART_NS);
}

bool shared_tasks_process_ended(const struct tasks *ts, uint32_t slot)
{
	bool ended = ts->process[slot].shared.exit;

	for (uint32_t i = shared_tasks_next(ts, slot); i != slot;
	     i = shared_tasks_next(ts, i))
		ended |= ts->process[i].ended && ts->process[i].exit_seen;
	return ended;
}

uint32_t shared_tasks_next(const struct tasks *ts, uint32_t process)
{
	return ts->process[process].shared.next;
}

int64_t shared_tasks_since(const struct tasks *ts, uint32_t process)
{
	int64_t since = INT64_MIN + 1;
	uint32_t i = process;

	do {
		raise_to(since, ts->process[i].since);
		raise_to(since, ts->process[i].start);
		i = ts->process[i].shared.next;
	} while (i != process);
	return since;
}

/* Returns the slot in source i of an incarnation that begins in `source`, or
 * TABLE_NONE. */
static uint32_t thread_in(const struct tasks *ts, int i, uint16_t source,
			  int32_t pid, int32_t tid)
{
	uint32_t slot = table_find_hash(&ts->threads,
					thread_key((uint16_t)i, pid, tid));

	if (slot == TABLE_NONE)
		return TABLE_NONE;
	const struct thread *th = &ts->thread[slot];

	/* A second slot in the same capture means another incarnation. */
	if (shared_tasks_is_past(ts, slot) ||
	    (tid >= 0 && ended_before(ts, th->ended, th->end, APART_NS)) ||
	    ring_has_source(ts, SHARED_THREAD, slot, source))
		return TABLE_NONE;
	return slot;
}

static uint32_t process_in(const struct tasks *ts, int i, uint16_t source,
			   int32_t pid)
{
	uint32_t slot =
		table_find_hash(&ts->processes, process_key((uint16_t)i, pid));

	if (slot == TABLE_NONE)
		return TABLE_NONE;
	const struct process *p = &ts->process[slot];

	if (p->shared.replaced ||
	    ended_before(ts, p->ended, p->end, APART_NS) ||
	    ring_has_source(ts, SHARED_PROCESS, slot, source))
		return TABLE_NONE;
	return slot;
}

static struct shared_task new_shared_task(struct tasks *ts, uint32_t slot,
					  uint16_t source)
{
	return (struct shared_task){
		.next = slot,
		.view = ++ts->views,
		.source = source,
		.first = ts->now,
		.start = TIME_NONE,
		.end = TIME_NONE,
	};
}

void shared_tasks_add_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	uint32_t to = TABLE_NONE;

	p->shared = new_shared_task(ts, slot, p->source);
	if (p->pid >= 0 && note_seen(ts, p->source, SEEN_PROCESS, -1, p->pid))
		for (int i = -1;
		     to == TABLE_NONE &&
		     (i = next_sharing_source(ts, p->source, i)) >= 0;)
			to = process_in(ts, i, p->source, p->pid);
	ring_enter(ts, SHARED_PROCESS, slot, to);
}

/* Gives a thread its row id. Threads without an id share only their process. */
void shared_tasks_add_thread(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;
	uint32_t to = TABLE_NONE;

	th->shared = new_shared_task(ts, slot, th->source);
	shared_tasks_note_process(ts, slot);
	if ((th->tid >= 0 || pid >= 0) &&
	    note_seen(ts, th->source, SEEN_THREAD, pid, th->tid))
		for (int i = -1;
		     to == TABLE_NONE &&
		     (i = next_sharing_source(ts, th->source, i)) >= 0;) {
			to = thread_in(ts, i, th->source, pid, th->tid);
			if (to != TABLE_NONE &&
			    ts->process[ts->thread[to].process].id !=
				    ts->process[th->process].id &&
			    ts->process[ts->thread[to].process].pid >= 0 &&
			    ts->process[th->process].pid >= 0)
				to = TABLE_NONE;
		}
	ring_enter(ts, SHARED_THREAD, slot, to);
}

int32_t shared_tasks_pid(struct tasks *ts, uint16_t source, int32_t tid)
{
	if (tid < 0 || (!is_seen(ts, source, SEEN_PID, -1, tid) &&
			!is_seen(ts, source, SEEN_PROCESS, -1, tid)))
		return -1;
	for (int i = -1; (i = next_sharing_source(ts, source, i)) >= 0;) {
		uint32_t slot = thread_in(ts, i, source, -1, tid);

		if (slot != TABLE_NONE &&
		    ts->process[ts->thread[slot].process].pid >= 0)
			return ts->process[ts->thread[slot].process].pid;
		if (slot == TABLE_NONE &&
		    process_in(ts, i, source, tid) != TABLE_NONE)
			return tid;
	}
	return -1;
}

/* Merges an end into *end. The time of an EXIT record is better than others; of
 * several, the latest counts. */
static void add_end(int64_t *end, bool *exit, int64_t other, bool by_exit)
{
	if (other == TIME_NONE || (*exit && !by_exit))
		return;
	if (*end == TIME_NONE || (by_exit && !*exit) || other > *end)
		*end = other;
	*exit |= by_exit;
}

static void add_start(int64_t *start, int64_t other)
{
	if (other != TIME_NONE && (*start == TIME_NONE || other < *start))
		*start = other;
}

/* Passes what the slot and its predecessors know to the next slot of the ring.
 * Returns false if slot is the last one. */
static bool hand_over_to_next(struct tasks *ts, enum shared_kind kind,
			      uint32_t slot, int64_t *start, int64_t *end,
			      bool exit)
{
	struct shared_task *tw = shared_task_of(ts, kind, slot);
	struct shared_task *next = shared_task_of(ts, kind, tw->next);

	add_start(start, tw->start);
	add_end(end, &exit, tw->end, tw->exit);
	if (next == tw)
		return false;
	add_start(&next->start, *start);
	add_end(&next->end, &next->exit, *end, exit);
	lower_to(next->source, tw->source);
	uint32_t i = slot;

	drop_cached_stacks(ts, kind, slot);
	while (shared_task_of(ts, kind, i)->next != slot)
		i = shared_task_of(ts, kind, i)->next;
	shared_task_of(ts, kind, i)->next = tw->next;
	tw->next = slot;
	return true;
}

static void push_thread(struct tasks *ts, uint32_t slot, int64_t start,
			int64_t end)
{
	const struct thread *th = &ts->thread[slot];

	*fact_queue_add(ts->out) = (struct fact){
		.kind = FACT_THREAD,
		.thread = {
			.id = th->id,
			.process = ts->process[th->process].id,
			.tid = th->tid,
			.start = start,
			.end = end,
		},
	};
}

static void push_process(struct tasks *ts, uint32_t slot, int64_t start,
			 int64_t end)
{
	const struct process *p = &ts->process[slot];

	*fact_queue_add(ts->out) = (struct fact){
		.kind = FACT_PROCESS,
		.process = {
			.id = p->id,
			.parent = p->parent,
			.pid = p->pid,
			.source = p->shared.source < p->source ? p->shared.source
							     : p->source,
			.start = start,
			.end = end,
		},
	};
}

void shared_tasks_drop_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	uint32_t next = p->shared.next;
	int64_t start = p->start;
	int64_t end = p->end;

	if (!hand_over_to_next(ts, SHARED_PROCESS, slot, &start, &end,
			       p->exit_seen))
		push_process(ts, slot, start, end);
	else if (!ts->process[next].parent)
		ts->process[next].parent = p->parent;
}

void shared_tasks_drop_thread(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];
	int64_t start = th->start;
	int64_t end = th->end;

	if (!hand_over_to_next(ts, SHARED_THREAD, slot, &start, &end,
			       th->exit_seen))
		push_thread(ts, slot, start, end);
}

/* Takes a slot out of its ring. What other captures reported belongs to the old
 * row, so the last slot to leave outputs that row. */
static void leave_row(struct tasks *ts, enum shared_kind kind, uint32_t slot)
{
	struct shared_task *tw = shared_task_of(ts, kind, slot);
	int64_t start = TIME_NONE;
	int64_t end = TIME_NONE;

	if (!hand_over_to_next(ts, kind, slot, &start, &end, false)) {
		if (kind == SHARED_THREAD)
			push_thread(ts, slot, start, end);
		else
			push_process(ts, slot, start, end);
		drop_cached_stacks(ts, kind, slot);
	}
	tw->start = tw->end = TIME_NONE;
	tw->exit = false;
	if (kind == SHARED_THREAD)
		ts->thread[slot].over = TIME_NONE;
}

/* Returns true if the incarnation began at t. One without any record, which the
 * recorder listed at the start, may have begun at any time. */
static bool slot_began(const struct tasks *ts, enum shared_kind kind,
		       uint32_t slot, int64_t t)
{
	uint32_t thread = slot; /* of a process, its first */
	int64_t start, first;

	if (kind == SHARED_THREAD) {
		const struct thread *th = &ts->thread[slot];

		start = th->start;
		first = th->shared.first;
	} else {
		const struct process *p = &ts->process[slot];

		start = p->start;
		first = p->shared.first;
		thread = table_find_hash(&ts->threads,
					 thread_key(p->source, p->pid, p->pid));
	}
	if (start != TIME_NONE)
		return start >= t - APART_NS;
	if (first != TIME_NONE)
		return first >= t - APART_NS;
	return thread == TABLE_NONE || ts->thread[thread].last == TIME_NONE;
}

/* Returns true if the slot shares its row with the life that a FORK of `source`
 * at t ended: with a slot of that source, which has not yet taken the FORK, or
 * with one that began earlier or has ended. */
static bool ring_is_of_old_life(const struct tasks *ts, enum shared_kind kind,
				uint32_t slot, uint16_t source, int64_t t)
{
	uint32_t i = slot;

	if (ring_has_source(ts, kind, slot, source))
		return true;
	do {
		const struct shared_task *tw = shared_task_of(ts, kind, i);

		if (!slot_began(ts, kind, i, t) || tw->end != TIME_NONE)
			return true;
		i = tw->next;
	} while (i != slot);
	return false;
}

/* Tells the other sources of a FORK of f->source: their slot of that id is the
 * new life, if it began with the FORK, or is replaced by it.
 *
 * All slots that are the new life share a row. A recorder's list at the start
 * may have put such a slot in the row of the life before: then it leaves that
 * row, for the row of the slots that were seen here before it, or for a new one
 * if it is the first. The loop is over sources, each of which has one slot of
 * an id, and not over a ring: so rings may change in it. */
static void tell_fork_to_others(struct tasks *ts, enum shared_kind kind,
				const struct forked *f, int64_t t)
{
	int other = -1;
	uint32_t new_life = TABLE_NONE; /* the last slot that belongs to the new
					 * life */

	while ((other = next_sharing_source(ts, f->source, other)) >= 0) {
		uint16_t source = (uint16_t)other;
		uint32_t slot =
			kind == SHARED_THREAD
				? table_find_hash(
					  &ts->threads,
					  thread_key(source, f->pid, f->tid))
				: table_find_hash(&ts->processes,
						  process_key(source, f->pid));

		if (slot == TABLE_NONE)
			continue;
		if (!slot_began(ts, kind, slot, t)) {
			shared_task_of(ts, kind, slot)->replaced = true;
			continue;
		}
		if (ring_is_of_old_life(ts, kind, slot, f->source, t)) {
			leave_row(ts, kind, slot);
			ring_enter(ts, kind, slot, new_life);
			if (kind == SHARED_THREAD)
				ts->thread[slot].comm = 0;
		}
		new_life = slot;
	}
}

void shared_tasks_tell_fork(struct tasks *ts, const struct forked *f, int64_t t)
{
	if (f->tid <= 0 || t == TIME_NONE ||
	    next_sharing_source(ts, f->source, -1) < 0)
		return;
	tell_fork_to_others(ts, SHARED_THREAD, f, t);
	tasks_forget_recent(ts, f->tid);
	if (f->pid <= 0 || f->pid == f->ppid)
		return;
	tell_fork_to_others(ts, SHARED_PROCESS, f, t);
	for (size_t i = 0; i < RECENT; i++)
		ts->recent[i].known = false;
}

void shared_tasks_tell_exit(struct tasks *ts, uint32_t slot, int64_t t)
{
	for (uint32_t i = ts->thread[slot].shared.next; i != slot;
	     i = ts->thread[i].shared.next)
		if (!ts->thread[i].ended)
			ts->thread[i].over = t;
	tasks_forget_recent(ts, ts->thread[slot].tid);
}

static bool has_own_name(const struct thread *th)
{
	return th->name && !th->made_up;
}

bool shared_tasks_reuse_name(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->shared.next; i != slot;
	     i = ts->thread[i].shared.next) {
		/* A name that was listed before any record counts less than one
		 * that a record set. */
		if (!ts->thread[i].comm ||
		    !(((th->named == TIME_NONE && !th->made_up &&
			has_own_name(&ts->thread[i])) ||
		       (ts->thread[i].name == th->name &&
			(!th->by_exec ||
			 (ts->thread[i].by_exec &&
			  (th->lent || ts->thread[i].comm != th->comm) &&
			  ts->thread[i].named != TIME_NONE &&
			  th->named != TIME_NONE &&
			  th->named - APART_NS <= ts->thread[i].named))))))
			continue;
		th->lent = ts->thread[i].name != th->name;
		th->comm = ts->thread[i].comm;
		return true;
	}
	th->lent = false;
	return false;
}

void shared_tasks_lend_name(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->shared.next; i != slot && !th->made_up;
	     i = ts->thread[i].shared.next)
		if (!has_own_name(&ts->thread[i])) {
			ts->thread[i].comm = th->comm;
			ts->thread[i].lent = true;
		}
}

bool shared_tasks_borrow_name(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->shared.next; i != slot;
	     i = ts->thread[i].shared.next) {
		const struct thread *by = &ts->thread[i];

		if (!by->comm || (th->comm && !has_own_name(by)))
			continue;
		th->comm = by->comm;
		th->lent = true;
		if (has_own_name(by))
			return true;
	}
	return th->comm != 0;
}

bool shared_tasks_have_map(const struct tasks *ts, uint32_t process,
			   const struct region *r)
{
	for (uint32_t i = shared_tasks_next(ts, process); i != process;
	     i = shared_tasks_next(ts, i))
		if (space_has(&ts->process[i].space, r))
			return true;
	return false;
}

bool shared_tasks_have_all_maps(const struct tasks *ts, uint32_t process,
				const struct space *sp)
{
	for (uint32_t i = shared_tasks_next(ts, process); i != process;
	     i = shared_tasks_next(ts, i))
		if (space_has_all(&ts->process[i].space, sp))
			return true;
	return false;
}
