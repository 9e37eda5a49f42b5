/* task.c - what lines say of tasks: names, forks, exits, switches.
 *
 * A name that an event says is sure. The one in front of a line is what the
 * kernel remembered when the text was made: it counts until an event says
 * another, and becomes a record only when it is news. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftext/ftext.h"

#define CLONE_THREAD 0x10000

static int32_t pid_of(const struct ftext_pairs *p, const char *key)
{
	const struct ftext_pair *f = ftext_pair(p, key);

	return f && f->is_num && f->num >= 0 && f->num <= INT32_MAX
		       ? (int32_t)f->num
		       : -1;
}

/* Of the keys the first one that is there. */
static int32_t pid_of2(const struct ftext_pairs *p, const char *a,
		       const char *b)
{
	int32_t pid = pid_of(p, a);

	return pid >= 0 ? pid : pid_of(p, b);
}

static struct scan value_of(const struct ftext_pairs *p, const char *key)
{
	const struct ftext_pair *f = ftext_pair(p, key);

	return f ? f->value : scan_of("", 0);
}

/* A program's path is told; its name is the end of it. */
static struct scan base_name(struct scan s)
{
	for (size_t i = s.n; i-- > 0;)
		if (s.p[i] == '/')
			return scan_tail(s, i + 1);
	return s;
}

/* The tasks an event names: whom it is of, and another one. */
struct tasks_said {
	int32_t tid, tid2;
	struct scan comm, comm2;
};

static void read_tasks(struct ftext *ft, const struct ftext_item *it,
		       struct tasks_said *out)
{
	enum ftext_role role = ft->event[it->event].role;
	struct ftext_pairs *p = &ft->pairs;

	*out = (struct tasks_said){ .tid = -1, .tid2 = -1 };
	if (role == ROLE_PLAIN)
		return;
	ftext_pairs(role, ftext_part_of(ft, it, &it->text), p);
	if (role == ROLE_SWITCH) {
		out->tid = pid_of(p, "prev_pid");
		out->comm = value_of(p, "prev_comm");
		out->tid2 = pid_of(p, "next_pid");
		out->comm2 = value_of(p, "next_comm");
	} else if (role == ROLE_FORK) {
		out->tid = pid_of2(p, "pid", "parent_pid");
		out->comm = value_of(p, "comm");
		if (!out->comm.n)
			out->comm = value_of(p, "parent_comm");
		out->tid2 = pid_of(p, "child_pid");
		out->comm2 = value_of(p, "child_comm");
	} else if (role == ROLE_NEWTASK) {
		out->tid = it->pid;
		out->tid2 = pid_of(p, "pid");
		out->comm2 = value_of(p, "comm");
	} else {
		const char *key = role == ROLE_EXEC	? "filename"
				  : role == ROLE_RENAME ? "newcomm"
							: "comm";

		out->tid = pid_of(p, "pid");
		out->comm = base_name(value_of(p, key));
		if (role != ROLE_EXEC)
			out->comm = value_of(p, key);
	}
}

/* ---- names */

static bool is_news(struct ftext *ft, int32_t tid, struct scan name, bool sure)
{
	return known_rename(&ft->known, tid, name.p,
			    name.n < COMM_LEN ? name.n : COMM_LEN, sure);
}

/* The name in front of the line is of the task that ran. Tables with little
 * room cut it: that is better than none. */
static bool line_name_is_news(struct ftext *ft, const struct ftext_item *it)
{
	struct scan comm = ftext_part_of(ft, it, &it->comm);

	if (scan_is(comm, "<...>") || scan_is(comm, "<idle>"))
		return false;
	return is_news(ft, it->pid, comm, false);
}

static bool is_told(struct ftext *ft, int32_t tid, bool exec,
		    const struct ftext_item *it)
{
	return known_told(&ft->known, tid, exec, it->buffer, it->time);
}

static void fork_refs(struct ftext *ft, uint64_t id,
		      const struct tasks_said *said)
{
	if (said->tid2 <= 0 ||
	    is_told(ft, said->tid2, false, ftext_item(ft, id)))
		return;
	ftext_due(ft, id, REF_FORK);
	/* the name is the parent's, but is that known? */
	known_unname(&ft->known, said->tid2);
	if (is_news(ft, said->tid2, said->comm2, true))
		ftext_due(ft, id, REF_COMM2);
}

/* Also by the same name it is another program. */
static void exec_refs(struct ftext *ft, uint64_t id,
		      const struct tasks_said *said)
{
	if (said->tid <= 0 || !said->comm.n ||
	    is_told(ft, said->tid, true, ftext_item(ft, id)))
		return;
	is_news(ft, said->tid, said->comm, true);
	ftext_due(ft, id, REF_COMM);
}

