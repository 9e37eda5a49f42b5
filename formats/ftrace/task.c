/* task.c - what scheduling events say of tasks: names, forks, exits.
 *
 * Fields are found by name in the event's format. A name becomes a record
 * only when it is another one than the last that was said of the task. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "stitch/base/err.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

#define CLONE_THREAD 0x10000

static int field_at(const struct ft_type *t, const char *name)
{
	for (size_t i = 0; i < t->fmt.n; i++)
		if (!strcmp(t->fmt.def[i].name, name))
			return (int)i;
	return -1;
}

struct role_row {
	const char *system, *name;
	enum ft_role role;
	const char *pid, *comm, *pid2, *comm2, *state;
};

static const struct role_row rows[] = {
	{ "sched", "sched_switch", FT_SWITCH, "prev_pid", "prev_comm",
	  "next_pid", "next_comm", "prev_state" },
	{ "sched", "sched_wakeup", FT_WAKEUP, "pid", "comm", NULL, NULL, NULL },
	{ "sched", "sched_wakeup_new", FT_WAKEUP_NEW, "pid", "comm", NULL, NULL,
	  NULL },
	{ "sched", "sched_process_fork", FT_FORK, "parent_pid", "parent_comm",
	  "child_pid", "child_comm", NULL },
	{ "sched", "sched_process_exec", FT_EXEC, "pid", "filename", NULL, NULL,
	  NULL },
	{ "sched", "sched_process_exit", FT_EXIT, "pid", "comm", NULL, NULL,
	  NULL },
	{ "task", "task_newtask", FT_NEWTASK, NULL, NULL, "pid", "comm",
	  "clone_flags" },
	{ "task", "task_rename", FT_RENAME, "pid", "newcomm", NULL, NULL,
	  NULL },
	{ "sched", NULL, FT_NAMED, "pid", "comm", NULL, NULL, NULL },
};

static bool is_row(const struct role_row *r, const struct ft_type *t)
{
	if (strcmp(r->system, t->fmt.system))
		return false;
	if (r->name)
		return t->fmt.name && !strcmp(r->name, t->fmt.name);
	return field_at(t, r->pid) >= 0 && field_at(t, r->comm) >= 0;
}

static void stack_parts(struct ft_type *t)
{
	int caller = field_at(t, "caller");

	if (caller < 0) {
		t->role = FT_PLAIN;
		return;
	}
	t->part.at = (int)(t->fmt.field[caller].off & INT32_MAX);
	t->part.size = field_at(t, t->role == FT_KSTACK ? "size" : "tgid");
}

void ft_role_find(struct ft_type *t)
{
	const char *name = t->fmt.name ? t->fmt.name : "";

	t->part = (struct ft_parts){ -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	if (!strcmp(t->fmt.system, "ftrace")) {
		if (!strcmp(name, "kernel_stack"))
			t->role = FT_KSTACK;
		else if (!strcmp(name, "user_stack"))
			t->role = FT_USTACK;
		if (t->role != FT_PLAIN) {
			stack_parts(t);
			return;
		}
	}
	ft_defer_find(t);
	if (t->role != FT_PLAIN)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct role_row *r = &rows[i];

		if (!is_row(r, t))
			continue;
		t->role = r->role;
		t->part.pid = r->pid ? field_at(t, r->pid) : -1;
		t->part.comm = r->comm ? field_at(t, r->comm) : -1;
		t->part.pid2 = r->pid2 ? field_at(t, r->pid2) : -1;
		t->part.comm2 = r->comm2 ? field_at(t, r->comm2) : -1;
		t->part.state = r->state ? field_at(t, r->state) : -1;
		return;
	}
}

int64_t ft_number(const struct ft_type *t, int field, const struct bytes *raw,
		  int64_t otherwise)
{
	int64_t v;

	if (field < 0 || !tp_number(raw, &t->fmt.field[field], &v))
		return otherwise;
	return v;
}

/* A task's name, or the end of a program's path, which is its name. */
static void take_name(struct ft *ft, const struct ft_type *t, int field,
		      const struct bytes *raw, char out[COMM_LEN + 1])
{
	struct field f = { 0 };

	out[0] = '\0';
	if (field < 0)
		return;
	if (ft->look.scratch.used)
		arena_release(&ft->look.scratch);
	tp_take(&ft->look, raw, &t->fmt.field[field], &f);
	if (!f.present || !f.text)
		return;
	const char *s = f.text;
	const char *slash = t->role == FT_EXEC ? strrchr(s, '/') : NULL;

	s = slash ? slash + 1 : s;
	size_t n = strnlen(s, COMM_LEN);

	memcpy(out, s, n);
	out[n] = '\0';
}

static void name_ref(struct ft *ft, const struct ft_type *t,
		     const struct ref *ev, int64_t tid, int comm,
		     const struct bytes *raw, enum ft_whose whose)
{
	char name[COMM_LEN + 1];

	take_name(ft, t, comm, raw, name);
	if (known_rename(&ft->known, tid, name, strlen(name), true))
		ft_due(ft, ev, CLASS_COMM, whose);
}

static bool is_told(struct ft *ft, int64_t tid, bool exec, const struct ref *ev)
{
	return known_told(&ft->known, (int32_t)tid, exec,
			  ft->stream[ev->handle >> 48].instance, ev->key);
}

