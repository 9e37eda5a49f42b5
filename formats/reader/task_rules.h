/* task_rules.h - which records scheduling events lead to: names, forks, execs
 * and exits of tasks.
 *
 * A reader finds the role of an event (task_fields_find() or its own table),
 * copies the event's fields into a struct task_event, and asks
 * known_tasks_event() which records to make. Events repeat what earlier events
 * said, and several trace buffers record the same event; a record is made only
 * of what is new. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"
#include "stitch/base/table.h"
#include "stitch/record.h"

struct record;

#define COMM_LEN 15u /* longest name of a task, without the final 0 */

/* What a reader does with an event besides making a sample of it. The readers
 * rely on this order: stacks and cookies first, scheduling events last. */
enum event_role {
	ROLE_PLAIN,
	ROLE_KSTACK,
	ROLE_USTACK,
	ROLE_COOKIE, /* follows its event, as a stack does */
	ROLE_CHAIN,  /* a deferred user stack: no sample */
	ROLE_INODE,
	ROLE_CALL,     /* of function_graph */
	ROLE_FUNCTION, /* of the tracer function */
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

/* What an event of that role is to the scheduler. */
static inline enum sched_kind event_role_sched(enum event_role role)
{
	return role == ROLE_SWITCH	 ? SCHED_SWITCH
	       : role == ROLE_WAKEUP	 ? SCHED_WAKEUP
	       : role == ROLE_WAKEUP_NEW ? SCHED_NEW
					 : SCHED_NONE;
}

/* Names of the fields of an event that tell about tasks. NULL: none. */
struct task_fields {
	const char *system, *event; /* event NULL: the others of the system */
	enum event_role role;
	const char *tid, *name;	  /* of sched_switch: the task that leaves */
	const char *tid2, *name2; /* the next task; of forks: the child */
	const char *extra;	  /* prev_state; of task_newtask: clone_flags */
};

/* The row of a tracepoint, or NULL. `event` may be NULL. A row ROLE_NAMED
 * holds only for events that have both of its fields. */
const struct task_fields *task_fields_find(const char *system,
					   const char *event);
/* The row of a role, or NULL if the role tells nothing about tasks. */
const struct task_fields *task_fields_of(enum event_role role);

/* What one event tells about tasks. */
struct task_event {
	enum event_role role;
	int64_t tid, tid2;	 /* -1: unknown */
	struct scan name, name2; /* p NULL: not in the event; a name may be
				    empty */
	/* ftrace records an event in each buffer that enables it, and both
	 * task_newtask and sched_process_fork tell about a fork. If `copies`
	 * is set, a fork or exec that is known already makes no record. */
	bool copies;
	uint32_t buffer; /* with `copies`: where and when it was recorded */
	uint64_t time;
	int64_t clone_flags; /* -1: unknown */
	bool has_process;    /* of a fork: the parent's process is known */
};

/* Records to make of an event. */
enum task_due {
	TASK_COMM = 1,	/* the name of the first task */
	TASK_COMM2 = 2, /* the name of the second task */
	TASK_FORK = 4,
	TASK_EXIT = 8,
};

#define KNOWN_TASKS_LAST 64

/* A fork or an exec. */
struct known_task {
	int32_t tid; /* 0: empty */
	uint32_t buffer;
	uint64_t time;
	bool exec;
};

/* What is known of a thread. */
struct known_name {
	uint64_t hash;	 /* of its name; 0: none */
	uint64_t forked; /* if its fork said whose thread it is: n_lost at that
			  * time, plus 1 */
};

/* What the records made so far tell about tasks. Zero-initialised is empty. */
struct known_tasks {
	/* Thread ids go up to 4 million: memory is for those that have a name.
	 */
	struct table by_tid; /* hash_u64() of the id: index of its name */
	struct known_name *name;
	size_t n, cap;
	/* Losses of records, which the reader counts: after each one other
	 * tasks may have the thread ids. */
	uint64_t n_lost;
	uint64_t n_changed; /* names that were given or forgotten */
	struct known_task last[KNOWN_TASKS_LAST]; /* the last forks and execs */
	unsigned int n_last;
};

void known_tasks_release(struct known_tasks *t);
/* Notes what the event tells. Returns the records to make: enum task_due. */
unsigned int known_tasks_event(struct known_tasks *t,
			       const struct task_event *ev);
/* Notes the name of n bytes, which may be 0, unless name is NULL. Returns true
 * if it is new and needs a record.
 * `sure`: an event gave the name; a name that the kernel only remembered when
 * it printed a line counts until an event tells another. Thread ids above the
 * largest pid_max of Linux are ignored. */
bool known_tasks_rename(struct known_tasks *t, int64_t tid, const char *name,
			size_t n, bool sure);
/* True if the name of the task is known. Always true of the idle task, which
 * has no single name: it is swapper/0, swapper/1, ... by CPU. */
bool known_tasks_has_name(const struct known_tasks *t, int64_t tid);
/* True if the fork of the task said its process. What the kernel remembers of a
 * thread id when it prints a text, or in saved_tgids, is the process of the
 * last thread that had it. */
bool known_tasks_has_process(const struct known_tasks *t, int64_t tid);
/* Forgets the name, since a new task has the thread id. */
void known_tasks_unname(struct known_tasks *t, int64_t tid);

/* The end of a path: the name of a task that executes the file. */
struct scan task_name_of_path(struct scan path);
/* Completes the record of a fork. rec->tid is the thread that called, and
 * process its process; child is the child's process, if known otherwise than
 * by clone_flags. -1: unknown. */
void task_fork_record(const struct task_event *ev, int32_t process,
		      int32_t child, struct record *rec);
void task_exec_record(struct record *rec);
void task_exit_record(struct record *rec);
