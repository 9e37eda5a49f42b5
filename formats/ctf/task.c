/* task.c - what events say of threads: names, forks, exits, and the state
 * of processes when recording began.
 *
 * LTTng's kernel events have a tid where ftrace's have a pid. A name becomes a
 * record only when it is another one than the last that was said. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"

static int field_at(const struct ctf_event *ev, const char *name)
{
	for (size_t i = 0; i < ev->fmt.n; i++)
		if (!strcmp(ev->fmt.def[i].name, name))
			return (int)i;
	return -1;
}

struct role_row {
	const char *name; /* a '*' at its end: of all that begin so */
	enum ctf_role role;
	const char *part[CTF_PARTS];
};

static const struct role_row rows[] = {
	{ "sched_switch",
	  CTF_SWITCH,
	  { [CTF_TID] = "prev_tid",
	    [CTF_COMM] = "prev_comm",
	    [CTF_TID2] = "next_tid",
	    [CTF_COMM2] = "next_comm",
	    [CTF_STATE_OF] = "prev_state" } },
	{ "sched_wakeup",
	  CTF_WAKEUP,
	  { [CTF_TID] = "tid", [CTF_COMM] = "comm" } },
	{ "sched_wakeup_new",
	  CTF_WAKEUP_NEW,
	  { [CTF_TID] = "tid", [CTF_COMM] = "comm" } },
	{ "sched_process_fork",
	  CTF_FORK,
	  { [CTF_TID] = "parent_tid",
	    [CTF_COMM] = "parent_comm",
	    [CTF_TID2] = "child_tid",
	    [CTF_COMM2] = "child_comm",
	    [CTF_PID] = "parent_pid",
	    [CTF_PID2] = "child_pid" } },
	{ "sched_process_exec",
	  CTF_EXEC,
	  { [CTF_TID] = "tid", [CTF_PATH] = "filename" } },
	{ "sched_process_exit",
	  CTF_EXIT,
	  { [CTF_TID] = "tid", [CTF_COMM] = "comm" } },
	{ "sched_*", CTF_NAMED, { [CTF_TID] = "tid", [CTF_COMM] = "comm" } },
	{ "lttng_statedump_process_state",
	  CTF_STATE,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "name" } },
	{ "lttng_ust_statedump:bin_info",
	  CTF_IMAGE,
	  { [CTF_BASE] = "baddr",
	    [CTF_SIZE] = "memsz",
	    [CTF_PATH] = "path",
	    [CTF_HAS_ID] = "has_build_id" } },
	{ "lttng_ust_dl:dl*open",
	  CTF_OPEN,
	  { [CTF_BASE] = "baddr",
	    [CTF_SIZE] = "memsz",
	    [CTF_PATH] = "path",
	    [CTF_HAS_ID] = "has_build_id" } },
	{ "lttng_ust_lib:load",
	  CTF_LOAD,
	  { [CTF_BASE] = "baddr",
	    [CTF_SIZE] = "memsz",
	    [CTF_PATH] = "path",
	    [CTF_HAS_ID] = "has_build_id" } },
	{ "lttng_ust_statedump:build_id",
	  CTF_BUILD_ID,
	  { [CTF_BASE] = "baddr", [CTF_PATH] = "build_id" } },
	{ "lttng_ust_dl:build_id",
	  CTF_BUILD_ID,
	  { [CTF_BASE] = "baddr", [CTF_PATH] = "build_id" } },
	{ "lttng_ust_lib:build_id",
	  CTF_BUILD_ID,
	  { [CTF_BASE] = "baddr", [CTF_PATH] = "build_id" } },
	{ "lttng_ust_dl:dlclose", CTF_CLOSE, { [CTF_BASE] = "baddr" } },
	{ "lttng_ust_lib:unload", CTF_UNLOAD, { [CTF_BASE] = "baddr" } },
	{ "perf_comm",
	  CTF_PERF_COMM,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "comm" } },
	{ "perf_fork",
	  CTF_PERF_FORK,
	  { [CTF_TID] = "ptid",
	    [CTF_PID] = "ppid",
	    [CTF_TID2] = "tid",
	    [CTF_PID2] = "pid" } },
	{ "perf_exit", CTF_PERF_EXIT, { [CTF_TID] = "tid" } },
};

/* One '*', for anything. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t n = strlen(name);

	if (!star)
		return !strcmp(pattern, name);
	size_t before = (size_t)(star - pattern);
	size_t behind = strlen(star + 1);

	return n >= before + behind && !memcmp(name, pattern, before) &&
	       !strcmp(name + n - behind, star + 1);
}

void ctf_role_find(struct ctf_event *ev)
{
	for (int i = 0; i < CTF_PARTS; i++)
		ev->part[i] = -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!matches(rows[i].name, ev->fmt.name))
			continue;
		ev->role = rows[i].role;
		for (int k = 0; k < CTF_PARTS; k++)
			if (rows[i].part[k])
				ev->part[k] = field_at(ev, rows[i].part[k]);
		return;
	}
}

int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise)
{
	int at = ev->part[part];
	int64_t v;

	if (at < 0 || !tp_number(raw, &ev->fmt.field[at], &v))
		return otherwise;
	return v;
}

const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw)
{
	int at = ev->part[part];
	struct field f = { 0 };

	if (at < 0)
		return NULL;
	if (ctf->look.scratch.used)
		arena_release(&ctf->look.scratch);
	tp_take(&ctf->look, raw, &ev->fmt.field[at], &f);
	return f.present ? f.text : NULL;
}

/* ---- names */

