/* export_perfdata.c - a perf.data file, for perf, hotspot, samply.
 *
 * Events are in time order and stacks are complete, so that programs without
 * support for deferred user stacks can read the file. The events are read
 * twice: first to find the event types, then to write them. */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/stacks.h"
#include "cli/export/export.h"
#include "cli/export/perfdata/perfdata.h"
#include "cli/output/folder.h"
#include "cli/output/out.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/owned.h"
#include "stitch/base/search.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* Records of tasks, mappings and losses are written in time order. Call
 * pd_tasks_new(), pd_tasks_seen() for every event to be written,
 * pd_tasks_start(), then before each event pd_tasks_until() and
 * pd_tasks_sample(). */

/* The order of records with equal times: mappings follow an exec. */
enum side_kind {
	SIDE_FORK,
	SIDE_COMM,
	SIDE_MAP,
	SIDE_LOSS,
	SIDE_EXIT,
};

struct side {
	int64_t time;
	uint32_t id; /* index in its table */
	uint8_t kind;
};

struct process {
	int64_t pid, start;
	uint32_t parent; /* process.id */
	uint32_t space;	 /* number of its pid; a reused pid keeps it */
	bool wanted;
};

struct thread {
	int64_t tid, start, end, last;
	uint32_t process; /* process.id; 0: none */
	uint32_t seat;	  /* number of its tid; a reused tid keeps it */
};

struct comm {
	int64_t time;
	const char *name;
	uint32_t thread; /* thread.id; 0: none */
	bool exec;
};

struct loss {
	int64_t time, cpu, n;
	int64_t type;
};

struct pd_tasks {
	struct perfdata *pd;
	struct pd_maps *maps;
	struct process *process; /* by id - 1, as are threads and comms */
	struct thread *thread;
	struct comm *comm;
	struct loss *loss;
	size_t n_process, n_thread, n_comm, n_loss;
	size_t cap_process, cap_thread, cap_comm, cap_loss;
	struct side *side;
	size_t n_side, cap_side, next;
	struct table by_pid, by_tid; /* from pid to space, from tid to seat */
	bool *used_space;
	const char *
		*name; /* by seat: the name that a reader knows; NULL: none */
	const struct thread **life; /* by seat: the last thread with a FORK */
	uint32_t n_space, n_seat;
	struct arena text;
};

/* Returns the number of an id, a new one for a new id. */
static uint32_t pd_tasks_number_of(struct table *t, int64_t id, uint32_t *n)
{
	uint32_t i = table_find_or_add(t, hash_u64((uint64_t)id), *n);

	*n += i == *n;
	return i;
}

/* Reads all threads, after the processes. Returns 0, or -1 and *err. */
static int pd_tasks_read_threads(struct pd_tasks *t, struct err *err)
{
	struct rows *r = rows_dense(t->pd->db, "perfdata_threads", err);

	while (rows_step(r)) {
		struct thread th = { .process = (uint32_t)rows_int(
					     r, PERFDATA_THREADS_PROCESS),
				     .tid = rows_int_or(r, 2, -1),
				     .start = rows_int_or(r, 3, PD_START),
				     .end = rows_int_or(r, 4, PD_START),
				     .last = PD_START };

		if (th.process > t->n_process) {
			rows_unsound(r);
			continue;
		}
		th.seat = pd_tasks_number_of(&t->by_tid, th.tid, &t->n_seat);
		*mem_add(t->thread, t->n_thread, t->cap_thread) = th;
	}
	return rows_end(r, err);
}

/* Reads all names of threads. Returns 0, or -1 and *err. */
static int pd_tasks_read_comms(struct pd_tasks *t, struct err *err)
{
	struct rows *r = rows_dense(t->pd->db, "perfdata_comms", err);

	while (rows_step(r)) {
		struct comm c = {
			.thread = (uint32_t)rows_int(r, PERFDATA_COMMS_THREAD),
			.time = rows_int_or(r, 2, PD_START),
			.exec = rows_int(r, PERFDATA_COMMS_EXEC),
			.name = arena_strdup(&t->text,
					     rows_text(r, PERFDATA_COMMS_NAME))
		};

		if (c.thread <= t->n_thread)
			*mem_add(t->comm, t->n_comm, t->cap_comm) = c;
		else
			rows_unsound(r);
	}
	return rows_end(r, err);
}

/* Takes the lost records that the filter selects, those without a time last.
 * Returns 0, or -1 and *err. */
