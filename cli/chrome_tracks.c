/* chrome_tracks.c - threads and CPUs as the tracks of a Chrome trace. */
#include "cli/chrome_tracks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/events.h"
#include "cli/filter.h"
#include "cli/plain.h"
#include "cli/switches.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/mem.h"
#include "stitch/table.h"

#define SQL_MAX 4096
/* PID_MAX_LIMIT is 1 << 22 on every kernel. */
#define CPUS_PID ((1u << 22) + 1)
#define CPU_MAX (1 << 16)
/* Between two kernels' pids. */
#define APART (1u << 23)
#define KERNELS_MAX 256

struct track {
	int64_t pid, tid, from, to; /* to, from: INT64_MAX, MIN not known */
	uint32_t process, kernel;   /* kernel: place in tracks.kernel */
	uint32_t same;		    /* the next thread with this tid; 0: none */
	uint32_t comm;		    /* the last one; 0: none */
	uint32_t cpu;		    /* it runs there: place in cpu[] + 1 */
	size_t slice;		    /* which one that is */
	const char *name;	    /* of one that only switches name */
	bool named, wanted, drawn;
};

struct cpu {
	uint32_t kernel;
	int64_t cpu;
	uint32_t thread; /* that runs there; 0: none, or idle */
	bool named;
};

struct kernel {
	uint32_t capture; /* the first of it */
	int wide;	  /* all threads were recorded: 1, 0, -1 not known */
	uint64_t torn;	  /* slices without a recorded end */
	int64_t last;	  /* time of the last event; INT64_MAX not known */
	bool ended;
};

struct tracks {
	FILE *out;
	struct events *events;
	struct track *track; /* by thread.id; [0]: events without a thread */
	size_t n_track, cap_track;
	struct table by_tid;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct table by_cpu;
	struct kernel kernel[KERNELS_MAX];
	size_t n_kernel;
	bool finding;	 /* slices with both ends, nothing is drawn */
	uint64_t *whole; /* bits of those, by their place in time */
	size_t n_whole, cap_whole, n_slice;
	int64_t due; /* the first end of a kernel that is to come */
	struct arena text;
	uint32_t *of_capture; /* capture.id -> place in kernel[] */
	size_t n_capture, cap_capture;
	uint32_t *leader; /* process.id -> comm.id that names it */
	size_t n_leader, cap_leader;
	bool *named; /* processes */
	bool any;    /* objects written */
};

/* ---- loading */

static uint32_t kernel_of(struct tracks *t, uint32_t capture)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		if (t->kernel[i].capture == capture)
			return (uint32_t)i;
	if (t->n_kernel == KERNELS_MAX)
		return KERNELS_MAX - 1;
	t->kernel[t->n_kernel] = (struct kernel){ .capture = capture,
						  .wide = -1,
						  .last = INT64_MIN };
	return (uint32_t)t->n_kernel++;
}

static int take_capture(void *arg, const struct rows *r, struct err *err)
{
	struct tracks *t = arg;
	uint32_t kernel = kernel_of(t, (uint32_t)rows_int(r, 1));

	(void)err;
	if (rows_value(r, 3).kind != VALUE_INT)
		t->kernel[kernel].last = INT64_MAX;
	else if (rows_int(r, 3) > t->kernel[kernel].last)
		t->kernel[kernel].last = rows_int(r, 3);
	if (rows_int(r, 2) > t->kernel[kernel].wide)
		t->kernel[kernel].wide = rows_int(r, 2) != 0;
	t->of_capture =
		mem_reach(t->of_capture, &t->n_capture, &t->cap_capture,
			  (size_t)rows_int(r, 0) + 1, sizeof(*t->of_capture));
	t->of_capture[rows_int(r, 0)] = kernel;
	return 0;
}

static uint32_t find_tid(const struct tracks *t, int64_t tid)
{
	uint32_t id = table_find(&t->by_tid, hash_u64((uint64_t)tid), NULL,
				 NULL, NULL);

	return id == TABLE_NONE ? 0 : id;
}