static struct ctf_item *name_item(struct ctf_trace *tr, uint64_t time,
				  const char *name, size_t n)
{
	struct ctf_item *it = ctf_item_new(tr, CLASS_COMM, time, n + 1);

	it->kind = REC_COMM;
	it->raw_len = (uint32_t)n + 1;
	memcpy(ctf_item_raw(it), name, n);
	ctf_item_raw(it)[n] = 0;
	return it;
}

void ctf_task_name(struct ctf_trace *tr, uint64_t time, int32_t pid,
		   int32_t tid, const char *name, bool synth)
{
	size_t n = strnlen(name, COMM_LEN + 1);

	if (!known_rename(&tr->known, tid, name, n, true))
		return;
	struct ctf_item *it = name_item(tr, time, name, n);

	it->pid = pid;
	it->tid = tid;
	it->flags = synth ? REC_F_SYNTH : 0;
}

static int32_t id_of(const struct ctf_event *ev, enum ctf_part_of part,
		     const struct bytes *raw)
{
	int64_t v = ctf_number(ev, part, raw, -1);

	return v < 0 || v > INT32_MAX ? -1 : (int32_t)v;
}

/* The name in a field, of the thread in another. */
static void field_name(struct ctf_trace *tr, const struct ctf_event *ev,
		       const struct ctf_item *head, enum ctf_part_of tid,
		       enum ctf_part_of comm, const struct bytes *raw)
{
	const char *name = ctf_text(tr->ctf, ev, comm, raw);
	int32_t id = id_of(ev, tid, raw);

	if (name && id >= 0)
		ctf_task_name(tr, head->time, id_of(ev, CTF_PID, raw), id, name,
			      ev->role == CTF_STATE);
}

/* ---- lives */

static void fork_item(struct ctf_trace *tr, const struct ctf_event *ev,
		      const struct ctf_item *head, const struct bytes *raw)
{
	int32_t child = id_of(ev, CTF_TID2, raw);

	if (child <= 0)
		return;
	struct ctf_item *it = ctf_item_new(tr, CLASS_FORK, head->time, 0);

	it->kind = REC_FORK;
	it->cpu = head->cpu;
	it->tid = child;
	it->pid = id_of(ev, CTF_PID2, raw);
	it->fork.ppid = id_of(ev, CTF_PID, raw);
	it->fork.ptid = id_of(ev, CTF_TID, raw);
	known_unname(&tr->known, child);
}

static void exit_item(struct ctf_trace *tr, const struct ctf_event *ev,
		      const struct ctf_item *head, const struct bytes *raw)
{
	struct ctf_item *it = ctf_item_new(tr, CLASS_EXIT, head->time, 0);

	it->kind = REC_EXIT;
	it->cpu = head->cpu;
	it->tid = id_of(ev, CTF_TID, raw);
	it->pid = it->tid == head->tid ? head->pid : -1;
	it->fork.ppid = it->fork.ptid = -1;
}

/* Also by the same name it is another program. */
static void exec_item(struct ctf_trace *tr, const struct ctf_event *ev,
		      const struct ctf_item *head, const struct bytes *raw)
{
	const char *path = ctf_text(tr->ctf, ev, CTF_PATH, raw);
	int32_t tid = id_of(ev, CTF_TID, raw);

	if (!path || tid <= 0)
		return;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strnlen(name, COMM_LEN);

	known_rename(&tr->known, tid, name, n, true);
	struct ctf_item *it = name_item(tr, head->time, name, n);

	/* whoever called it: it has the process' id now */
	it->pid = it->tid = tid;
	it->cpu = head->cpu;
	it->flags = REC_F_EXEC;
}

static void perf_comm(struct ctf_trace *tr, const struct ctf_event *ev,
		      const struct ctf_item *head, const struct bytes *raw)
{
	field_name(tr, ev, head, CTF_TID, CTF_COMM, raw);
}

void ctf_task(struct ctf_trace *tr, const struct ctf_event *ev,
	      const struct ctf_item *head, const struct bytes *raw)
{
	if (tr->n_pending && ev->role != CTF_BUILD_ID)
		ctf_map_flush(tr, head->pid, head->tid);
	switch (ev->role) {
	case CTF_SWITCH:
		field_name(tr, ev, head, CTF_TID2, CTF_COMM2, raw);
		field_name(tr, ev, head, CTF_TID, CTF_COMM, raw);
		break;
	case CTF_WAKEUP:
	case CTF_WAKEUP_NEW:
	case CTF_NAMED:
	case CTF_STATE:
		field_name(tr, ev, head, CTF_TID, CTF_COMM, raw);
		break;
	case CTF_FORK:
		field_name(tr, ev, head, CTF_TID, CTF_COMM, raw);
		fork_item(tr, ev, head, raw);
		break;
	case CTF_EXEC:
		exec_item(tr, ev, head, raw);
		break;
	case CTF_EXIT:
	case CTF_PERF_EXIT:
		field_name(tr, ev, head, CTF_TID, CTF_COMM, raw);
		exit_item(tr, ev, head, raw);
		break;
	case CTF_PERF_COMM:
		perf_comm(tr, ev, head, raw);
		break;
	case CTF_PERF_FORK:
		fork_item(tr, ev, head, raw);
		break;
	case CTF_IMAGE:
	case CTF_OPEN:
	case CTF_LOAD:
	case CTF_BUILD_ID:
	case CTF_CLOSE:
	case CTF_UNLOAD:
		ctf_map(tr, ev, head, raw);
		break;
	default:
		break;
	}
}
