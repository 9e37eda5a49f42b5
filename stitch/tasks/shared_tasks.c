/* shared_tasks.c - inside the tasks: one life that several captures know. */
#include "stitch/tasks/shared_tasks.h"

#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/tasks_inner.h"

/* Two captures tell of one thing so far apart at most: each takes the time
 * itself (7 us apart for a FORK in 7.2, 5 ms for an EXIT in an emulated
 * machine), and one clock may be computed from another. No id comes back so
 * soon. */
#define APART_NS 10000000ll
/* A thread that has ended has no record of its own so much later. */
#define GONE_NS 2000000000ll

enum kind {
	THREAD,
	PROCESS,
};

/* The next source after `i` that shares with `source`; -1: no more. First
 * call: -1. */
static int next_side(const struct tasks *ts, uint16_t source, int i)
{
	if (source >= ts->n_side || !ts->side[source].shares)
		return -1;
	for (i++; (size_t)i < ts->n_side; i++)
		if (i != source && ts->side[i].shares &&
		    ts->side[i].line == ts->side[source].line)
			return i;
	return -1;
}

/* ---- rings of slots */

static struct twin *twin_of(struct tasks *ts, enum kind kind, uint32_t slot)
{
	return kind == THREAD ? &ts->thread[slot].twin
			      : &ts->process[slot].twin;
}

static uint32_t *row_of(struct tasks *ts, enum kind kind, uint32_t slot)
{
	return kind == THREAD ? &ts->thread[slot].id : &ts->process[slot].id;
}

/* to TABLE_NONE: a ring and a row of its own. */
static void enter(struct tasks *ts, enum kind kind, uint32_t slot, uint32_t to)
{
	struct twin *tw = twin_of(ts, kind, slot);

	tw->next = slot;
	if (to == TABLE_NONE) {
		*row_of(ts, kind, slot) =
			kind == THREAD ? ++ts->thread_ids : ++ts->process_ids;
		return;
	}
	tw->next = twin_of(ts, kind, to)->next;
	twin_of(ts, kind, to)->next = slot;
	*row_of(ts, kind, slot) = *row_of(ts, kind, to);
}

/* What was found with the mappings of all of them is no longer right. */
static void forget_found(struct tasks *ts, enum kind kind, uint32_t slot)
{
	uint32_t sum = 1;
	uint32_t i = slot;

	if (kind != PROCESS)
		return;
	do {
		sum += ts->process[i].space.any + ts->process[i].space.cut;
		i = ts->process[i].twin.next;
	} while (i != slot);
	do {
		ts->process[i].space.any += sum;
		i = ts->process[i].twin.next;
	} while (i != slot);
}

static void leave(struct tasks *ts, enum kind kind, uint32_t slot)
{
	struct twin *tw = twin_of(ts, kind, slot);
	uint32_t i = slot;

	forget_found(ts, kind, slot);
	while (twin_of(ts, kind, i)->next != slot)
		i = twin_of(ts, kind, i)->next;
	twin_of(ts, kind, i)->next = tw->next;
	tw->next = slot;
}

static bool ring_has_source(const struct tasks *ts, enum kind kind,
			    uint32_t slot, uint16_t source)
{
	uint32_t i = slot;

	do {
		if (kind == THREAD ? ts->thread[i].source == source
				   : ts->process[i].source == source)
			return true;
		i = kind == THREAD ? ts->thread[i].twin.next
				   : ts->process[i].twin.next;
	} while (i != slot);
	return false;
}

/* ---- which lives are one */

static bool is_same_process(const struct tasks *ts, uint32_t a, uint32_t b)
{
	return ts->process[a].id == ts->process[b].id ||
	       ts->process[a].pid < 0 || ts->process[b].pid < 0;
}

/* It ended so long ago that nothing that begins now can be the same. */
static bool ended_before(const struct tasks *ts, bool ended, int64_t end,
			 int64_t by)
{
	return ended &&
	       (end == TIME_NONE || ts->now == TIME_NONE || ts->now - by > end);
}

bool twins_is_past(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	return th->twin.replaced || ts->process[th->process].twin.replaced ||
	       (th->over != TIME_NONE && !th->ended &&
		ended_before(ts, true, th->over, GONE_NS));
}

