/* perfdata_tasks.c - records of tasks, mappings and losses of a perf.data file.
 */
#include "cli/export/perfdata/perfdata_tasks.h"

#include "analyze/samples/events.h"
#include "cli/export/perfdata/perfdata.h"
#include "cli/export/perfdata/perfdata_maps.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

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
	uint32_t space;	 /* shared by all uses of a process id */
	bool wanted;
};

struct thread {
	int64_t tid, start, end, last;
	uint32_t process; /* process.id; 0: none */
	uint32_t seat;	  /* shared by all uses of a thread id */
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
	struct process *process; /* by id - 1, and so on */
	struct thread *thread;
	struct comm *comm;
	struct loss *loss;
	size_t n_process, n_thread, n_comm, n_loss;
	size_t cap_process, cap_thread, cap_comm, cap_loss;
	struct side *side;
	size_t n_side, cap_side, next;
	struct table by_pid, by_tid; /* to spaces, seats */
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

static int pd_tasks_read_losses(struct pd_tasks *t, struct err *err)
{
	struct rows *r = rows_of(t->pd->db, "perfdata_losses", err);

	while (rows_step(r)) {
		struct loss l = {
			.time = rows_int_or(r, PERFDATA_LOSSES_TIME_NS,
					    INT64_MAX),
			.cpu = rows_int_or(r, PERFDATA_LOSSES_CPU, -1),
			.type = rows_int(r, PERFDATA_LOSSES_TYPE),
			.n = rows_int(r, PERFDATA_LOSSES_N)
		};

		*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	}
	return rows_end(r, err);
}

struct pd_tasks *pd_tasks_new(struct perfdata *pd, struct pd_maps *maps,
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
	    !pd_tasks_read_comms(t, err) && !pd_tasks_read_losses(t, err))
		return t;
	pd_tasks_free(t);
	return NULL;
}

void pd_tasks_free(struct pd_tasks *t)
{
	if (!t)
		return;
	table_release(&t->by_pid);
	table_release(&t->by_tid);
	arena_release(&t->text);
	free_all(t->process, t->thread, t->comm, t->loss, t->side,
		 t->used_space, t->name, t->life, t);
}

static struct process *pd_tasks_process_of(struct pd_tasks *t, uint32_t id)
{
	return id && id <= t->n_process ? &t->process[id - 1] : NULL;
}

static struct thread *pd_tasks_thread_of(struct pd_tasks *t, uint32_t id)
{
	return id && id <= t->n_thread ? &t->thread[id - 1] : NULL;
}

void pd_tasks_seen(struct pd_tasks *t, const struct event_comm *comm,
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

void pd_tasks_start(struct pd_tasks *t, bool all)
{
	for (size_t i = 0; i < t->n_process && all; i++)
		t->process[i].wanted = true;
	for (size_t i = 0; i < t->n_thread; i++) {
		const struct thread *th = &t->thread[i];

		if (th->start != PD_START)
			add_side(t, SIDE_FORK, th->start, i);
		/* A reader forgets the name and mappings of a thread at its
		 * EXIT, which therefore comes after its last sample; the tracer
		 * may have taken that a moment later. */
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

/* A new process inherits its parent's name and mappings. If the parent is not
 * known, a reader only forgets an earlier use of the pid. */
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

void pd_tasks_until(struct pd_tasks *t, int64_t time)
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

void pd_tasks_sample(struct pd_tasks *t, const struct event_comm *comm,
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
