/* task_rules.c - decides which records a scheduling event makes: names, forks,
 * execs and exits of tasks. */
#include "formats/reader/task_rules.h"

#include "formats/reader/bounds.h"
#include "stitch/base/mem.h"

/* An exec of the same task within this time is the same exec. */
#define SAME_EXEC_NS 1000000u
/* The low bit of known_name.hash: an event gave the name. */
#define SURE ((uint64_t)1)
#define CLONE_THREAD 0x10000

/* In these fields the kernel calls a thread id a pid. */
static const struct task_fields fields[] = {
	{ "sched", "sched_switch", ROLE_SWITCH, "prev_pid", "prev_comm",
	  "next_pid", "next_comm", "prev_state" },
	{ "sched", "sched_wakeup", ROLE_WAKEUP, "pid", "comm", 0, 0, 0 },
	{ "sched", "sched_wakeup_new", ROLE_WAKEUP_NEW, "pid", "comm", 0, 0,
	  0 },
	{ "sched", "sched_process_fork", ROLE_FORK, "parent_pid", "parent_comm",
	  "child_pid", "child_comm", 0 },
	{ "sched", "sched_process_exec", ROLE_EXEC, "pid", "filename", 0, 0,
	  0 },
	{ "sched", "sched_process_exit", ROLE_EXIT, "pid", "comm", 0, 0, 0 },
	{ "task", "task_newtask", ROLE_NEWTASK, 0, 0, "pid", "comm",
	  "clone_flags" },
	{ "task", "task_rename", ROLE_RENAME, "pid", "newcomm", 0, 0, 0 },
	{ "sched", NULL, ROLE_NAMED, "pid", "comm", 0, 0, 0 },
};

const struct task_fields *task_fields_find(const char *system,
					   const char *event)
{
	/* its comm is that of the thread that waits, its pid that of the one
	 * that it waits for */
	if (event && !strcmp(event, "sched_process_wait"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].system, system) &&
		    (!fields[i].event ||
		     (event && !strcmp(fields[i].event, event))))
			return &fields[i];
	return NULL;
}

const struct task_fields *task_fields_of(enum event_role role)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].role == role)
			return &fields[i];
	return NULL;
}

void known_tasks_release(struct known_tasks *t)
{
	table_release(&t->by_tid);
	free(t->name);
	memset(t, 0, sizeof(*t));
}

/* Returns the thread, or NULL if nothing is known of it. */
static struct known_name *known_tasks_find(const struct known_tasks *t,
					   int64_t tid)
{
	uint32_t i = table_find_hash(&t->by_tid, hash_u64((uint64_t)tid));

	return i == TABLE_NONE ? NULL : &t->name[i];
}

static struct known_name *known_tasks_add(struct known_tasks *t, int64_t tid)
{
	struct known_name *at = known_tasks_find(t, tid);

	if (at)
		return at;
	table_add(&t->by_tid, hash_u64((uint64_t)tid), (uint32_t)t->n);
	at = mem_add(t->name, t->n, t->cap);
	*at = (struct known_name){ .hash = 0 };
	return at;
}

bool known_tasks_rename(struct known_tasks *t, int64_t tid, const char *name,
			size_t n, bool sure)
{
	if (tid <= 0 || tid >= THREAD_ID_MAX || !name)
		return false;
	uint64_t *at = &known_tasks_add(t, tid)->hash;
	uint64_t h = hash_bytes(name, n, 0);

	h = (h & ~SURE) | (sure ? SURE : 0);
	if ((*at | SURE) == (h | SURE)) {
		*at |= h;
		return false;
	}
	if (!sure && *at & SURE)
		return false;
	*at = h ? h : 2;
	t->n_changed++;
	return true;
}

bool known_tasks_has_name(const struct known_tasks *t, int64_t tid)
{
	const struct known_name *at =
		tid <= 0 ? NULL : known_tasks_find(t, tid);

	return tid <= 0 || (at && at->hash);
}

bool known_tasks_has_process(const struct known_tasks *t, int64_t tid)
{
	const struct known_name *at = known_tasks_find(t, tid);

	return at && at->forked == t->n_lost + 1;
}

void known_tasks_unname(struct known_tasks *t, int64_t tid)
{
	struct known_name *at = known_tasks_find(t, tid);

	if (at)
		at->hash = 0;
	t->n_changed++;
}

/* Returns true if a record of this fork or exec was made already. A fork counts
 * until the task exits: task_newtask precedes sched_process_fork and has more
 * fields. An exec counts if another buffer reported it within SAME_EXEC_NS. */