bool twins_is_over(const struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	return th->over != TIME_NONE && !th->ended && th->tid > 0 &&
	       ended_before(ts, true, th->over, APART_NS);
}

bool twins_process_ended(const struct tasks *ts, uint32_t slot)
{
	bool ended = ts->process[slot].twin.exit;

	for (uint32_t i = twins_next(ts, slot); i != slot;
	     i = twins_next(ts, i))
		ended |= ts->process[i].ended && ts->process[i].exit_seen;
	return ended;
}

uint32_t twins_next(const struct tasks *ts, uint32_t process)
{
	return ts->process[process].twin.next;
}

/* The life that has the id in source i, for one that begins in `source`. */
static uint32_t thread_in(const struct tasks *ts, int i, uint16_t source,
			  int32_t pid, int32_t tid)
{
	uint32_t slot =
		tasks_look(&ts->threads, thread_key((uint16_t)i, pid, tid));

	if (slot == TABLE_NONE)
		return TABLE_NONE;
	const struct thread *th = &ts->thread[slot];

	/* a capture that makes a second slot says that it is another life */
	if (twins_is_past(ts, slot) ||
	    (tid >= 0 && ended_before(ts, th->ended, th->end, APART_NS)) ||
	    ring_has_source(ts, THREAD, slot, source))
		return TABLE_NONE;
	return slot;
}

static uint32_t process_in(const struct tasks *ts, int i, uint16_t source,
			   int32_t pid)
{
	uint32_t slot =
		tasks_look(&ts->processes, process_key((uint16_t)i, pid));

	if (slot == TABLE_NONE)
		return TABLE_NONE;
	const struct process *p = &ts->process[slot];

	if (p->twin.replaced || ended_before(ts, p->ended, p->end, APART_NS) ||
	    ring_has_source(ts, PROCESS, slot, source))
		return TABLE_NONE;
	return slot;
}

static struct twin fresh_twin(struct tasks *ts, uint32_t slot, uint16_t source)
{
	return (struct twin){
		.next = slot,
		.view = ++ts->views,
		.source = source,
		.first = ts->now,
		.start = TIME_NONE,
		.end = TIME_NONE,
	};
}

void twins_new_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	uint32_t to = TABLE_NONE;

	p->twin = fresh_twin(ts, slot, p->source);
	for (int i = -1; p->pid >= 0 && to == TABLE_NONE &&
			 (i = next_side(ts, p->source, i)) >= 0;)
		to = process_in(ts, i, p->source, p->pid);
	enter(ts, PROCESS, slot, to);
}

/* Of threads without an id nothing is known but the process. */
void twins_new_thread(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];
	int32_t pid = ts->process[th->process].pid;
	uint32_t to = TABLE_NONE;

	th->twin = fresh_twin(ts, slot, th->source);
	for (int i = -1; (th->tid >= 0 || pid >= 0) && to == TABLE_NONE &&
			 (i = next_side(ts, th->source, i)) >= 0;) {
		to = thread_in(ts, i, th->source, pid, th->tid);
		if (to != TABLE_NONE &&
		    !is_same_process(ts, ts->thread[to].process, th->process))
			to = TABLE_NONE;
	}
	enter(ts, THREAD, slot, to);
}