static int pd_tasks_read_losses(struct pd_tasks *t, const struct filter *filter,
				struct err *err)
{
	struct loss_rows *rows = loss_rows_load(t->pd->db, filter, err);

	for (size_t i = 0; rows && i < rows->n; i++) {
		const struct loss_row *l = &rows->row[i];

		if (!l->counts)
			continue;
		*mem_add(t->loss, t->n_loss, t->cap_loss) = (struct loss){
			.time = l->has_to     ? l->to
				: l->has_from ? l->from
					      : INT64_MAX,
			.cpu = l->cpu,
			.type = l->type,
			.n = l->n > 0 ? l->n : 0,
		};
	}
	loss_rows_free(rows);
	return rows ? 0 : -1;
}

static void pd_tasks_free(struct pd_tasks *t)
{
	if (!t)
		return;
	table_release(&t->by_pid);
	table_release(&t->by_tid);
	arena_release(&t->text);
	free_all(t->process, t->thread, t->comm, t->loss, t->side,
		 t->used_space, t->name, t->life, t);
}

/* Reads tasks, and the losses that the filter selects. Borrows pd and maps;
 * pd_tasks_free() frees the result. Returns NULL and *err on failure. */
static struct pd_tasks *pd_tasks_new(struct perfdata *pd, struct pd_maps *maps,
				     const struct filter *filter,
				     struct err *err)
{
	struct pd_tasks *t = mem_new(1, sizeof(*t));

	t->pd = pd;
	t->maps = maps;
	struct rows *r = rows_dense(t->pd->db, "perfdata_processes", err);

	while (rows_step(r)) {
		struct process p = { .pid = rows_int_or(r, 1, -1),
				     .parent = (uint32_t)rows_int(
					     r, PERFDATA_PROCESSES_PARENT),
				     .start = rows_int_or(r, 3, PD_START) };

		p.space = pd_tasks_number_of(&t->by_pid, p.pid, &t->n_space);
		*mem_add(t->process, t->n_process, t->cap_process) = p;
	}
	if (!rows_end(r, err) && !pd_tasks_read_threads(t, err) &&
	    !pd_tasks_read_comms(t, err) &&
	    !pd_tasks_read_losses(t, filter, err))
		return t;
	pd_tasks_free(t);
	return NULL;
}

static struct process *pd_tasks_process_of(struct pd_tasks *t, uint32_t id)
{
	return id && id <= t->n_process ? &t->process[id - 1] : NULL;
}

static struct thread *pd_tasks_thread_of(struct pd_tasks *t, uint32_t id)
{
	return id && id <= t->n_thread ? &t->thread[id - 1] : NULL;
}

static void pd_tasks_seen(struct pd_tasks *t, const struct event_comm *comm,
			  int64_t time)
{
	struct thread *th = pd_tasks_thread_of(t, comm->thread);
	struct process *p = pd_tasks_process_of(t, comm->process);

	if (th && time > th->last)
		th->last = time;
	if (p)
		p->wanted = true;
}

static void add_side(struct pd_tasks *t, enum side_kind kind, int64_t time,
		     size_t id)
{
	*mem_add(t->side, t->n_side, t->cap_side) =
		(struct side){ time, (uint32_t)id, (uint8_t)kind };
}

COMPARE_BY(pd_tasks_by_time, struct side, time, kind, id);

/* Orders the records to be written; all: also of processes without events. */
static void pd_tasks_start(struct pd_tasks *t, bool all)
{
	for (size_t i = 0; i < t->n_process && all; i++)
		t->process[i].wanted = true;
	for (size_t i = 0; i < t->n_thread; i++) {
		const struct thread *th = &t->thread[i];

		if (th->start != PD_START)
			add_side(t, SIDE_FORK, th->start, i);
		/* A reader forgets the name and mappings of a thread at its
		 * EXIT, which therefore comes after its last sample: the tracer
		 * may have taken this a moment later. */
		if (th->end != PD_START)
			add_side(t, SIDE_EXIT,
				 th->end > th->last ? th->end : th->last, i);
	}
	for (size_t i = 0; i < t->n_comm; i++)
		add_side(t, SIDE_COMM, t->comm[i].time, i);
	for (size_t i = 0; i < t->n_loss; i++)
		add_side(t, SIDE_LOSS, t->loss[i].time, i);
	for (size_t i = 0; i < t->maps->n_row; i++)
		add_side(t, SIDE_MAP, t->maps->row[i].r.t0, i);
	sort_items(t->side, t->n_side, pd_tasks_by_time);
	t->used_space = mem_new((size_t)t->n_space + 1, 1);
	t->name = mem_new((size_t)t->n_seat + 1, sizeof(*t->name));
	t->life = mem_new((size_t)t->n_seat + 1, sizeof(*t->life));
	pd_maps_symbols(t->maps);
}

