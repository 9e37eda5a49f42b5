/* task.c - what events tell about threads: names, forks, exits, and the state
 * of processes when recording began.
 *
 * LTTng's kernel events have a tid where ftrace's have a pid. task_rules.h
 * decides which records an event leads to. */
#include <string.h>

#include "formats/ctf/ctf.h"

static struct ctf_item *ctf_task_name_item(struct ctf_trace *tr, uint64_t time,
					   struct scan name)
{
	struct ctf_item *it = ctf_item_new(tr, CLASS_COMM, time, name.n + 1);

	it->kind = REC_COMM;
	it->raw_len = (uint32_t)name.n + 1;
	if (name.n)
		memcpy(ctf_item_raw(it), name.p, name.n);
	ctf_item_raw(it)[name.n] = 0;
	return it;
}

static void ctf_task_comm_item(struct ctf_trace *tr, uint64_t time, int32_t pid,
			       int32_t tid, struct scan name, uint32_t flags)
{
	struct ctf_item *it = ctf_task_name_item(tr, time, name);

	it->pid = pid;
	it->tid = tid;
	it->flags = flags;
}

/* Is it the name that the stream's last event had, and nobody told another
 * since? Nearly all names are. */
static bool ctf_task_is_told(const struct ctf_stream *s, int32_t tid,
			     struct scan name)
{
	const size_t n = s->told_len;

	return s->n_told == s->trace->told.n_changed && s->told_tid == tid &&
	       n <= name.n && !memcmp(name.p, s->told_name, n) &&
	       (n == name.n || n > COMM_LEN || !name.p[n]);
}

void ctf_task_name(struct ctf_stream *s, int32_t pid, int32_t tid,
		   struct scan name)
{
	struct ctf_trace *tr = s->trace;

	if (ctf_task_is_told(s, tid, name))
		return;
	name = scan_head(name, COMM_LEN + 1);
	name.n = strnlen(name.p, name.n);
	if (told_tasks_rename(&tr->told, tid, name.p, name.n, true))
		ctf_task_comm_item(tr, tr->at, pid, tid, name, 0);
	s->n_told = tr->told.n_changed;
	s->told_tid = tid;
	s->told_len = (uint32_t)name.n;
	memcpy(s->told_name, name.p, name.n);
}

static int32_t ctf_task_id(const struct ctf_event *ev, enum ctf_part_of part,
			   const struct bytes *raw)
{
	int64_t v = ctf_number(ev, part, raw, -1);

	return v < 0 || v > INT32_MAX ? -1 : (int32_t)v;
}

/* The name in a field. The text of a field is valid until the next ctf_text(),
 * so the name is copied to buf. */
static struct scan ctf_task_field_name(struct ctf_trace *tr,
				       const struct ctf_event *ev,
				       enum ctf_part_of part,
				       const struct bytes *raw,
				       char buf[COMM_LEN + 1])
{
	const char *text = ctf_text(tr->ctf, ev, part, raw);

	if (!text)
		return scan_of(NULL, 0);
	struct scan s = scan_of(text, strlen(text));

	if (part == CTF_PATH)
		s = scan_head(task_name_of_path(s), COMM_LEN);
	s = scan_head(s, COMM_LEN + 1);
	memcpy(buf, s.p, s.n);
	return scan_of(buf, s.n);
}

/* LTTng records an event once, and has no task_newtask. */
static void ctf_task_event(struct ctf_trace *tr, const struct ctf_event *ev,
			   const struct ctf_item *head, const struct bytes *raw)
{
	char name[2][COMM_LEN + 1];
	struct task_event event = {
		.role = (enum event_role)ev->role,
		.tid = ctf_task_id(ev, CTF_TID, raw),
		.tid2 = ctf_task_id(ev, CTF_TID2, raw),
		.clone_flags = -1,
	};
	int32_t pid = ctf_task_id(ev, CTF_PID, raw);

	if (ev->role == CTF_STATE)
		event.role = ROLE_NAMED;
	event.name = ctf_task_field_name(
		tr, ev, ev->role == CTF_EXEC ? CTF_PATH : CTF_COMM, raw,
		name[0]);
	if (ev->role == CTF_SWITCH)
		event.name2 =
			ctf_task_field_name(tr, ev, CTF_COMM2, raw, name[1]);
	unsigned int due = told_tasks_event(&tr->told, &event);

	uint32_t flags = ev->role == CTF_STATE ? REC_F_SYNTH : 0;

	if (due & TASK_COMM2)
		ctf_task_comm_item(tr, head->time, pid, (int32_t)event.tid2,
				   event.name2, flags);
	if (due & TASK_COMM && ev->role == CTF_EXEC) {
		struct ctf_item *it =
			ctf_task_name_item(tr, head->time, event.name);

		/* Whichever thread executes a program has the id of its process
		 * afterwards. */
		it->pid = it->tid = (int32_t)event.tid;
		it->cpu = head->cpu;
		it->flags = REC_F_EXEC;
	} else if (due & TASK_COMM) {
		ctf_task_comm_item(tr, head->time, pid, (int32_t)event.tid,
				   event.name, flags);
	}
	if (due & TASK_FORK) {
		struct ctf_item *it =
			ctf_item_new(tr, CLASS_FORK, head->time, 0);

		it->kind = REC_FORK;
		it->cpu = head->cpu;
		it->tid = ctf_task_id(ev, CTF_TID2, raw);
		it->pid = ctf_task_id(ev, CTF_PID2, raw);
		it->fork.ppid = pid;
		it->fork.ptid = ctf_task_id(ev, CTF_TID, raw);
	}
	if (due & TASK_EXIT) {
		struct ctf_item *it =
			ctf_item_new(tr, CLASS_EXIT, head->time, 0);

		it->kind = REC_EXIT;
		it->cpu = head->cpu;
		it->tid = (int32_t)event.tid;
		it->pid = it->tid == head->tid ? head->pid : -1;
		it->fork.ppid = it->fork.ptid = -1;
	}
}

void ctf_task(struct ctf_trace *tr, const struct ctf_event *ev,
	      const struct ctf_item *head, const struct bytes *raw)
{
	if (tr->n_pending && ev->role != CTF_BUILD_ID)
		ctf_map_flush(tr, head->pid, head->tid);
	if (ev->role >= CTF_IMAGE)
		ctf_map(tr, ev, head, raw);
	else if (ev->role != CTF_PLAIN)
		ctf_task_event(tr, ev, head, raw);
}