int32_t twins_pid(struct tasks *ts, uint16_t source, int32_t tid)
{
	for (int i = -1; tid >= 0 && (i = next_side(ts, source, i)) >= 0;) {
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

/* ---- the end of a row */

/* An EXIT record knows best; of several the last. */
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

/* What the slot and those before it knew goes to the next. */
static bool hand_over(struct tasks *ts, enum kind kind, uint32_t slot,
		      int64_t *start, int64_t *end, bool exit)
{
	struct twin *tw = twin_of(ts, kind, slot);
	struct twin *next = twin_of(ts, kind, tw->next);

	add_start(start, tw->start);
	add_end(end, &exit, tw->end, tw->exit);
	if (next == tw)
		return false;
	add_start(&next->start, *start);
	add_end(&next->end, &next->exit, *end, exit);
	if (tw->source < next->source)
		next->source = tw->source;
	leave(ts, kind, slot);
	return true;
}

static void push_thread(struct tasks *ts, uint32_t slot, int64_t start,
			int64_t end)
{
	const struct thread *th = &ts->thread[slot];
	const struct fact f = {
		.kind = FACT_THREAD,
		.thread = {
			.id = th->id,
			.process = ts->process[th->process].id,
			.tid = th->tid,
			.start = start,
			.end = end,
		},
	};

	facts_push(ts->out, &f);
}

static void push_process(struct tasks *ts, uint32_t slot, int64_t start,
			 int64_t end)
{
	const struct process *p = &ts->process[slot];
	const struct fact f = {
		.kind = FACT_PROCESS,
		.process = {
			.id = p->id,
			.parent = p->parent,
			.pid = p->pid,
			.source = p->twin.source < p->source ? p->twin.source
							     : p->source,
			.start = start,
			.end = end,
		},
	};

	facts_push(ts->out, &f);
}

void twins_drop_process(struct tasks *ts, uint32_t slot)
{
	struct process *p = &ts->process[slot];
	uint32_t next = p->twin.next;
	int64_t start = p->start;
	int64_t end = p->end;

	if (!hand_over(ts, PROCESS, slot, &start, &end, p->exit_seen))
		push_process(ts, slot, start, end);
	else if (!ts->process[next].parent)
		ts->process[next].parent = p->parent;
}

void twins_drop_thread(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];
	int64_t start = th->start;
	int64_t end = th->end;

	if (!hand_over(ts, THREAD, slot, &start, &end, th->exit_seen))
		push_thread(ts, slot, start, end);
}

/* What it knows by others is of the row that it leaves; the last one gives
 * that out. */
static void part(struct tasks *ts, enum kind kind, uint32_t slot)
{
	struct twin *tw = twin_of(ts, kind, slot);
	int64_t start = TIME_NONE;
	int64_t end = TIME_NONE;

	if (!hand_over(ts, kind, slot, &start, &end, false)) {
		if (kind == THREAD)
			push_thread(ts, slot, start, end);
		else
			push_process(ts, slot, start, end);
		forget_found(ts, kind, slot);
	}
	tw->start = tw->end = TIME_NONE;
	tw->exit = false;
	if (kind == THREAD)
		ts->thread[slot].over = TIME_NONE;
}

/* ---- news */

/* Has what is known of it begun at t? What was told before all records is of
 * any time, as long as there was no record of it. */
static bool began(int64_t start, int64_t first, bool quiet, int64_t t)
{
	if (start != TIME_NONE)
		return start >= t - APART_NS;
	return first != TIME_NONE ? first >= t - APART_NS : quiet;
}

static bool thread_began(const struct tasks *ts, uint32_t slot, int64_t t)
{
	const struct thread *th = &ts->thread[slot];

	return began(th->start, th->twin.first, th->last == TIME_NONE, t);
}

static bool process_began(const struct tasks *ts, uint32_t slot, int64_t t)
{
	const struct process *p = &ts->process[slot];
	uint32_t lead =
		tasks_look(&ts->threads, thread_key(p->source, p->pid, p->pid));

	return began(p->start, p->twin.first,
		     lead == TABLE_NONE || ts->thread[lead].last == TIME_NONE,
		     t);
}

static bool slot_began(const struct tasks *ts, enum kind kind, uint32_t slot,
		       int64_t t)
{
	return kind == THREAD ? thread_began(ts, slot, t)
			      : process_began(ts, slot, t);
}

/* One that was told of before all records was taken for the life before; it
 * is of the new one, with others like it. What the source of the FORK has is
 * of the old one. */
static void begin(struct tasks *ts, enum kind kind, uint32_t slot,
		  uint16_t source, int64_t t, uint32_t *first)
{
	bool old = ring_has_source(ts, kind, slot, source);
	uint32_t i = slot;

	do {
		if (old || !slot_began(ts, kind, i, t) ||
		    twin_of(ts, kind, i)->end != TIME_NONE) {
			part(ts, kind, slot);
			enter(ts, kind, slot, *first);
			if (kind == THREAD)
				ts->thread[slot].comm = 0;
			break;
		}
		i = twin_of(ts, kind, i)->next;
	} while (i != slot);
	*first = slot;
}

static void tell(struct tasks *ts, enum kind kind, const struct forked *f,
		 int64_t t)
{
	uint32_t first = TABLE_NONE;

	for (int i = -1; (i = next_side(ts, f->source, i)) >= 0;) {
		uint32_t slot =
			kind == THREAD
				? tasks_look(&ts->threads,
					     thread_key((uint16_t)i, f->pid,
							f->tid))
				: tasks_look(&ts->processes,
					     process_key((uint16_t)i, f->pid));

		if (slot == TABLE_NONE)
			continue;
		if (slot_began(ts, kind, slot, t))
			begin(ts, kind, slot, f->source, t, &first);
		else
			twin_of(ts, kind, slot)->replaced = true;
	}
}

void twins_tell_fork(struct tasks *ts, const struct forked *f, int64_t t)
{
	if (f->tid <= 0 || t == TIME_NONE || next_side(ts, f->source, -1) < 0)
		return;
	tell(ts, THREAD, f, t);
	tasks_forget_recent(ts, f->tid);
	if (f->pid <= 0 || f->pid == f->ppid)
		return;
	tell(ts, PROCESS, f, t);
	for (size_t i = 0; i < RECENT; i++)
		ts->recent[i].known = false;
}

void twins_tell_exit(struct tasks *ts, uint32_t slot, int64_t t)
{
	for (uint32_t i = ts->thread[slot].twin.next; i != slot;
	     i = ts->thread[i].twin.next)
		if (!ts->thread[i].ended)
			ts->thread[i].over = t;
	tasks_forget_recent(ts, ts->thread[slot].tid);
}

/* ---- names */

static bool has_name(const struct thread *th)
{
	return th->name && !th->made_up;
}

/* The same name by another exec is news, and needs a row of its own: it is
 * another one when th has this one's row already. Of a name that was told
 * before all records, one that tells of changes knows more. */
static bool is_told(const struct thread *by, const struct thread *th)
{
	if (!by->comm)
		return false;
	if (th->named == TIME_NONE && !th->made_up && has_name(by))
		return true;
	if (by->name != th->name)
		return false;
	if (!th->by_exec)
		return true;
	return by->by_exec && (th->lent || by->comm != th->comm) &&
	       by->named != TIME_NONE && th->named != TIME_NONE &&
	       th->named - APART_NS <= by->named;
}

bool twins_has_name(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->twin.next; i != slot;
	     i = ts->thread[i].twin.next) {
		if (!is_told(&ts->thread[i], th))
			continue;
		th->lent = ts->thread[i].name != th->name;
		th->comm = ts->thread[i].comm;
		return true;
	}
	th->lent = false;
	return false;
}