static void put_task(struct pd_tasks *t, uint32_t type, unsigned int misc,
		     const int64_t id[4], int64_t time)
{
	struct blob *b = perfdata_begin(t->pd, type, misc);

	for (size_t i = 0; i < 4; i++)
		blob_u32(b, (uint32_t)id[i]);
	blob_u64(b, time == PD_START ? 0 : (uint64_t)time);
	perfdata_end(t->pd, &(struct pd_when){ id[0], id[2], time, -1, 0 });
}

static void pd_tasks_put_comm(struct pd_tasks *t, const struct process *p,
			      const struct thread *th, const char *name,
			      bool exec, int64_t time)
{
	struct blob *b =
		perfdata_begin(t->pd, PR_COMM, exec ? PD_COMM_EXEC : 0);

	blob_u32(b, (uint32_t)p->pid);
	blob_u32(b, (uint32_t)th->tid);
	pd_text(b, name, 63, 8);
	perfdata_end(t->pd, &(struct pd_when){ p->pid, th->tid, time, -1, 0 });
	t->name[th->seat] = name;
	t->used_space[p->space] = true;
}

/* Writes the FORK of a new process, which inherits its parent's name and
 * mappings. If that is unknown, a reader only forgets an earlier use of the
 * pid. */
static void new_process(struct pd_tasks *t, const struct process *p,
			const struct thread *th)
{
	const struct process *parent = pd_tasks_process_of(t, p->parent);
	int64_t ppid = parent ? parent->pid : 0;
	int64_t id[4] = { p->pid, ppid, th->tid, ppid };

	if (!parent && !t->used_space[p->space])
		return;
	put_task(t, PR_FORK, parent ? 0 : PD_FORK_EXEC, id, th->start);
	t->name[th->seat] = NULL;
	if (!parent || parent->space == p->space) {
		pd_maps_exec(t->maps, p->space);
		return;
	}
	pd_maps_fork(t->maps, p->space, parent->space);
	uint32_t seat = table_find_hash(&t->by_tid, hash_u64((uint64_t)ppid));
	if (seat != TABLE_NONE)
		t->name[th->seat] = t->name[seat];
}

/* Writes the FORK of a thread whose process is to be written. */
static void do_fork(struct pd_tasks *t, const struct thread *th)
{
	const struct process *p = pd_tasks_process_of(t, th->process);
	int64_t id[4];

	if (!p || !p->wanted || p->pid < 0)
		return;
	t->life[th->seat] = th;
	if (p->pid == th->tid) {
		new_process(t, p, th);
		return;
	}
	id[0] = id[1] = id[3] = p->pid;
	id[2] = th->tid;
	put_task(t, PR_FORK, 0, id, th->start);
	uint32_t seat = table_find_hash(&t->by_tid, hash_u64((uint64_t)p->pid));
	t->name[th->seat] = seat == TABLE_NONE ? NULL : t->name[seat];
}

static bool pd_tasks_same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Writes the COMM of a thread, unless a reader knows the name. */
static void do_comm(struct pd_tasks *t, const struct comm *c)
{
	const struct thread *th = pd_tasks_thread_of(t, c->thread);
	const struct process *p =
		th ? pd_tasks_process_of(t, th->process) : NULL;

	if (!p || !p->wanted || !*c->name)
		return;
	if (!c->exec && pd_tasks_same_name(t->name[th->seat], c->name))
		return;
	if (c->exec)
		pd_maps_exec(t->maps, p->space);
	pd_tasks_put_comm(t, p, th, c->name, c->exec, c->time);
}

static void pd_tasks_put_map(struct pd_tasks *t, uint32_t row, int64_t time)
{
	uint32_t id = t->maps->row[row].process;
	const struct process *p = pd_tasks_process_of(t, id);

	if (id && (!p || !p->wanted || p->pid < 0))
		return;
	if (p)
		t->used_space[p->space] = true;
	pd_maps_row(t->maps, row, p ? p->space : 0, p ? p->pid : -1, time);
}

