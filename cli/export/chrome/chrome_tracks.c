/* chrome_tracks.c - threads and CPUs as the tracks of a Chrome trace. */
#include "cli/export/chrome/chrome_tracks.h"

#include <inttypes.h>

#include "cli/export/chrome/chrome_state.h"
#include "cli/samples/events.h"
#include "cli/samples/filter.h"
#include "cli/output/json.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* PID_MAX_LIMIT is 1 << 22 on every kernel. */
#define CPUS_PID ((1u << 22) + 1)
#define CPU_MAX (1 << 16)
/* Distance between the pids of two kernels. */
#define APART (1u << 23)
/* ---- loading */

static uint32_t kernel_of(struct tracks *t, uint32_t capture)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		if (t->kernel[i] == capture)
			return (uint32_t)i;
	if (t->n_kernel == KERNELS_MAX)
		return KERNELS_MAX - 1;
	t->kernel[t->n_kernel] = capture;
	return (uint32_t)t->n_kernel++;
}

static int tracks_read_captures(struct tracks *t, struct store *db,
				struct err *err)
{
	struct rows *r = rows_dense(db, "track_captures", err);

	while (rows_step(r)) {
		size_t id = (size_t)rows_int(r, TRACK_CAPTURES_ID);
		uint32_t at = kernel_of(
			t, (uint32_t)rows_int(r, TRACK_CAPTURES_TOGETHER));
		*mem_at(t->of_capture, t->n_capture, t->cap_capture, id) = at;
	}
	return rows_end(r, err);
}

uint32_t tracks_find_tid(const struct tracks *t, int64_t tid)
{
	uint32_t id = table_find_hash(&t->by_tid, hash_u64((uint64_t)tid));

	return id == TABLE_NONE ? 0 : id;
}

void tracks_put(struct tracks *t, uint32_t id, const struct track *k)
{
	uint64_t hash = hash_u64((uint64_t)k->tid);

	*mem_at(t->track, t->n_track, t->cap_track, id) = *k;
	t->track[id].same = tracks_find_tid(t, k->tid);
	if (t->track[id].same)
		table_remove(&t->by_tid, hash, t->track[id].same);
	table_add(&t->by_tid, hash, id);
}

static int tracks_read_threads(struct tracks *t, struct store *db,
			       struct err *err)
{
	struct rows *r = rows_dense(db, "track_threads", err);

	while (rows_step(r)) {
		uint32_t together =
			(uint32_t)rows_int(r, TRACK_THREADS_TOGETHER);
		const struct track k = {
			.pid = rows_int(r, TRACK_THREADS_PID),
			.tid = rows_int(r, TRACK_THREADS_TID),
			.process = (uint32_t)rows_int(r, TRACK_THREADS_PROCESS),
			.from = rows_int_or(r, TRACK_THREADS_START_NS,
					    INT64_MIN),
			.to = rows_int_or(r, TRACK_THREADS_END_NS, INT64_MAX),
			.kernel = kernel_of(t, together),
			.wanted = true,
		};

		tracks_put(t, (uint32_t)rows_int(r, TRACK_THREADS_ID), &k);
	}
	return rows_end(r, err);
}

/* Names each process after its first thread, or else after any other. */
static void tracks_load_names(struct tracks *t)
{
	for (size_t i = 1; i <= events_comms(t->events); i++) {
		const struct event_comm *c = events_comm(t->events, (int64_t)i);
		bool first = c->pid == c->tid;

		if (c->thread && c->thread < t->n_track)
			t->track[c->thread].comm = (uint32_t)i;
		/* the process has a thread with a name */
		if (!c->process || c->process > events_comms(t->events))
			continue;
		mem_reach(t->leader, t->n_leader, t->cap_leader,
			  (size_t)c->process + 1);
		if (first || !t->leader[c->process])
			t->leader[c->process] = (uint32_t)i;
	}
	t->named = mem_new(t->n_leader + 1, sizeof(*t->named));
}

/* Marks the threads that the filters select. Slices are made from all switches,
 * because the event of a switch belongs to the thread that leaves. */
static int load_wanted(struct tracks *t, struct store *db, struct err *err)
{
	const struct filter of_threads = { .pid = t->filter->pid,
					   .tid = t->filter->tid,
					   .comm = t->filter->comm,
					   .cgroup = t->filter->cgroup };
	struct rows *r;

	if (!filter_given(&of_threads))
		return 0;
	r = filter_rows(&of_threads, db, "track_wanted", NULL, 0, err);
	for (size_t i = 0; i < t->n_track; i++)
		t->track[i].wanted = false;
	while (rows_step(r)) {
		int64_t id = rows_int(r, TRACK_WANTED_ID);

		if (id > 0 && (uint64_t)id < t->n_track)
			t->track[id].wanted = true;
	}
	return rows_end(r, err);
}