static bool known_tasks_is_copy(struct known_tasks *t,
				const struct task_event *ev, int32_t tid,
				bool exec)
{
	struct known_task *same = NULL;

	for (size_t i = 0; i < KNOWN_TASKS_LAST && !same; i++)
		if (t->last[i].tid == tid && t->last[i].exec == exec)
			same = &t->last[i];
	if (same && !exec)
		return true;
	if (same && same->buffer != ev->buffer &&
	    ev->time - same->time < SAME_EXEC_NS)
		return true;
	if (!same)
		same = &t->last[t->n_last++ % KNOWN_TASKS_LAST];
	*same = (struct known_task){ tid, ev->buffer, ev->time, exec };
	return false;
}

static unsigned int known_tasks_name(struct known_tasks *t, int64_t tid,
				     struct scan name, enum task_due due)
{
	return known_tasks_rename(t, tid, name.p, name.n, true) ? due : 0;
}

static bool task_is_valid(int64_t tid)
{
	return tid > 0 && tid <= INT32_MAX;
}

/* Notes the child of a fork. Returns the records to make: enum task_due. */
static unsigned int known_tasks_fork(struct known_tasks *t,
				     const struct task_event *ev)
{
	if (!task_is_valid(ev->tid2) ||
	    (ev->copies &&
	     known_tasks_is_copy(t, ev, (int32_t)ev->tid2, false)))
		return 0;
	/* The child inherits its parent's name, which may be unknown. */
	known_tasks_unname(t, ev->tid2);
	if (ev->tid2 < THREAD_ID_MAX)
		/* Set if the fork shows which process the child belongs to. */
		known_tasks_add(t, ev->tid2)->forked =
			(ev->clone_flags >= 0 &&
			 (!(ev->clone_flags & CLONE_THREAD) ||
			  ev->has_process ||
			  known_tasks_has_process(t, ev->tid)))
				? t->n_lost + 1
				: 0;
	return TASK_FORK | known_tasks_name(t, ev->tid2, ev->name2, TASK_COMM2);
}

unsigned int known_tasks_event(struct known_tasks *t,
			       const struct task_event *ev)
{
	unsigned int due = 0;

	if (ev->role == ROLE_EXEC) {
		/* Make a record even if the name is the same: the program is
		 * another one. */
		if (!task_is_valid(ev->tid) || !ev->name.p ||
		    (ev->copies &&
		     known_tasks_is_copy(t, ev, (int32_t)ev->tid, true)))
			return 0;
		known_tasks_name(t, ev->tid, ev->name, TASK_COMM);
		return TASK_COMM;
	}
	if (ev->role != ROLE_NEWTASK)
		due = known_tasks_name(t, ev->tid, ev->name, TASK_COMM);
	switch (ev->role) {
	case ROLE_SWITCH:
		return due |
		       known_tasks_name(t, ev->tid2, ev->name2, TASK_COMM2);
	case ROLE_FORK:
	case ROLE_NEWTASK:
		return due | known_tasks_fork(t, ev);
	case ROLE_EXIT:
		for (size_t i = 0; i < KNOWN_TASKS_LAST; i++)
			if (t->last[i].tid == ev->tid)
				t->last[i].tid = 0;
		return due | TASK_EXIT;
	default:
		return due;
	}
}

struct scan task_name_of_path(struct scan path)
{
	for (size_t i = path.n; i-- > 0;)
		if (path.p[i] == '/')
			return scan_tail(path, i + 1);
	return path;
}

/* Only task_newtask has the flags that show whether the child is a thread. A
 * thread belongs to its parent's process: if that is unknown, the record has -1
 * and names the parent's thread. If the flags are unknown too, the record names
 * no parent. */
void task_fork_record(const struct task_event *ev, int32_t process,
		      int32_t child, struct record *rec)
{
	int32_t parent = rec->tid;

	rec->kind = REC_FORK;
	rec->tid = (int32_t)ev->tid2;
	rec->pid = child;
	if (ev->clone_flags >= 0)
		rec->pid = ev->clone_flags & CLONE_THREAD ? process : rec->tid;
	rec->fork.ppid = -1;
	rec->fork.ptid = ev->clone_flags < 0 && rec->pid < 0 ? -1 : parent;
}

/* After an exec, the task has the id of its process, whichever thread called
 * execve. */
void task_exec_record(struct record *rec)
{
	rec->flags |= REC_F_EXEC;
	rec->pid = rec->tid;
}

void task_exit_record(struct record *rec)
{
	rec->kind = REC_EXIT;
	rec->fork.ppid = rec->fork.ptid = -1;
}