static void do_loss(struct pd_tasks *t, const struct loss *l)
{
	uint32_t id = perfdata_event(t->pd, l->type)->id;
	struct pd_when when = { -1, -1, l->time, l->cpu, id };
	struct blob *b = perfdata_begin(t->pd, PR_LOST, 0);

	if (l->time == INT64_MAX)
		when.time = t->pd->last;
	blob_u64(b, id ? id : 1);
	blob_u64(b, (uint64_t)l->n);
	perfdata_end(t->pd, &when);
}

static void do_exit(struct pd_tasks *t, const struct thread *th, int64_t time)
{
	const struct process *p = pd_tasks_process_of(t, th->process);
	const struct thread *life = t->life[th->seat];

	/* the tid was reused, which ended this thread */
	if (!p || !p->wanted || (life && life != th))
		return;
	put_task(t, PR_EXIT, 0,
		 (const int64_t[4]){ p->pid, p->pid, th->tid, th->tid }, time);
}

/* Writes the records up to that time; INT64_MAX: the rest. */
static void pd_tasks_until(struct pd_tasks *t, int64_t time)
{
	while (t->next < t->n_side && t->side[t->next].time <= time) {
		const struct side *s = &t->side[t->next++];

		/* after samples of the same time */
		if (s->kind == SIDE_EXIT && s->time == time &&
		    time != INT64_MAX) {
			t->next--;
			return;
		}
		switch ((enum side_kind)s->kind) {
		case SIDE_FORK:
			do_fork(t, &t->thread[s->id]);
			break;
		case SIDE_COMM:
			do_comm(t, &t->comm[s->id]);
			break;
		case SIDE_MAP:
			pd_tasks_put_map(t, s->id, s->time);
			break;
		case SIDE_LOSS:
			do_loss(t, &t->loss[s->id]);
			break;
		case SIDE_EXIT:
			do_exit(t, &t->thread[s->id], s->time);
			break;
		}
	}
}

/* Writes the name of a sample's thread unless a reader knows it; the name is
 * borrowed. Fills *who. */
static void pd_tasks_sample(struct pd_tasks *t, const struct event_comm *comm,
			    int64_t time, struct pd_who *who)
{
	const struct thread *th = pd_tasks_thread_of(t, comm->thread);
	const struct process *p = pd_tasks_process_of(t, comm->process);

	*who = (struct pd_who){ .process = p ? comm->process : 0,
				.pid = comm->pid,
				.tid = comm->pid < 0 ? comm->tid : comm->pid,
				.time = time,
				.user_mask = UINT64_MAX };
	/* perf has a space for each thread without a known process */
	who->space =
		comm->pid >= 0 && p
			? p->space
			: pd_tasks_number_of(&t->by_pid,
					     (int64_t)(~(uint64_t)who->tid - 1),
					     &t->n_space);
	if (th && p && *comm->name &&
	    !pd_tasks_same_name(t->name[th->seat], comm->name))
		pd_tasks_put_comm(t, p, th, comm->name, false, time);
}

#define TYPE_TRACEPOINT 2u
#define ID_MAX 65535u /* common_type is a u16 */
#define PAGE 4096u

/* Payloads of tracepoints, and the formats of their fields, which perf needs
 * before the records. */
struct pd_trace {
	struct perfdata *pd;
	struct payloads *payloads;
	struct table by_id; /* from ids in the file to indexes in pd->event */
	uint32_t free_id;
	const struct pd_capture *machine; /* whose byte order payloads have */
	unsigned char none[16];
};

/* Returns whether the file has events of a type as tracepoints. A file can hold
 * tracepoints of one kind of machine only. */
static bool is_tracepoint(struct pd_trace *t, const struct pd_event *e)
{
	if (!e->n || !e->sample || !e->format || !e->payload ||
	    e->type != TYPE_TRACEPOINT || !e->capture ||
	    e->capture > t->pd->n_capture)
		return false;
	const struct pd_capture *c = &t->pd->capture[e->capture - 1];
	if (!t->machine)
		t->machine = c;
	return t->machine->big_endian == c->big_endian &&
	       t->machine->long32 == c->long32;
}

static uint32_t pd_trace_find_id(const struct pd_trace *t, uint64_t id)
{
	return table_find_hash(&t->by_id, hash_u64(id));
}