void twins_lend_name(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->twin.next; i != slot && !th->made_up;
	     i = ts->thread[i].twin.next)
		if (!has_name(&ts->thread[i])) {
			ts->thread[i].comm = th->comm;
			ts->thread[i].lent = true;
		}
}

bool twins_borrow_name(struct tasks *ts, uint32_t slot)
{
	struct thread *th = &ts->thread[slot];

	for (uint32_t i = th->twin.next; i != slot;
	     i = ts->thread[i].twin.next) {
		const struct thread *by = &ts->thread[i];

		if (!by->comm || (th->comm && !has_name(by)))
			continue;
		th->comm = by->comm;
		th->lent = true;
		if (has_name(by))
			return true;
	}
	return th->comm != 0;
}

/* ---- mappings */

bool twins_have_map(const struct tasks *ts, uint32_t process,
		    const struct region *r)
{
	for (uint32_t i = twins_next(ts, process); i != process;
	     i = twins_next(ts, i))
		if (space_has(&ts->process[i].space, r))
			return true;
	return false;
}

bool twins_have_all(const struct tasks *ts, uint32_t process,
		    const struct space *sp)
{
	for (uint32_t i = twins_next(ts, process); i != process;
	     i = twins_next(ts, i))
		if (space_has_all(&ts->process[i].space, sp))
			return true;
	return false;
}