/* Adds or takes the place of track[id]; the newest of a tid comes first. */
static void put_thread(struct tracks *t, uint32_t id, const struct track *k)
{
	uint64_t hash = hash_u64((uint64_t)k->tid);

	t->track = mem_reach(t->track, &t->n_track, &t->cap_track,
			     (size_t)id + 1, sizeof(*t->track));
	t->track[id] = *k;
	t->track[id].same = find_tid(t, k->tid);
	if (t->track[id].same)
		table_remove(&t->by_tid, hash, t->track[id].same);
	table_add(&t->by_tid, hash, id);
}

static int take_thread(void *arg, const struct rows *r, struct err *err)
{
	struct tracks *t = arg;
	struct value from = rows_value(r, 4);
	struct value to = rows_value(r, 5);
	const struct track k = {
		.pid = rows_int(r, 1),
		.tid = rows_int(r, 2),
		.process = (uint32_t)rows_int(r, 3),
		.from = from.kind == VALUE_INT ? from.num : INT64_MIN,
		.to = to.kind == VALUE_INT ? to.num : INT64_MAX,
		.kernel = kernel_of(t, (uint32_t)rows_int(r, 6)),
		.wanted = true,
	};

	(void)err;
	put_thread(t, (uint32_t)rows_int(r, 0), &k);
	return 0;
}

/* A process is called as its first thread, else as any of them. */
static void load_names(struct tracks *t)
{
	for (size_t i = 1; i <= events_comms(t->events); i++) {
		const struct event_comm *c = events_comm(t->events, (int64_t)i);
		bool first = c->pid == c->tid;

		if (c->thread && c->thread < t->n_track)
			t->track[c->thread].comm = (uint32_t)i;
		/* a process has a thread, and that a name */
		if (!c->process || c->process > events_comms(t->events))
			continue;
		t->leader =
			mem_reach(t->leader, &t->n_leader, &t->cap_leader,
				  (size_t)c->process + 1, sizeof(*t->leader));
		if (first || !t->leader[c->process])
			t->leader[c->process] = (uint32_t)i;
	}
	t->named = mem_new(t->n_leader + 1, sizeof(*t->named));
}

/* Slices are made of all switches, and shown of the threads that are asked
 * for: the events of a switch are those of the thread that leaves only. */
static int load_wanted(struct tracks *t, struct store *db, struct err *err)
{
	const struct filter all = filter;
	struct value bind[FILTER_BIND];
	char cond[SQL_MAX / 2];
	char sql[SQL_MAX];
	struct rows *r;
	size_t n = 0;
	int ret;

	if (!all.pid && !all.tid && !all.comm)
		return 0;
	filter = (struct filter){ .pid = all.pid,
				  .tid = all.tid,
				  .comm = all.comm };
	ret = filter_sql(db, cond, sizeof(cond), bind, FILTER_BIND, &n, err);
	filter = all;
	if (ret)
		return -1;
	ret = snprintf(sql, sizeof(sql), "%s %s)", store_sql("track_wanted"),
		       cond);
	if (ret < 0 || (size_t)ret >= sizeof(sql))
		return err_set(err, ERR_LIMIT, "the filters are too long");
	for (size_t i = 0; i < t->n_track; i++)
		t->track[i].wanted = false;
	r = rows_open(db, sql, bind, n, err);
	if (!r)
		return -1;
	while ((ret = rows_next(r, err)) > 0)
		if (rows_int(r, 0) > 0 && (uint64_t)rows_int(r, 0) < t->n_track)
			t->track[rows_int(r, 0)].wanted = true;
	rows_close(r);
	return ret;
}

struct tracks *tracks_load(FILE *out, struct store *db, struct events *events,
			   struct err *err)
{
	struct tracks *t = mem_new(1, sizeof(*t));

	t->out = out;
	t->finding = true;
	t->events = events;
	t->track = mem_reach(NULL, &t->n_track, &t->cap_track, 1,
			     sizeof(*t->track));
	t->track[0].pid = t->track[0].tid = -1;
	if (rows_each_dense(db, "track_captures", take_capture, t, err) ||
	    rows_each_dense(db, "track_threads", take_thread, t, err) ||
	    load_wanted(t, db, err)) {
		tracks_free(t);
		return NULL;
	}
	load_names(t);
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
	free(t->whole);
	arena_release(&t->text);
	free(t);
}