/* Sets the id of tracepoint i in the file: the kernel's, unless an event of
 * another kernel has it, or the tracer numbers its events from 0. */
static void take_id(struct pd_trace *t, size_t i)
{
	struct pd_event *e = &t->pd->event[i];
	uint32_t is = e->config <= ID_MAX ? pd_trace_find_id(t, e->config)
					  : TABLE_NONE;

	if (is != TABLE_NONE && !strcmp(e->name, t->pd->event[is].name) &&
	    !strcmp(e->format, t->pd->event[is].format))
		return;
	if (!e->config || e->config > ID_MAX || is != TABLE_NONE) {
		while (pd_trace_find_id(t, t->free_id) != TABLE_NONE)
			t->free_id--;
		e->config = t->free_id;
	}
	table_add(&t->by_id, hash_u64(e->config), (uint32_t)i);
}

static void pd_trace_put_number(const struct pd_trace *t, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		blob_u8(&t->pd->tracing,
			(uint8_t)(v >> 8 * (t->machine->big_endian ? n - 1 - i
								   : i)));
}

static void pd_trace_put_section(const struct pd_trace *t, const char *name,
				 const char *text)
{
	pd_text(&t->pd->tracing, name, PD_NAME_MAX, 1);
	pd_trace_put_number(t, strlen(text), 8);
	blob_add(&t->pd->tracing, text, strlen(text));
}

/* Fills pd->tracing: the section with the formats of all tracepoints. */
static void pd_trace_put_formats(const struct pd_trace *t)
{
	struct blob *b = &t->pd->tracing;
	uint32_t n = 0;

	for (size_t i = 0; i < t->pd->n_event; i++)
		n += t->pd->event[i].raw &&
		     pd_trace_find_id(t, t->pd->event[i].config) == i;

	unsigned int size = t->machine->long32 ? 4 : 8;
	char page[512];

	blob_add(b, "\x17\x08\x44tracing", 10);
	pd_text(b, "0.5", 8, 1);
	blob_u8(b, t->machine->big_endian);
	blob_u8(b, (uint8_t)size);
	pd_trace_put_number(t, PAGE, 4);
	snprintf(page, sizeof(page),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		 size, 8 + size, PAGE - 8 - size);
	pd_trace_put_section(t, "header_page", page);
	pd_trace_put_section(t, "header_event", "");
	pd_trace_put_number(t, 0, 4); /* formats of ftrace events */
	pd_trace_put_number(t, n, 4);
	for (size_t i = 0; i < t->pd->n_event; i++) {
		const struct pd_event *e = &t->pd->event[i];
		char system[64];
		const char *name;

		if (!e->raw || pd_trace_find_id(t, e->config) != i)
			continue;
		/* Split "sched:sched_switch", "INSTANCE/sched:sched_switch" or
		 * "sched_switch". */
		const char *from = path_base(e->name);
		const char *colon = strchr(from, ':');

		snprintf(system, 64, "%.*s", colon ? (int)(colon - from) : 6,
			 colon ? from : "events");
		name = colon ? colon + 1 : from;
		char *text OWNED = payloads_perf_format(
			t->payloads, (int64_t)i + 1, name, (uint32_t)e->config);
		pd_text(b, system, sizeof(system), 1);
		pd_trace_put_number(t, 1, 4);
		pd_trace_put_number(t, text ? strlen(text) : 0, 8);
		blob_add(b, text ? text : "", text ? strlen(text) : 0);
	}
	pd_trace_put_number(t, 0, 4); /* kallsyms */
	pd_trace_put_number(t, 0, 4); /* printk_formats */
}

/* Marks the event types of pd that are tracepoints. Call it before
 * perfdata_open(). Returns NULL and *err on failure. */
static struct pd_trace *pd_trace_new(struct perfdata *pd, struct err *err)
{
	struct pd_trace *t = mem_new(1, sizeof(*t));

	t->pd = pd;
	t->free_id = ID_MAX;
	t->payloads = payloads_open(pd->db, err);
	if (!t->payloads) {
		free(t);
		return NULL;
	}
	for (size_t i = 0; i < pd->n_event; i++) {
		if (!is_tracepoint(t, &pd->event[i]))
			continue;
		/* can its format be made for perf at all? */
		char *text OWNED = payloads_perf_format(
			t->payloads, (int64_t)i + 1, "name", 1);
		if (text && *text) {
			pd->event[i].raw = true;
			take_id(t, i);
		}
	}
	if (t->machine)
		pd_trace_put_formats(t);
	return t;
}

