/* thread_times.c - the time of each thread: on a CPU, ready for one, waiting;
 * and how many threads ran at a time.
 *
 * A wait that began with the thread runnable is time that it was ready; any
 * other wait is so from the wake-up on, if that was recorded. */
#include "analyze/waits/thread_times.h"

#include "analyze/samples/filter.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

/* perf report --latency (since 6.15) begins with one thread, adds one for each
 * switch in and takes one for each switch out and each exit, within 1 and the
 * number of CPUs. Where nothing is lost of a program that perf started, that is
 * the number of runs at that time. */

COMPARE_BY(parallel_compare, struct parallel_step, time);

int parallel_load(struct store *db, const char *path, struct parallel *p,
		  struct err *err)
{
	const struct waits_ask ask = { .filter = &filter_none,
				       .runs = true,
				       .maybe = true };
	struct waits *w = waits_open(db, path, &ask, err);
	struct offcpu_sums sums;
	struct waits_item item;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0) {
		int32_t ran = item.kind == WAITS_RUN;
		int32_t maybe = item.kind == WAITS_MAYBE;

		if (!ran && !maybe)
			continue;
		*mem_add(p->step, p->n, p->cap) =
			(struct parallel_step){ item.run.from, ran, maybe };
		*mem_add(p->step, p->n, p->cap) =
			(struct parallel_step){ item.run.to, -ran, -maybe };
	}
	waits_close(w, &sums);
	p->cpus = sums.cpus;
	if (!rc && (sums.partial || offcpu_sampled(&sums)))
		rc = err_set(err, ERR_FORMAT,
			     "%s: not all switches of its threads were "
			     "recorded, so that it is not known how many ran; "
			     "record with --switch-events",
			     path);
	sort_items(p->step, p->n, parallel_compare);
	for (size_t i = 1; i < p->n; i++) {
		p->step[i].least += p->step[i - 1].least;
		p->step[i].maybe += p->step[i - 1].maybe;
	}
	return rc;
}

void parallel_release(struct parallel *p)
{
	free(p->step);
}

struct parallel_range parallel_at(const struct parallel *p, int64_t time)
{
	size_t at = search_where(p->n, i, p->step[i].time > time);
	struct parallel_range r = { 1, 1 };

	if (!at)
		return r;
	raise_to(r.least, p->step[at - 1].least);
	if (p->cpus > 0)
		lower_to(r.least, p->cpus);
	raise_to(r.most, p->step[at - 1].least + p->step[at - 1].maybe);
	if (p->cpus > 0)
		lower_to(r.most, p->cpus);
	raise_to(r.most, r.least);
	return r;
}

/* Returns the row of a thread, with the name that it had last. */
static struct thread_times *threads_of(struct threads *th, uint32_t comm,
				       int64_t tid, int64_t time)
{
	const struct stacks_comm *c = stacks_comm(th->stacks, comm);
	const uint64_t word[2] = { (uint64_t)c->pid, (uint64_t)tid };
	uint32_t id = intern_add_bytes(&th->index, word, sizeof(word));

	if (id == th->n)
		*mem_add(th->t, th->n, th->cap) =
			(struct thread_times){ .tid = tid, .named = time };
	/* an exec gives a new name */
	if (time >= th->t[id].named) {
		th->t[id].comm = comm;
		th->t[id].named = time;
	}
	return &th->t[id];
}

/* Adds a wait to its thread, and to the sums. */
static void threads_take_wait(struct threads *th, const struct offcpu_wait *w)
{
	struct thread_times *t = threads_of(th, w->at.comm, w->tid, w->from);
	uint64_t ns = (uint64_t)w->to - (uint64_t)w->from;
	uint64_t ready = 0;

	if (w->end != OFFCPU_BACK)
		return;
	if (offcpu_state(w->state)[0] == 'R')
		ready = ns;
	else if (w->waker.ready < w->to)
		ready = (uint64_t)w->to - (uint64_t)w->waker.ready;
	ns -= ready;
	if (w->waker.runnable > WAIT_READY) {
		t->cause[w->waker.runnable] += ready;
		t->waiting += ready;
		th->waiting += ready;
		raise_to(t->longest, ready);
		ready = 0;
	}
	t->ready += ready;
	t->waiting += ns;
	t->cause[offcpu_cause(th->causes, w)] += ns;
	raise_to(t->longest, ns);
	th->ready += ready;
	th->waiting += ns;
}

COMPARE_FUNCTION(compare_thread_times, struct thread_times,
		 compare_numbers(saturating_add(y->on_cpu, y->ready),
				 saturating_add(x->on_cpu, x->ready))
			 ?: compare_numbers(y->waiting, x->waiting)
			 ?: compare_numbers(x->tid, y->tid));

const char *threads_cause(const struct thread_times *t)
{
	size_t most = 0;

	for (size_t i = 1; i < WAIT_CAUSES; i++)
		if (t->cause[i] > t->cause[most])
			most = i;
	return wait_cause_word((enum wait_cause)most);
}

int threads_load(struct store *db, const char *path, struct threads *th,
		 struct err *err)
{
	const struct stacks_opts so = { .filter = &filter_none,
					.no_groups = true };
	struct waits_item item;
	int rc;

	*th = (struct threads){ 0 };
	th->stacks = stacks_load(db, &so, err);
	if (!th->stacks)
		return -1;
	th->causes = wait_causes_new(th->stacks);
	const struct waits_ask ask = {
		.filter = &filter_none,
		.runs = true,
		.stacks = th->stacks,
		.causes = th->causes,
	};
	struct waits *w = waits_open(db, path, &ask, err);

	while ((rc = waits_next(w, &item, err)) > 0)
		if (item.kind == WAITS_WAIT)
			threads_take_wait(th, &item.wait);
		else if (item.kind == WAITS_RUN) {
			const struct offcpu_run *r = &item.run;
			uint32_t comm = r->comm ? r->comm
						: stacks_comm_of_tid(th->stacks,
								     r->tid);
			uint64_t ns = (uint64_t)r->to - (uint64_t)r->from;
			struct thread_times *t;

			/* the idle task has the rest */
			if (r->tid) {
				t = threads_of(th, comm, r->tid, r->to);
				t->on_cpu = saturating_add(t->on_cpu, ns);
				th->on_cpu = saturating_add(th->on_cpu, ns);
			}
		}
	waits_close(w, &th->sums);
	sort_items(th->t, th->n, compare_thread_times);
	return rc;
}

void threads_release(struct threads *th)
{
	wait_causes_free(th->causes);
	stacks_free(th->stacks);
	intern_release(&th->index);
	free(th->t);
}