/* ---- names and numbers */

void tracks_next(struct tracks *t)
{
	fputs(t->any ? ",\n{" : "\n{", t->out);
	t->any = true;
}

void tracks_time(FILE *out, int64_t ns)
{
	uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, "\"ts\":%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", abs / 1000,
		(unsigned int)(abs % 1000));
}

/* What is not known (-1) is 0. */
static void put_ids(struct tracks *t, uint32_t kernel, int64_t pid, int64_t tid)
{
	int64_t base = (int64_t)kernel * APART;

	fprintf(t->out, "\"pid\":%" PRId64 ",\"tid\":%" PRId64,
		base + (pid < 0 ? tid < 0 ? 0 : tid : pid),
		base + (tid < 0 ? 0 : tid));
}

/* Leaves the value of "name" to the caller, and then "}}". */
static void begin_name(struct tracks *t, const char *what, uint32_t kernel,
		       int64_t pid, int64_t tid)
{
	tracks_next(t);
	fprintf(t->out, "\"ph\":\"M\",\"name\":\"%s\",", what);
	put_ids(t, kernel, pid, tid);
	fputs(",\"args\":{\"name\":", t->out);
}

static const char *name_of(const struct tracks *t, const struct track *k)
{
	if (k->comm)
		return events_comm(t->events, k->comm)->name;
	return k->name ? k->name : "[no name]";
}

static void name_thread(struct tracks *t, const struct track *k)
{
	if (k->process < t->n_leader && t->leader[k->process] &&
	    !t->named[k->process]) {
		begin_name(t, "process_name", k->kernel, k->pid, k->tid);
		plain_json(t->out,
			   events_comm(t->events, t->leader[k->process])->name);
		fputs("}}", t->out);
		t->named[k->process] = true;
	}
	begin_name(t, "thread_name", k->kernel, k->pid, k->tid);
	plain_json(t->out, name_of(t, k));
	fputs("}}", t->out);
}

static void begin_thread(struct tracks *t, uint32_t id)
{
	struct track *k = &t->track[id];

	if (!k->named)
		name_thread(t, k);
	k->named = true;
	tracks_next(t);
	put_ids(t, k->kernel, k->pid, k->tid);
}

void tracks_begin_thread(struct tracks *t, const struct event_row *e)
{
	begin_thread(t, e->thread < t->n_track ? e->thread : 0);
}

static uint32_t find_cpu(struct tracks *t, uint32_t capture, int64_t cpu)
{
	uint32_t kernel = capture < t->n_capture ? t->of_capture[capture] : 0;

	if (cpu < 0 || cpu >= CPU_MAX)
		cpu = -1;
	uint64_t hash = hash_u64((uint64_t)kernel << 32 | (uint32_t)cpu);
	uint32_t id = table_find(&t->by_cpu, hash, NULL, NULL, NULL);

	if (id != TABLE_NONE)
		return id;
	table_add(&t->by_cpu, hash, (uint32_t)t->n_cpu);
	t->cpu = mem_grow(t->cpu, &t->cap_cpu, t->n_cpu + 1, sizeof(*t->cpu));
	t->cpu[t->n_cpu] = (struct cpu){ .kernel = kernel, .cpu = cpu };
	return (uint32_t)t->n_cpu++;
}

static void begin_cpu(struct tracks *t, uint32_t id)
{
	struct cpu *c = &t->cpu[id];
	int64_t tid = CPUS_PID + 1 + c->cpu;

	if (!c->named) {
		begin_name(t, "process_name", c->kernel, CPUS_PID, tid);
		fputs("\"CPUs\"}}", t->out);
		begin_name(t, "thread_name", c->kernel, CPUS_PID, tid);
		if (c->cpu < 0)
			fputs("\"all CPUs\"}}", t->out);
		else
			fprintf(t->out, "\"CPU %" PRId64 "\"}}", c->cpu);
	}
	c->named = true;
	tracks_next(t);
	put_ids(t, c->kernel, CPUS_PID, tid);
}

void tracks_begin_cpu(struct tracks *t, uint32_t capture, int64_t cpu)
{
	begin_cpu(t, find_cpu(t, capture, cpu));
}