/* Stores the payload of an event, valid until the next call. Call it for all
 * events in their order. Returns 0, or -1 and *err. */
static int pd_trace_get(struct pd_trace *t, const struct event_row *e,
			int64_t tid, const void **data, size_t *len,
			struct err *err)
{
	const struct pd_event *type = perfdata_event(t->pd, e->type);
	const struct payload_of of = { (uint32_t)type->config, (uint32_t)tid };
	int rc = payloads_perf(t->payloads, e, &of, data, len, err);

	/* a payload with only a type, as perf crashes without one */
	if (!rc) {
		bool big = t->machine->big_endian;

		t->none[big] = (unsigned char)of.id;
		t->none[!big] = (unsigned char)(of.id >> 8);
		*data = t->none;
		*len = sizeof(t->none);
	}
	return rc < 0 ? -1 : 0;
}

struct job {
	const struct export_request *x;
	struct perfdata *pd;
	struct pd_places *places;
	struct pd_maps *maps;
	struct pd_tasks *tasks;
	struct pd_trace *trace;
	struct row_cursor switches; /* what events lack about switches */
	uint64_t *ip; /* addresses of the current sample, with contexts */
	size_t n, cap;
};

/* Larger numbers of CPUs, from a damaged database, are ignored. */
#define CPUS_MAX 65536
/* The maximal size of a sample without its callchain and payload. */
#define SAMPLE_BYTES 128u

/* Counts the events of each type, and finds the range of times, the largest CPU
 * and the threads. Returns 0, or -1 and *err. */
static int survey_events(struct job *j, struct err *err)
{
	struct events *ev =
		events_open(j->x->db, j->x->filter, EVENTS_ALL, err);
	struct perfdata *pd = j->pd;
	struct event_row e;
	int rc = ev ? 1 : -1;

	while (rc > 0 && (rc = events_next(ev, &e, err)) > 0) {
		if (e.type >= 1 && (uint64_t)e.type <= pd->n_event)
			pd->event[e.type - 1].n++;
		if (e.timed && (!pd->timed || e.time < pd->first))
			pd->first = e.time;
		if (e.timed && (!pd->timed || e.time > pd->last))
			pd->last = e.time;
		pd->timed |= e.timed;
		pd->on_cpu |= e.on_cpu;
		if (e.on_cpu && e.cpu > pd->max_cpu && e.cpu < CPUS_MAX)
			pd->max_cpu = e.cpu;
		pd_tasks_seen(j->tasks, events_comm(ev, e.comm),
			      e.timed ? e.time : PD_START);
	}
	events_close(ev);
	return rc;
}

static void add_ip(struct job *j, uint64_t ip)
{
	*mem_add(j->ip, j->n, j->cap) = ip;
}

static void add_context_mark(struct job *j, const char *word,
			     const struct pd_who *who)
{
	uint64_t addr = pd_places_mark(j->places, word);

	if (!addr)
		return;
	pd_maps_mark(j->maps, addr, who);
	add_ip(j, addr);
}

static void add_half(struct job *j, int64_t raw, uint64_t user_mask)
{
	size_t n;
	const uint64_t *ip =
		pd_places_chain(j->places, (uint32_t)raw, user_mask, &n);

	for (size_t i = 0; i < n; i++)
		add_ip(j, ip[i]);
}

/* Writes a sample with both halves of its stack. Returns 0, or -1 and *err. */
static int export_perfdata_put_sample(struct job *j, const struct event_row *e,
				      const struct pd_who *who,
				      const struct pd_when *when,
				      struct err *err)
{
	const struct pd_event *type = perfdata_event(j->pd, e->type);
	struct blob *b = &j->pd->buf;
	const void *raw = NULL; /* gcc with LTO does not see that it is set */
	size_t len = 0;

	if (type->raw && pd_trace_get(j->trace, e, when->tid, &raw, &len, err))
		return -1;
	size_t max = (PD_RECORD_MAX - SAMPLE_BYTES - len) / 8;
	uint64_t ip = (uint64_t)e->ip;