struct tracks *tracks_load(struct json *j, struct store *db,
			   const struct filter *filter, struct events *events,
			   struct err *err)
{
	struct tracks *t = mem_new(1, sizeof(*t));

	t->j = j;
	t->events = events;
	t->filter = filter;
	*mem_at(t->track, t->n_track, t->cap_track, 0) =
		(struct track){ .pid = -1, .tid = -1 };
	if (tracks_read_captures(t, db, err) ||
	    tracks_read_threads(t, db, err) || load_wanted(t, db, err)) {
		tracks_free(t);
		return NULL;
	}
	tracks_load_names(t);
	return t;
}

void tracks_free(struct tracks *t)
{
	if (!t)
		return;
	table_release(&t->by_tid);
	table_release(&t->by_cpu);
	free(t->track);
	free(t->cpu);
	free(t->of_capture);
	free(t->leader);
	free(t->named);
	free(t);
}

/* ---- names and numbers */

void tracks_time(struct json *j, int64_t ns)
{
	uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char digits[32];

	snprintf(digits, sizeof(digits), "%s%" PRIu64 ".%03u",
		 ns < 0 ? "-" : "", abs / 1000, (unsigned int)(abs % 1000));
	json_number(j, "ts", digits);
}

static void tracks_next(struct tracks *t)
{
	json_break(t->j);
	json_object(t->j, NULL);
}

/* Unknown ids (-1) become 0. */
static void tracks_put_ids(struct tracks *t, uint32_t kernel, int64_t pid,
			   int64_t tid)
{
	int64_t base = (int64_t)kernel * APART;

	json_int(t->j, "pid", base + (pid < 0 ? tid < 0 ? 0 : tid : pid));
	json_int(t->j, "tid", base + (tid < 0 ? 0 : tid));
}

static void tracks_put_name(struct tracks *t, const char *what, uint32_t kernel,
			    int64_t pid, int64_t tid, const char *name)
{
	tracks_next(t);
	json_text(t->j, "ph", "M");
	json_text(t->j, "name", what);
	tracks_put_ids(t, kernel, pid, tid);
	json_object(t->j, "args");
	json_shown(t->j, "name", name);
	json_end(t->j);
	json_end(t->j);
}

const char *tracks_name(const struct tracks *t, const struct track *k)
{
	return events_comm(t->events, k->comm)->name;
}

void tracks_thread(struct tracks *t, uint32_t id)
{
	struct track *k = &t->track[id];
	uint32_t leader = k->process < t->n_leader ? t->leader[k->process] : 0;

	if (!k->named && leader && !t->named[k->process]) {
		tracks_put_name(t, "process_name", k->kernel, k->pid, k->tid,
				events_comm(t->events, leader)->name);
		t->named[k->process] = true;
	}
	if (!k->named)
		tracks_put_name(t, "thread_name", k->kernel, k->pid, k->tid,
				tracks_name(t, k));
	k->named = true;
	tracks_next(t);
	tracks_put_ids(t, k->kernel, k->pid, k->tid);
}

void tracks_begin_thread(struct tracks *t, const struct event_row *e)
{
	tracks_thread(t, e->thread < t->n_track ? e->thread : 0);
}

uint32_t tracks_find_cpu(struct tracks *t, uint32_t capture, int64_t cpu)
{
	uint32_t kernel = capture < t->n_capture ? t->of_capture[capture] : 0;

	if (cpu < 0 || cpu >= CPU_MAX)
		cpu = -1;
	uint64_t hash = hash_u64((uint64_t)kernel << 32 | (uint32_t)cpu);
	uint32_t id = table_find_hash(&t->by_cpu, hash);

	if (id != TABLE_NONE)
		return id;
	table_add(&t->by_cpu, hash, (uint32_t)t->n_cpu);
	*mem_add(t->cpu, t->n_cpu, t->cap_cpu) =
		(struct cpu){ .kernel = kernel, .cpu = cpu };
	return (uint32_t)t->n_cpu - 1;
}

void tracks_cpu(struct tracks *t, uint32_t id)
{
	struct cpu *c = &t->cpu[id];
	int64_t tid = CPUS_PID + 1 + c->cpu;

	if (!c->named) {
		char name[32] = "all CPUs";

		if (c->cpu >= 0)
			snprintf(name, sizeof(name), "CPU %" PRId64, c->cpu);
		tracks_put_name(t, "process_name", c->kernel, CPUS_PID, tid,
				"CPUs");
		tracks_put_name(t, "thread_name", c->kernel, CPUS_PID, tid,
				name);
	}
	c->named = true;
	tracks_next(t);
	tracks_put_ids(t, c->kernel, CPUS_PID, tid);
}

void tracks_begin_cpu(struct tracks *t, uint32_t capture, int64_t cpu)
{
	tracks_cpu(t, tracks_find_cpu(t, capture, cpu));
}