/* ---- slices
 *
 * A slice is drawn when both of its ends were recorded. Where only some threads
 * are recorded, or a switch was lost, one thread comes and another one leaves:
 * how long the first one ran is not known. So the switches are read twice: the
 * first time only finds the slices with both ends, one bit for each.
 */

/* Why a slice ends. */
struct reason {
	bool known, at_end; /* a switch says so; the capture ends */
	int64_t state;
	bool preempt;
};

/* Readers match ends with beginnings by the name. */
static void put_end(struct tracks *t, const char *name, int64_t time,
		    const struct reason *why)
{
	fputs(",\"ph\":\"E\",\"name\":", t->out);
	plain_json(t->out, name);
	putc(',', t->out);
	tracks_time(t->out, time);
	if (why->at_end)
		fputs(",\"args\":{\"end\":\"capture\"}", t->out);
	else if (why->state >= 0)
		fprintf(t->out, ",\"args\":{\"prev_state\":%" PRId64 "}",
			why->state);
	else if (why->preempt)
		fputs(",\"args\":{\"preempted\":true}", t->out);
	putc('}', t->out);
}

static void stop(struct tracks *t, uint32_t thread, int64_t time,
		 const struct reason *why)
{
	struct track *k = &t->track[thread];
	uint32_t cpu = k->cpu;

	if (!cpu)
		return;
	k->cpu = 0;
	t->cpu[cpu - 1].thread = 0;
	if (t->finding) {
		if (why->known)
			t->whole[k->slice / 64] |= 1ull << k->slice % 64;
		else
			t->kernel[k->kernel].torn++;
		return;
	}
	if (!k->drawn)
		return;
	begin_thread(t, thread);
	put_end(t, "running", time, why);
	if (t->cpu[cpu - 1].cpu < 0)
		return;
	begin_cpu(t, cpu - 1);
	put_end(t, name_of(t, k), time, why);
}

static bool is_drawn(const struct tracks *t, const struct track *k)
{
	return k->wanted && t->whole[k->slice / 64] >> k->slice % 64 & 1;
}

static void put_begin(struct tracks *t, uint32_t thread, int64_t time)
{
	const struct track *k = &t->track[thread];
	const struct cpu *c = &t->cpu[k->cpu - 1];

	begin_thread(t, thread);
	fputs(",\"ph\":\"B\",\"cat\":\"sched\",\"name\":\"running\",", t->out);
	tracks_time(t->out, time);
	if (c->cpu < 0) {
		putc('}', t->out);
		return;
	}
	fprintf(t->out, ",\"args\":{\"cpu\":%" PRId64 "}}", c->cpu);
	begin_cpu(t, k->cpu - 1);
	fputs(",\"ph\":\"B\",\"cat\":\"sched\",\"name\":", t->out);
	plain_json(t->out, name_of(t, k));
	putc(',', t->out);
	tracks_time(t->out, time);
	fprintf(t->out, ",\"args\":{\"pid\":%" PRId64 ",\"tid\":%" PRId64 "}}",
		k->pid, k->tid);
}

static void start(struct tracks *t, uint32_t thread, uint32_t cpu, int64_t time)
{
	struct track *k = &t->track[thread];

	k->cpu = cpu + 1;
	t->cpu[cpu].thread = thread;
	k->slice = t->n_slice++;
	if (t->finding) {
		t->whole = mem_reach(t->whole, &t->n_whole, &t->cap_whole,
				     k->slice / 64 + 1, sizeof(*t->whole));
		return;
	}
	k->drawn = is_drawn(t, k);
	if (k->drawn)
		put_begin(t, thread, time);
}

/* The thread that has that tid at that time; 0: none. */
static uint32_t thread_at(const struct tracks *t, int64_t tid, uint32_t kernel,
			  int64_t time)
{
	uint32_t best = 0;

	for (uint32_t i = find_tid(t, tid); i; i = t->track[i].same) {
		const struct track *k = &t->track[i];

		if (k->kernel != kernel)
			continue;
		if (time >= k->from && time <= k->to)
			return i;
		if (!best)
			best = i;
	}
	return best;
}

