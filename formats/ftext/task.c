/* task.c - fields of scheduling events in text, and the records made from them.
 *
 * task_rules.h decides which records an event makes. The name at the start of a
 * line is the one that the kernel remembered when it printed the text: it holds
 * until an event has another. */
#include <string.h>

#include "formats/ftext/ftext.h"

static int32_t ftext_task_tid(const struct ftext_pairs *p, const char *key)
{
	const struct ftext_pair *f = key ? ftext_pair_find(p, key) : NULL;

	return f && f->is_num && f->num >= 0 && f->num <= INT32_MAX
		       ? (int32_t)f->num
		       : -1;
}

/* Returns the value of a key; p is NULL if it is missing. */
static struct scan ftext_task_value(const struct ftext_pairs *p,
				    const char *key)
{
	const struct ftext_pair *f = key ? ftext_pair_find(p, key) : NULL;

	return f ? f->value : scan_of(NULL, 0);
}

static struct scan ftext_task_name(const struct ftext_pairs *p,
				   enum event_role role, const char *key)
{
	struct scan name = ftext_task_value(p, key);

	if (role == ROLE_EXEC)
		name = task_name_of_path(name);
	return scan_head(name, COMM_LEN);
}

static void ftext_task_read(struct ftext *ft, const struct ftext_item *it,
			    struct task_event *out)
{
	enum event_role role = ft->event[it->event].role;
	const struct task_fields *f = task_fields_of(role);
	struct ftext_pairs *p = &ft->pairs;

	*out = (struct task_event){ .role = role,
				    .tid = -1,
				    .tid2 = -1,
				    .copies = true,
				    .buffer = it->buffer,
				    .time = it->time,
				    .has_process = it->tgid >= 0,
				    .clone_flags = -1 };
	if (!f)
		return;
	ftext_pairs_parse(role, NULL, ftext_part_of(ft, it, &it->text), p);
	out->tid = ftext_task_tid(p, f->tid);
	out->name = ftext_task_name(p, role, f->name);
	out->tid2 = ftext_task_tid(p, f->tid2);
	out->name2 = ftext_task_name(p, role, f->name2);
	if (role == ROLE_NEWTASK) {
		out->tid = it->pid;
		struct scan v = ftext_task_value(p, "clone_flags");
		uint64_t flags;

		if (scan_hex(&v, &flags))
			out->clone_flags = (int64_t)(flags & INT64_MAX);
	} else if (role == ROLE_FORK) {
		/* in a fork, the kernel prints the parent as comm and pid */
		if (ftext_task_tid(p, "pid") >= 0)
			out->tid = ftext_task_tid(p, "pid");
		if (ftext_task_value(p, "comm").p)
			out->name = ftext_task_name(p, role, "comm");
	}
}

/* Returns whether the name at the start of the line, that of the running task,
 * is new. Tracers with narrow tables cut it, but a short name is better than
 * none. */
static bool ftext_line_name_is_new(struct ftext *ft,
				   const struct ftext_item *it)
{
	struct scan comm = ftext_part_of(ft, it, &it->comm);

	if (!comm.n || scan_is(comm, "<...>"))
		return false;
	return known_tasks_rename(&ft->known, it->pid, comm.p,
				  comm.n < COMM_LEN ? comm.n : COMM_LEN, false);
}

void ftext_task_refs(struct ftext *ft, uint64_t id)
{
	struct ftext_item *it = ftext_item_at(ft, id);
	struct task_event event;

	if (it->tgid >= 0 && known_tasks_has_process(&ft->known, it->pid))
		it->tgid = -1;
	ftext_task_read(ft, it, &event);
	unsigned int due = known_tasks_event(&ft->known, &event);

	if (due & TASK_FORK)
		ftext_add_ref(ft, id, REF_FORK);
	if (due & TASK_COMM2)
		ftext_add_ref(ft, id, REF_COMM2);
	if (due & TASK_COMM)
		ftext_add_ref(ft, id, REF_COMM);
	if (ftext_line_name_is_new(ft, it))
		ftext_add_ref(ft, id, REF_LINE);
	ftext_defer_refs(ft, id);
	if (due & TASK_EXIT)
		ftext_add_ref(ft, id, REF_EXIT);
}

static void ftext_comm_record(struct ftext *ft, struct record *rec, int64_t tid,
			      struct scan name)
{
	size_t n = name.n < COMM_LEN ? name.n : COMM_LEN;

	if (n)
		memcpy(ft->comm, name.p, n);
	ft->comm[n] = '\0';
	rec->kind = REC_COMM;
	rec->comm.name = ft->comm;
	if (tid != rec->tid)
		rec->pid = -1;
	rec->tid = (int32_t)tid;
}

void ftext_task_record(struct ftext *ft, const struct ftext_item *it,
		       enum ftext_record which, struct record *rec)
{
	struct task_event event;

	ftext_task_read(ft, it, &event);
	if (which == REF_FORK) {
		task_fork_record(&event,
				 event.role == ROLE_NEWTASK ? rec->pid : -1, -1,
				 rec);
	} else if (which == REF_EXIT) {
		rec->tid = event.tid >= 0 ? (int32_t)event.tid : rec->tid;
		task_exit_record(rec);
	} else if (which == REF_LINE) {
		ftext_comm_record(ft, rec, it->pid,
				  ftext_part_of(ft, it, &it->comm));
		rec->flags |= REC_F_SYNTH;
	} else if (which == REF_COMM2) {
		ftext_comm_record(ft, rec, event.tid2, event.name2);
	} else {
		ftext_comm_record(ft, rec, event.tid, event.name);
		if (event.role == ROLE_EXEC)
			task_exec_record(rec);
	}
}

/* Returns whether a state is not runnable. It is a letter or a number, which
 * trace-cmd report -R prints as a decimal one; a preempted task (R+, 0x100)
 * still runs. */
static bool ftext_state_sleeps(struct scan state)
{
	uint64_t bits;

	if (scan_starts(state, "0x"))
		return scan_hex(&state, &bits) && bits & 0xff;
	if (scan_u64(&state, &bits))
		return bits & 0xff;
	int64_t n = state.n ? state.p[0] : 'R';
	return n != 'R';
}

void ftext_sched(struct ftext *ft, const struct ftext_item *it,
		 struct sched *out)
{
	enum event_role role = ft->event[it->event].role;
	const enum sched_kind kind = event_role_sched(role);
	struct ftext_pairs *p = &ft->pairs;

	*out = (struct sched){ .kind = SCHED_NONE };
	if (kind == SCHED_NONE)
		return;
	ftext_pairs_parse(role, NULL, ftext_part_of(ft, it, &it->text), p);
	out->tid = ftext_task_tid(p, role == ROLE_SWITCH ? "prev_pid" : "pid");
	out->next_tid = ftext_task_tid(p, "next_pid");
	/* success: kernels before 4.3 also record wakeups that woke nothing. */
	if (out->tid < 0 || (role == ROLE_SWITCH && out->next_tid < 0) ||
	    !ftext_task_tid(p, "success"))
		return;
	out->kind = kind;
	if (role == ROLE_SWITCH)
		out->sleeps =
			ftext_state_sleeps(ftext_task_value(p, "prev_state"));
}