	j->n = 0;
	if (e->kraw) {
		add_ip(j, PD_CONTEXT_KERNEL);
		add_half(j, e->kraw, UINT64_MAX);
	}
	/* Add the user half, or a word for it if it is missing or of another
	 * program. */
	const char *missing = stacks_missing(e->verdict, e->uraw);
	unsigned int end = code_chain_at(j->pd->code, e->uraw)->ended;
	if (missing || e->uraw) {
		add_ip(j, PD_CONTEXT_USER);
		if (missing) {
			add_context_mark(j, missing, who);
		} else if (e->flags & VERDICT_EXEC) {
			add_context_mark(j, "after exec", who);
		} else {
			pd_maps_chain(j->maps, (uint32_t)e->uraw, who);
			add_half(j, e->uraw, who->user_mask);
			/* why unwinding by tables ended before the outermost
			 * frame; a stack that was recorded has no such word */
			if (end != UNWIND_OUTERMOST && unwind_end_name(end))
				add_context_mark(j, unwind_end_name(end), who);
		}
	}
	if (!ip && j->n > 1)
		ip = j->ip[1];
	if (j->n > max) {
		j->n = max - 1;
		add_context_mark(j, "cut", who);
	}
	perfdata_sample(j->pd, e->kraw ? PM_KERNEL : PM_USER, ip,
			j->x->samples ? 1 : (uint64_t)e->weight, when);
	if (type->chain) {
		blob_u64(b, j->n);
		for (size_t i = 0; i < j->n; i++)
			blob_u64(b, j->ip[i]);
	}
	if (type->raw) {
		/* The size of raw data includes zeros up to a multiple of 8
		 * bytes. */
		size_t all = (4 + len + 7) / 8 * 8 - 4;

		blob_u32(b, (uint32_t)all);
		blob_add(b, raw, len);
		for (; len < all; len++)
			blob_u8(b, 0);
	}
	perfdata_end_sample(j->pd);
	return 0;
}

/* Opens the rows that say more about switches than events do, if there are any
 * switches. Returns 0, or -1 and *err. */
static int open_switches(struct job *j, struct err *err)
{
	struct perfdata *pd = j->pd;

	for (size_t i = 0; i < pd->n_event; i++)
		pd->switches |= pd->event[i].n && !pd->event[i].sample &&
				!strcmp(pd->event[i].name, "switch");
	return pd->switches ? row_cursor_open(&j->switches, pd->db,
					      store_sql("switch_records"), err)
			    : 0;
}

static void pd_put_throttle(struct job *j, uint32_t type,
			    const struct pd_when *when)
{
	struct blob *b = perfdata_begin(j->pd, type, 0);

	blob_u64(b, when->time < 0 ? 0 : (uint64_t)when->time);
	blob_u64(b, 1); /* the ids of the event and its stream are not known */
	blob_u64(b, 1);
	perfdata_end(j->pd, when);
}

/* Writes the record of an event if it is a switch or throttling. Call it in the
 * order of events. Returns 0, or -1 and *err. */
static int pd_put_other(struct job *j, const struct event_row *e,
			const struct pd_when *when, struct err *err)
{
	const struct pd_event *type = perfdata_event(j->pd, e->type);

	if (type->sample)
		return 0;
	if (!strcmp(type->name, "switch")) {
		/* a session over all threads also records the other one */
		const struct rows *r = j->switches.rows;
		unsigned int misc = 0;
		int64_t pid = -1;
		int64_t tid = -1;
		int rc = row_cursor_seek(&j->switches, e->id, err);

		if (rc < 0)
			return -1;
		if (rc > 0) {
			misc = (rows_int(r, SWITCH_RECORDS_AWAY) ? PD_SWITCH_OUT
								 : 0) |
			       (rows_int(r, SWITCH_RECORDS_PREEMPT)
					? PD_SWITCH_PREEMPT
					: 0);
			pid = rows_int(r, SWITCH_RECORDS_OTHER_PID);
			tid = rows_int(r, SWITCH_RECORDS_OTHER_TID);
		}
		bool wide = pid >= 0 || tid >= 0;
		struct blob *b = perfdata_begin(
			j->pd, wide ? PR_SWITCH_CPU_WIDE : PR_SWITCH, misc);

		if (wide) {
			blob_u32(b, (uint32_t)pid);
			blob_u32(b, (uint32_t)tid);
		}
		perfdata_end(j->pd, when);
		return 0;
	}
	if (!strcmp(type->name, "throttle"))
		pd_put_throttle(j, PR_THROTTLE, when);
	else if (!strcmp(type->name, "unthrottle"))
		pd_put_throttle(j, PR_UNTHROTTLE, when);
	return 0;
}