/* A thread that only the switch names. */
static uint32_t new_thread(struct tracks *t, int64_t tid, uint32_t kernel,
			   const char *name)
{
	const struct track k = {
		.pid = -1,
		.tid = tid,
		.from = INT64_MIN,
		.to = INT64_MAX,
		.kernel = kernel,
		.name = name ? arena_strdup(&t->text, name) : NULL,
		.wanted = !filter.pid && !filter.tid && !filter.comm,
	};

	put_thread(t, (uint32_t)t->n_track, &k);
	return (uint32_t)t->n_track - 1;
}

static uint32_t who(struct tracks *t, const struct event_row *e, int64_t tid,
		    uint32_t kernel, const char *name)
{
	uint32_t own = e->thread < t->n_track ? e->thread : 0;
	uint32_t id;

	if (tid < 0 || t->track[own].tid == tid)
		return own;
	id = thread_at(t, tid, kernel, e->time);
	return id || !tid ? id : new_thread(t, tid, kernel, name);
}

/* The thread that runs there, when the tid is its: around the end of a thread
 * its events can be of no thread (-1), or of the next one with the tid. */
static uint32_t who_leaves(struct tracks *t, const struct event_row *e,
			   int64_t tid, uint32_t cpu)
{
	uint32_t running = t->cpu[cpu].cpu >= 0 ? t->cpu[cpu].thread : 0;

	if (tid < 0)
		tid = t->track[e->thread < t->n_track ? e->thread : 0].tid;
	if (running && (tid < 0 || t->track[running].tid == tid))
		return running;
	return who(t, e, tid, t->cpu[cpu].kernel, NULL);
}

void tracks_switch(struct tracks *t, const struct event_row *e,
		   uint32_t capture, const struct context_switch *sw)
{
	static const struct reason torn = { .state = -1 };
	const struct reason why = { .known = true,
				    .state = sw->state,
				    .preempt = sw->preempt };
	uint32_t cpu = find_cpu(t, capture, e->on_cpu ? e->cpu : -1);
	uint32_t kernel = t->cpu[cpu].kernel;
	uint32_t id;

	if (sw->has_out) {
		id = who_leaves(t, e, sw->out_tid, cpu);
		/* it came to another CPU: that it left this one was lost */
		stop(t, id, e->time,
		     t->track[id].cpu == cpu + 1 ? &why : &torn);
		if (t->cpu[cpu].thread && t->cpu[cpu].cpu >= 0)
			stop(t, t->cpu[cpu].thread, e->time, &torn);
	}
	if (!sw->has_in)
		return;
	id = who(t, e, sw->in_tid, kernel, sw->in_comm);
	if (t->cpu[cpu].thread && t->cpu[cpu].cpu >= 0)
		stop(t, t->cpu[cpu].thread, e->time, &torn);
	stop(t, id, e->time, &torn);
	/* thread 0 of the kernel is idle */
	if (id && t->track[id].tid)
		start(t, id, cpu, e->time);
}

/* What still runs did so to the end, where all switches are recorded. */
static void end_kernel(struct tracks *t, uint32_t kernel, int64_t time)
{
	const struct kernel *n = &t->kernel[kernel];
	const struct reason end = {
		.known = n->wide > 0 || (n->wide < 0 && !n->torn),
		.at_end = true,
		.state = -1,
	};

	for (size_t i = 1; i < t->n_track; i++)
		if (t->track[i].kernel == kernel)
			stop(t, (uint32_t)i, time, &end);
}

void tracks_until(struct tracks *t, int64_t time)
{
	if (time <= t->due)
		return;
	t->due = INT64_MAX;
	for (size_t i = 0; i < t->n_kernel; i++) {
		struct kernel *n = &t->kernel[i];

		if (!n->ended && n->last < time) {
			end_kernel(t, (uint32_t)i, n->last);
			n->ended = true;
		}
		if (!n->ended && n->last < t->due)
			t->due = n->last;
	}
}

void tracks_end(struct tracks *t, int64_t time)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		end_kernel(t, (uint32_t)i, time);
	t->finding = false;
	t->n_slice = 0;
	t->due = INT64_MIN;
}

uint64_t tracks_torn(const struct tracks *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_kernel; i++)
		n += t->kernel[i].torn;
	return n;
}