void ftext_task_refs(struct ftext *ft, uint64_t id)
{
	const struct ftext_item *it = ftext_item(ft, id);
	enum ftext_role role = ft->event[it->event].role;
	struct tasks_said said;

	read_tasks(ft, it, &said);
	if (role == ROLE_FORK || role == ROLE_NEWTASK)
		fork_refs(ft, id, &said);
	else if (is_news(ft, said.tid2, said.comm2, true))
		ftext_due(ft, id, REF_COMM2);
	if (role == ROLE_EXEC)
		exec_refs(ft, id, &said);
	else if (is_news(ft, said.tid, said.comm, true))
		ftext_due(ft, id, REF_COMM);
	if (line_name_is_news(ft, it))
		ftext_due(ft, id, REF_LINE);
	ftext_defer_refs(ft, id);
	if (role == ROLE_EXIT) {
		known_forget(&ft->known, said.tid);
		ftext_due(ft, id, REF_EXIT);
	}
}

/* ---- records */

static void set_comm(struct ftext *ft, struct record *rec, int32_t tid,
		     struct scan name)
{
	size_t n = name.n < COMM_LEN ? name.n : COMM_LEN;

	memcpy(ft->comm, name.p, n);
	ft->comm[n] = '\0';
	rec->kind = REC_COMM;
	rec->comm.name = ft->comm;
	if (tid != rec->tid)
		rec->pid = -1;
	rec->tid = tid;
}

/* Whether the child is a thread only task_newtask says. A thread's process is
 * its parent's, whichever that is: -1, and the parent's thread is named. When
 * it is not known, no parent is named. */
static void fork_record(struct ftext *ft, enum ftext_role role,
			const struct tasks_said *said, struct record *rec)
{
	const struct ftext_pair *f = ftext_pair(&ft->pairs, "clone_flags");
	struct scan v = f ? f->value : scan_of("", 0);
	uint64_t flags = 0;
	bool known = role == ROLE_NEWTASK && scan_hex(&v, &flags);

	rec->kind = REC_FORK;
	rec->pid = -1;
	rec->tid = said->tid2;
	rec->fork.ppid = -1;
	rec->fork.ptid = known ? said->tid : -1;
	if (known && !(flags & CLONE_THREAD))
		rec->pid = said->tid2;
}

void ftext_task_record(struct ftext *ft, const struct ftext_item *it,
		       enum ftext_record which, struct record *rec)
{
	enum ftext_role role = ft->event[it->event].role;
	struct tasks_said said;

	read_tasks(ft, it, &said);
	if (which == REF_FORK) {
		fork_record(ft, role, &said, rec);
	} else if (which == REF_EXIT) {
		rec->kind = REC_EXIT;
		rec->tid = said.tid >= 0 ? said.tid : rec->tid;
		rec->fork.ppid = rec->fork.ptid = -1;
	} else if (which == REF_LINE) {
		set_comm(ft, rec, it->pid, ftext_part_of(ft, it, &it->comm));
		rec->flags |= REC_F_SYNTH;
	} else {
		set_comm(ft, rec, which == REF_COMM2 ? said.tid2 : said.tid,
			 which == REF_COMM2 ? said.comm2 : said.comm);
		if (role != ROLE_EXEC)
			return;
		/* whoever called it: it has the process' id now */
		rec->flags |= REC_F_EXEC;
		rec->pid = rec->tid;
	}
}

/* A state is a letter; one that was preempted is still running. */
static bool sleeps(struct scan state)
{
	int64_t n;
	uint64_t bits;

	if (scan_starts(state, "0x"))
		return scan_hex(&state, &bits) && bits & 0xff;
	n = state.n ? state.p[0] : 'R';
	return n != 'R' && n != '0';
}

void ftext_sched(struct ftext *ft, const struct ftext_item *it,
		 struct sched *out)
{
	enum ftext_role role = ft->event[it->event].role;
	struct ftext_pairs *p = &ft->pairs;

	*out = (struct sched){ .kind = SCHED_NONE };
	if (role != ROLE_SWITCH && role != ROLE_WAKEUP &&
	    role != ROLE_WAKEUP_NEW)
		return;
	ftext_pairs(role, ftext_part_of(ft, it, &it->text), p);
	out->tid = pid_of(p, role == ROLE_SWITCH ? "prev_pid" : "pid");
	out->next_tid = pid_of(p, "next_pid");
	/* Kernels before 4.3 also tell of wakeups that did nothing. */
	if (out->tid < 0 || (role == ROLE_SWITCH && out->next_tid < 0) ||
	    !pid_of(p, "success"))
		return;
	out->kind = role == ROLE_SWITCH	  ? SCHED_SWITCH
		    : role == ROLE_WAKEUP ? SCHED_WAKEUP
					  : SCHED_NEW;
	if (role == ROLE_SWITCH)
		out->sleeps = sleeps(value_of(p, "prev_state"));
}