static void fork_refs(struct ft *ft, const struct ft_type *t,
		      const struct ref *ev, const struct bytes *raw)
{
	int64_t child = ft_number(t, t->part.pid2, raw, -1);
	char name[COMM_LEN + 1];

	if (child <= 0 || child > INT32_MAX)
		return;
	if (is_told(ft, (int32_t)child, false, ev))
		return;
	ft_due(ft, ev, CLASS_FORK, 0);
	/* the name is the parent's, but is that known? */
	take_name(ft, t, t->part.comm2, raw, name);
	known_unname(&ft->known, child);
	if (known_rename(&ft->known, child, name, strlen(name), true))
		ft_due(ft, ev, CLASS_COMM, FT_SECOND);
}

/* Also by the same name it is another program. */
static void exec_refs(struct ft *ft, const struct ft_type *t,
		      const struct ref *ev, int64_t tid,
		      const struct bytes *raw)
{
	char name[COMM_LEN + 1];

	if (tid <= 0 || tid > INT32_MAX || is_told(ft, (int32_t)tid, true, ev))
		return;
	take_name(ft, t, t->part.comm, raw, name);
	known_rename(&ft->known, tid, name, strlen(name), true);
	ft_due(ft, ev, CLASS_COMM, FT_FIRST);
}

static void exit_refs(struct ft *ft, const struct ref *ev, int64_t tid)
{
	known_forget(&ft->known, tid);
	ft_due(ft, ev, CLASS_EXIT, 0);
}

void ft_task_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		  int32_t pid, const struct bytes *raw)
{
	int64_t tid = t ? ft_number(t, t->part.pid, raw, pid) : pid;

	if (t && t->role != FT_NEWTASK && t->role != FT_EXEC)
		name_ref(ft, t, ev, tid, t->part.comm, raw, FT_FIRST);
	if (t && t->role == FT_SWITCH)
		name_ref(ft, t, ev, ft_number(t, t->part.pid2, raw, -1),
			 t->part.comm2, raw, FT_SECOND);
	if (t && (t->role == FT_FORK || t->role == FT_NEWTASK))
		fork_refs(ft, t, ev, raw);
	if (t && t->role == FT_EXIT)
		exit_refs(ft, ev, tid);
	if (t && t->role == FT_EXEC)
		exec_refs(ft, t, ev, tid, raw);
	if (known_named(&ft->known, pid))
		return;
	const char *saved = ft_saved_name(ft, pid);

	if (saved && known_rename(&ft->known, pid, saved, strlen(saved), true))
		ft_due(ft, ev, CLASS_COMM, FT_SAVED);
}

/* The record is of another task than the one that was running. */
static void set_tid(const struct ft *ft, int32_t tid, struct record *rec)
{
	if (tid == rec->tid)
		return;
	rec->tid = tid;
	rec->pid = tid ? ft_tgid_of(ft, tid) : 0;
}

static int comm_record(struct ft *ft, const struct ft_type *t,
		       const struct ref *ref, const struct bytes *raw,
		       struct record *rec)
{
	bool second = ref->len == FT_SECOND;

	rec->kind = REC_COMM;
	rec->comm.name = ft->comm;
	if (ref->len == FT_SAVED) {
		const char *name = ft_saved_name(ft, rec->tid);

		rec->comm.name = name ? name : "";
		rec->flags |= REC_F_SYNTH;
		return 0;
	}
	take_name(ft, t, second ? t->part.comm2 : t->part.comm, raw, ft->comm);
	set_tid(ft,
		(int32_t)ft_number(t, second ? t->part.pid2 : t->part.pid, raw,
				   rec->tid),
		rec);
	if (t->role != FT_EXEC)
		return 0;
	/* whoever called it: it has the process' id now */
	rec->flags |= REC_F_EXEC;
	rec->pid = rec->tid;
	return 0;
}

/* Whether the child is a thread task_newtask says, or saved_tgids. A thread's
 * process is its parent's, whichever that is: -1, and the parent's thread is
 * named. When it is not known, no parent is named. */
static int fork_record(const struct ft *ft, const struct ft_type *t,
		       const struct bytes *raw, struct record *rec)
{
	int32_t parent = rec->tid;
	int32_t process = rec->pid;
	int32_t child = (int32_t)ft_number(t, t->part.pid2, raw, -1);
	int64_t flags = ft_number(t, t->part.state, raw, -1);

	rec->kind = REC_FORK;
	set_tid(ft, child, rec);
	if (flags >= 0)
		rec->pid = flags & CLONE_THREAD ? process : child;
	rec->fork.ppid = -1;
	rec->fork.ptid = flags < 0 && rec->pid < 0 ? -1 : parent;
	return 0;
}

int ft_task_record(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err)
{
	if (ref->kind == CLASS_COMM && (t || ref->len == FT_SAVED))
		return comm_record(ft, t, ref, raw, rec);
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->in.path);
	if (ref->kind == CLASS_FORK)
		return fork_record(ft, t, raw, rec);
	rec->kind = REC_EXIT;
	set_tid(ft, (int32_t)ft_number(t, t->part.pid, raw, rec->tid), rec);
	rec->fork.ppid = rec->fork.ptid = -1;
	return 0;
}
