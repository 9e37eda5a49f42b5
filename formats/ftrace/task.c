/* task.c - fields of scheduling events, and the records made of them.
 *
 * Fields are found by name in the event's format; task_rules.h decides which
 * records an event leads to. */
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/refs.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/source.h"

/* The fields of an entry, with copies of the names. */
struct ft_task {
	struct task_event event;
	char name[2][COMM_LEN + 1];
};

static struct scan ft_task_name(struct ft *ft, const struct ft_type *t,
				int field, const struct bytes *raw,
				char out[COMM_LEN + 1])
{
	struct field f;

	tp_field_take_alone(&ft->look, &t->fmt, field, raw, &f);
	if (!f.text)
		return scan_of(NULL, 0);
	struct scan s = scan_of(f.text, strlen(f.text));

	if (t->role == ROLE_EXEC)
		s = task_name_of_path(s);
	s = scan_head(s, COMM_LEN);
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return scan_of(out, s.n);
}

/* `running`: the thread that recorded the entry. */
static void ft_task_read(struct ft *ft, const struct ft_type *t,
			 const struct bytes *raw, int32_t running,
			 struct ft_task *out)
{
	const struct ft_parts *part = &t->part;

	out->event = (struct task_event){
		.role = t->role,
		.tid = ft_field_number(t, part->pid, raw, running),
		.tid2 = ft_field_number(t, part->pid2, raw, -1),
		.name = ft_task_name(ft, t, part->comm, raw, out->name[0]),
		.name2 = ft_task_name(ft, t, part->comm2, raw, out->name[1]),
		.copies = true,
		.clone_flags =
			t->role == ROLE_NEWTASK
				? ft_field_number(t, part->state, raw, -1)
				: -1,
	};
}

void ft_task_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		  int32_t pid, const struct bytes *raw)
{
	struct ft_task task;
	unsigned int due = 0;

	if (t) {
		ft_task_read(ft, t, raw, pid, &task);
		task.event.buffer = ft->stream[ev->handle >> 48].instance;
		task.event.time = ev->key;
		task.event.has_process = ft->n_tgid && ft_tgid_of(ft, pid) >= 0;
		due = told_tasks_event(&ft->told, &task.event);
	}
	if (due & TASK_COMM)
		ft_add_ref(ft, ev, CLASS_COMM, FT_FIRST);
	if (due & TASK_FORK)
		ft_add_ref(ft, ev, CLASS_FORK, 0);
	if (due & TASK_COMM2)
		ft_add_ref(ft, ev, CLASS_COMM, FT_SECOND);
	if (due & TASK_EXIT)
		ft_add_ref(ft, ev, CLASS_EXIT, 0);
	if (t)
		memset(ft->settled, 0, sizeof(ft->settled));
	if (ft_task_is_settled(ft, pid))
		return;
	ft->settled[(uint32_t)pid % FT_SETTLED] = pid;
	if (told_tasks_has_name(&ft->told, pid))
		return;
	const char *saved = ft_name_of(ft, pid);

	if (saved &&
	    told_tasks_rename(&ft->told, pid, saved, strlen(saved), true))
		ft_add_ref(ft, ev, CLASS_COMM, FT_SAVED);
}

/* The process of a thread; rec: of the thread that was running. */
static int32_t ft_task_process(const struct ft *ft, int64_t tid,
			       const struct record *rec)
{
	if (tid == rec->tid)
		return rec->pid;
	return tid ? ft_tgid_of(ft, (int32_t)tid) : 0;
}

/* What is saved of another thread's process may be of a later thread. */
static void ft_task_set_tid(int64_t tid, struct record *rec)
{
	if (tid != rec->tid)
		rec->pid = tid ? -1 : 0;
	rec->tid = (int32_t)tid;
}

int ft_task_record(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err)
{
	struct ft_task task;

	if (ref->kind == CLASS_COMM && ref->len == FT_SAVED) {
		const char *name = ft_name_of(ft, rec->tid);

		rec->kind = REC_COMM;
		rec->comm.name = name ? name : "";
		rec->flags |= REC_F_SYNTH;
		return 0;
	}
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->in.path);
	ft_task_read(ft, t, raw, rec->tid, &task);
	if (ref->kind == CLASS_COMM) {
		bool second = ref->len == FT_SECOND;

		rec->kind = REC_COMM;
		rec->comm.name = ft->comm;
		memcpy(ft->comm, task.name[second], sizeof(task.name[second]));
		ft_task_set_tid(second ? task.event.tid2 : task.event.tid, rec);
		if (task.event.role == ROLE_EXEC)
			task_exec_record(rec);
	} else if (ref->kind == CLASS_FORK) {
		task_fork_record(&task.event, rec->pid,
				 ft_task_process(ft, task.event.tid2, rec),
				 rec);
	} else {
		task_exit_record(rec);
		ft_task_set_tid(task.event.tid, rec);
	}
	return 0;
}