/* Writes the file; out is seekable. Returns 0, or -1 and *err. */
static int export_perfdata_put_file(struct job *j, FILE *out, struct err *err)
{
	if (perfdata_open(j->pd, out, err))
		return -1;
	pd_tasks_start(j->tasks, !filter_given(j->x->filter));
	struct events *ev =
		events_open(j->x->db, j->x->filter, EVENTS_ALL, err);
	struct event_row e;
	int rc = ev ? 1 : -1;

	while (rc > 0 && !out_failed() && (rc = events_next(ev, &e, err)) > 0) {
		const struct event_comm *comm = events_comm(ev, e.comm);
		const struct pd_event *type = perfdata_event(j->pd, e.type);
		int64_t time = e.timed ? e.time : PD_START;
		struct pd_when when = { comm->pid, comm->tid, time,
					e.on_cpu ? e.cpu : -1, type->id };
		struct pd_who who;

		pd_tasks_until(j->tasks, time);
		pd_tasks_sample(j->tasks, comm, time, &who);
		if (type->capture && type->capture <= j->pd->n_capture)
			who.user_mask =
				j->pd->capture[type->capture - 1].user_mask;
		if (type->id ? export_perfdata_put_sample(j, &e, &who, &when,
							  err)
			     : pd_put_other(j, &e, &when, err))
			rc = -1;
	}
	if (!rc)
		pd_tasks_until(j->tasks, INT64_MAX);
	/* ev owns the names that j->tasks borrows */
	events_close(ev);
	return rc < 0 ? -1 : perfdata_finish(j->pd, err);
}

/* Copies the file to the output. Returns 0, also after out_failed(), or -1. */
static int copy_spool(FILE *from, FILE *to, struct err *err)
{
	char block[1 << 16];
	size_t n;

	rewind(from);
	while ((n = fread(block, 1, sizeof(block), from)) > 0)
		if (fwrite(block, 1, n, to) != n)
			return out_failed() ? 0
					    : err_set(err, ERR_IO,
						      "cannot write: %s",
						      strerror(errno));
	return ferror(from) ? err_set(err, ERR_IO, "cannot read back: %s",
				      strerror(errno))
			    : 0;
}

/* Writes the file to a pipe, from a temporary one: the header comes first and
 * is known last. Returns 0, or -1 and *err. */
static int put_spooled(struct job *j, FILE *out, struct err *err)
{
	const char *dir = folder_for_temp();
	int fd = temp_open(dir);
	FILE *spool OWNED_FILE = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!spool) {
		if (fd >= 0)
			close(fd);
		return err_set(err, ERR_IO,
			       "no temporary file in '%s': %s; set TMPDIR", dir,
			       strerror(errno));
	}
	int rc = export_perfdata_put_file(j, spool, err);
	if (!rc)
		rc = copy_spool(spool, out, err);
	return rc;
}

static int write_perfdata(FILE *out, const struct export_request *x,
			  struct err *err)
{
	struct known_code *code = code_load(x->db, CODE_ALL, err);
	struct job j = { .x = x };
	int rc = -1;

	if (!code)
		return -1;
	j.places = pd_places_new(code);
	j.pd = perfdata_new(x->db, code, err);
	if (j.pd) {
		j.pd->selected = filter_leaves_out_tasks(x->filter);
		j.maps = pd_maps_new(j.pd, j.places, err);
	}
	if (j.maps)
		j.tasks = pd_tasks_new(j.pd, j.maps, x->filter, err);
	if (j.tasks && !survey_events(&j, err))
		j.trace = pd_trace_new(j.pd, err);
	if (j.trace && !open_switches(&j, err))
		rc = fseeko(out, 0, SEEK_CUR)
			     ? put_spooled(&j, out, err)
			     : export_perfdata_put_file(&j, out, err);
	row_cursor_close(&j.switches);
	if (j.trace) {
		payloads_close(j.trace->payloads);
		table_release(&j.trace->by_id);
		free(j.trace);
	}
	pd_tasks_free(j.tasks);
	pd_maps_free(j.maps);
	perfdata_free(j.pd);
	pd_places_free(j.places);
	code_free(code);
	free(j.ip);
	return rc;
}

const struct exporter export_perfdata = {
	.summary = "a perf.data file in time order with whole stacks, for "
		   "perf 5.0 and later, hotspot and samply",
	.binary = true,
	.refused = "--no-inline --interpreter",
	.write = write_perfdata,
};
