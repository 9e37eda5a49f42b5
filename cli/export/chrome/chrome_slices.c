/* chrome_slices.c - slices of a Chrome trace: which thread ran on which CPU.
 *
 * A slice is drawn if both of its ends were recorded. If only some threads are
 * recorded, or a switch was lost, the thread that leaves a CPU may not be the
 * one that came last, and how long that one ran is not known. Therefore the
 * switches are read twice: first to find the slices with both ends, one bit for
 * each. */

#include "cli/export/chrome/chrome_state.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "cli/model/events.h"
#include "cli/model/filter.h"
#include "cli/output/json.h"
#include "cli/model/switches.h"

/* Why a slice ends. */
struct reason {
	bool known, at_end; /* from a switch; from the end of the capture */
	int64_t state;
	bool preempt;
};

/* Readers match the ends of slices to their starts by name. */
static void slices_put_end(struct tracks *t, const char *name, int64_t time,
			   const struct reason *why)
{
	struct json *j = t->j;

	json_text(j, "ph", "E");
	json_shown(j, "name", name);
	tracks_time(j, time);
	if (why->at_end || why->state >= 0 || why->preempt) {
		json_object(j, "args");
		if (why->at_end)
			json_text(j, "end", "capture");
		else if (why->state >= 0)
			json_int(j, "prev_state", why->state);
		else
			json_bool(j, "preempted", true);
		json_end(j);
	}
	json_end(j);
}

static void slices_stop(struct tracks *t, uint32_t thread, int64_t time,
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
	tracks_thread(t, thread);
	slices_put_end(t, "running", time, why);
	if (t->cpu[cpu - 1].cpu < 0)
		return;
	tracks_cpu(t, cpu - 1);
	slices_put_end(t, tracks_name(t, k), time, why);
}

static void slices_put_begin(struct json *j, const char *name, int64_t time)
{
	json_text(j, "ph", "B");
	json_text(j, "cat", "sched");
	json_shown(j, "name", name);
	tracks_time(j, time);
}

static void slices_start(struct tracks *t, uint32_t thread, uint32_t cpu,
			 int64_t time)
{
	struct track *k = &t->track[thread];
	int64_t number = t->cpu[cpu].cpu;
	struct json *j = t->j;

	k->cpu = cpu + 1;
	t->cpu[cpu].thread = thread;
	k->slice = t->n_slice++;
	if (t->finding) {
		t->whole = mem_reach(t->whole, &t->n_whole, &t->cap_whole,
				     k->slice / 64 + 1, sizeof(*t->whole));
		return;
	}
	k->drawn = k->wanted && t->whole[k->slice / 64] >> k->slice % 64 & 1;
	if (!k->drawn)
		return;
	tracks_thread(t, thread);
	slices_put_begin(j, "running", time);
	if (number >= 0) {
		json_object(j, "args");
		json_int(j, "cpu", number);
		json_end(j);
	}
	json_end(j);
	if (number < 0)
		return;
	tracks_cpu(t, cpu);
	slices_put_begin(j, tracks_name(t, k), time);
	json_object(j, "args");
	json_int(j, "pid", k->pid);
	json_int(j, "tid", k->tid);
	json_end(j);
	json_end(j);
}

/* Returns the thread with that tid at that time; 0: none. */
static uint32_t thread_at(const struct tracks *t, int64_t tid, uint32_t kernel,
			  int64_t time)
{
	uint32_t best = 0;

	for (uint32_t i = tracks_find_tid(t, tid); i; i = t->track[i].same) {
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

static uint32_t slices_who(struct tracks *t, const struct event_row *e,
			   int64_t tid, uint32_t kernel, const char *name)
{
	uint32_t own = e->thread < t->n_track ? e->thread : 0;
	uint32_t id;

	if (tid < 0 || t->track[own].tid == tid)
		return own;
	id = thread_at(t, tid, kernel, e->time);
	if (id || !tid)
		return id;

	/* a thread that only switches name */
	const struct track k = {
		.pid = -1,
		.tid = tid,
		.from = INT64_MIN,
		.to = INT64_MAX,
		.kernel = kernel,
		.name = name ? arena_strdup(&t->text, name) : NULL,
		.wanted = !filter.pid && !filter.tid && !filter.comm &&
			  !filter.cgroup,
	};

	tracks_put(t, (uint32_t)t->n_track, &k);
	return (uint32_t)t->n_track - 1;
}

/* Returns the thread that runs on the CPU if the tid is its own. Around the
 * exit of a thread its events may have no thread (-1), or the next one with its
 * tid.
 */
static uint32_t who_leaves(struct tracks *t, const struct event_row *e,
			   int64_t tid, uint32_t cpu)
{
	uint32_t running = t->cpu[cpu].cpu >= 0 ? t->cpu[cpu].thread : 0;

	if (tid < 0)
		tid = t->track[e->thread < t->n_track ? e->thread : 0].tid;
	if (running && (tid < 0 || t->track[running].tid == tid))
		return running;
	return slices_who(t, e, tid, t->cpu[cpu].kernel, NULL);
}

void tracks_switch(struct tracks *t, const struct event_row *e,
		   uint32_t capture, const struct context_switch *sw)
{
	static const struct reason torn = { .state = -1 };
	const struct reason why = { .known = true,
				    .state = sw->state,
				    .preempt = sw->preempt };
	uint32_t cpu = tracks_find_cpu(t, capture, e->on_cpu ? e->cpu : -1);
	uint32_t kernel = t->cpu[cpu].kernel;
	uint32_t id;

	if (sw->has_out) {
		id = who_leaves(t, e, sw->out_tid, cpu);
		/* it came to another CPU: the switch that left this one was
		 * lost */
		slices_stop(t, id, e->time,
			    t->track[id].cpu == cpu + 1 ? &why : &torn);
		if (t->cpu[cpu].thread && t->cpu[cpu].cpu >= 0)
			slices_stop(t, t->cpu[cpu].thread, e->time, &torn);
	}
	if (!sw->has_in)
		return;
	id = slices_who(t, e, sw->in_tid, kernel, sw->in_comm);
	if (t->cpu[cpu].thread && t->cpu[cpu].cpu >= 0)
		slices_stop(t, t->cpu[cpu].thread, e->time, &torn);
	slices_stop(t, id, e->time, &torn);
	/* tid 0 is the idle task */
	if (id && t->track[id].tid)
		slices_start(t, id, cpu, e->time);
}

/* Ends the slices of threads that still run at the end of the capture, if all
 * switches were recorded. */
static void slices_end_kernel(struct tracks *t, uint32_t kernel, int64_t time)
{
	const struct kernel *n = &t->kernel[kernel];
	const struct reason end = {
		.known = n->wide > 0 || (n->wide < 0 && !n->torn),
		.at_end = true,
		.state = -1,
	};

	for (size_t i = 1; i < t->n_track; i++)
		if (t->track[i].kernel == kernel)
			slices_stop(t, (uint32_t)i, time, &end);
}

void tracks_until(struct tracks *t, int64_t time)
{
	if (time <= t->due)
		return;
	t->due = INT64_MAX;
	for (size_t i = 0; i < t->n_kernel; i++) {
		struct kernel *n = &t->kernel[i];

		if (!n->ended && n->last < time) {
			slices_end_kernel(t, (uint32_t)i, n->last);
			n->ended = true;
		}
		if (!n->ended && n->last < t->due)
			t->due = n->last;
	}
}

void tracks_end(struct tracks *t, int64_t time)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		slices_end_kernel(t, (uint32_t)i, time);
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
