/* task_rules.h - decides which records a scheduling event makes: names, forks,
 * execs and exits of tasks.
 *
 * A reader finds the role of an event (task_fields_find() or its own table),
 * copies the event's fields into a struct task_event, and asks
 * known_tasks_event() which records to make. Events repeat what earlier events
 * reported, and several trace buffers record the same event; a record is made
 * only of what is new. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"
#include "stitch/base/table.h"
#include "stitch/record.h"

struct record;

#define COMM_LEN 15u /* longest name of a task, without the final 0 */

/* What a reader does with an event, besides making a sample of it. Readers
 * compare roles by this order: stacks and cookies come first, scheduling events
 * last. */
enum event_role {
	ROLE_PLAIN,
	ROLE_KSTACK,
	ROLE_USTACK,
	ROLE_COOKIE, /* belongs to the event before it, as a stack does */
	ROLE_CHAIN,  /* a deferred user stack: no sample */
	ROLE_INODE,
	ROLE_CALL,     /* an entry of function_graph */
	ROLE_FUNCTION, /* an entry of the function tracer */
	ROLE_MARKER,   /* text written by a process */
	ROLE_SWITCH,
	ROLE_WAKEUP,
	ROLE_WAKEUP_NEW,
	ROLE_NAMED, /* any other event with a thread id and its name */
	ROLE_FORK,
	ROLE_NEWTASK,
	ROLE_EXEC,
	ROLE_EXIT,
	ROLE_RENAME,
	ROLES
};

/* Returns what an event of this role means to the scheduler. */
static inline enum sched_kind event_role_sched(enum event_role role)
{
	return role == ROLE_SWITCH	 ? SCHED_SWITCH
	       : role == ROLE_WAKEUP	 ? SCHED_WAKEUP
	       : role == ROLE_WAKEUP_NEW ? SCHED_NEW
					 : SCHED_NONE;
}

/* The names of the fields of an event that describe tasks. NULL: it has no such
 * field. */
struct task_fields {
	const char *system,
		*event; /* event NULL: every other event of the system */
	enum event_role role;
	const char *tid,
		*name; /* sched_switch: the task that is switched out */
	const char *tid2,
		*name2;	   /* sched_switch: the next task; fork: the child */
	const char *extra; /* prev_state; new tasks: clone_flags */
};

/* Returns the row of a tracepoint, or NULL. `event` may be NULL. A row with
 * ROLE_NAMED holds only for events that have both of its fields. */
const struct task_fields *task_fields_find(const char *system,
					   const char *event);
/* Returns the row of a role, or NULL if its events do not describe tasks. */
const struct task_fields *task_fields_of(enum event_role role);

/* The fields of one event that describe tasks. */
struct task_event {
	enum event_role role;
	int64_t tid, tid2;	 /* -1: unknown */
	struct scan name, name2; /* p NULL: not in the event; a name may be
				    empty */
	/* ftrace records an event in each buffer that enables it, and both
	 * task_newtask and sched_process_fork report a fork. With `copies`, a
	 * fork or exec that is known already makes no record. */
	bool copies;
	uint32_t buffer; /* with `copies`: the buffer that has it, and its time
			  */
	uint64_t time;
	int64_t clone_flags; /* -1: unknown */
	bool has_process;    /* fork: the parent's process is known */
};

/* The records that an event makes, as bits. */
enum task_due {
	TASK_COMM = 1,	/* the name of the first task */
	TASK_COMM2 = 2, /* the name of the second task */
	TASK_FORK = 4,
	TASK_EXIT = 8,
};

#define KNOWN_TASKS_LAST 64

/* A fork or an exec that was reported lately. */
struct known_task {
	int32_t tid; /* 0: empty */
	uint32_t buffer;
	uint64_t time;
	bool exec;
};

/* What earlier events showed about a thread. */
struct known_name {
	uint64_t hash;	 /* hash of its name, low bit: see SURE; 0: no name */
	uint64_t forked; /* n_lost + 1 at its fork, if that showed its process;
			    0: it did not */
};

/* What the events so far showed about tasks. Zero-initialised is empty. */
struct known_tasks {
	/* Thread ids reach 4 million, so only those that were seen take
	 * memory. */
	struct table by_tid; /* hash_u64() of a thread id -> index in name */
	struct known_name *name;
	size_t n, cap;
	/* How often records were lost; the reader counts. After a loss a thread
	 * id may belong to another task. */
	uint64_t n_lost;
	uint64_t n_changed; /* how many names were set or forgotten */
	struct known_task last[KNOWN_TASKS_LAST]; /* the last forks and execs */
	unsigned int n_last;
};

void known_tasks_release(struct known_tasks *t);
/* Notes what the event shows. Returns the records to make: enum task_due. */
unsigned int known_tasks_event(struct known_tasks *t,
			       const struct task_event *ev);
/* Notes the name, of n bytes, n may be 0; does nothing if name is NULL. Returns
 * true if the name is new and needs a record. `sure`: an event has the name; a
 * name that the kernel only remembered when it printed a line holds until an
 * event has another. Thread ids above the largest pid_max of Linux are
 * ignored. */
bool known_tasks_rename(struct known_tasks *t, int64_t tid, const char *name,
			size_t n, bool sure);
/* Returns whether the name of the task is known. True for the idle task, which
 * has a name for each CPU: swapper/0, swapper/1, ... */
bool known_tasks_has_name(const struct known_tasks *t, int64_t tid);
/* Returns whether the fork of the task showed its process, and nothing was lost
 * since. saved_tgids and printed texts have the process of the last thread with
 * this id instead. */
bool known_tasks_has_process(const struct known_tasks *t, int64_t tid);
/* Forgets the name, since a new task has the thread id. */
void known_tasks_unname(struct known_tasks *t, int64_t tid);

/* Returns the last part of a path: the name of a task that executes the file.
 * Borrowed from path. */
struct scan task_name_of_path(struct scan path);
/* Completes the record of a fork. rec->tid is the thread that called fork,
 * `process` its process, and `child` the child's process if another source than
 * clone_flags has it. -1: unknown. */
void task_fork_record(const struct task_event *ev, int32_t process,
		      int32_t child, struct record *rec);
void task_exec_record(struct record *rec);
void task_exit_record(struct record *rec);
