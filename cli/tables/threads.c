/* threads.c - the time of each thread: on a CPU, ready for one, waiting.
 *
 * A wait that began with the thread runnable is time that it was ready; another
 * one is so from the wake-up on, where that was recorded. */
#include "cli/tables/threads.h"

#include "analyze/samples/filter.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "cli/output/term.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

struct thread_times {
	uint32_t comm; /* for stacks_comm(); 0: not known */
	int64_t named; /* when it had it */
	int64_t tid;
	uint64_t on_cpu, ready, waiting, longest;
	uint64_t cause[WAIT_CAUSES]; /* parts of waiting */
};

struct threads {
	struct stacks *stacks; /* used for names only */
	struct wait_causes *causes;
	struct thread_times *t;
	size_t n, cap;
	struct intern index; /* of t[], by name, process and thread */
	struct offcpu_sums sums;
	uint64_t on_cpu, ready, waiting;
};

/* Returns the thread that had a name at a time. */
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
	t->ready += ready;
	t->waiting += ns;
	t->cause[wait_causes_get(th->causes, w->state, w->at.kraw)] += ns;
	raise_to(t->longest, ns);
	th->ready += ready;
	th->waiting += ns;
}

static void threads_take_run(struct threads *th, const struct offcpu_run *r)
{
	uint32_t comm =
		r->comm ? r->comm : stacks_comm_of_tid(th->stacks, r->tid);
	uint64_t ns = (uint64_t)r->to - (uint64_t)r->from;
	struct thread_times *t;

	/* the idle task is what is left */
	if (!r->tid)
		return;
	t = threads_of(th, comm, r->tid, r->to);
	t->on_cpu = saturating_add(t->on_cpu, ns);
	th->on_cpu = saturating_add(th->on_cpu, ns);
}

COMPARE_FUNCTION(compare_thread_times, struct thread_times,
		 compare_numbers(saturating_add(y->on_cpu, y->ready),
				 saturating_add(x->on_cpu, x->ready))
			 ?: compare_numbers(y->waiting, x->waiting)
			 ?: compare_numbers(x->tid, y->tid));

/* Returns the word of the longest cause; "" where most of the time has none. */
static const char *threads_cause(const struct thread_times *t)
{
	size_t most = 0;

	for (size_t i = 1; i < WAIT_CAUSES; i++)
		if (t->cause[i] > t->cause[most])
			most = i;
	return wait_cause_word((enum wait_cause)most);
}

static void threads_print_sums(const struct threads *th)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);

	fprintf(out, "%s thread%s: %s on the CPU, %s ready, %s waiting",
		HUMAN_GROUPED(th->n), th->n == 1 ? "" : "s",
		HUMAN_NS(th->on_cpu), HUMAN_NS(th->ready),
		HUMAN_NS(th->waiting));
	if (th->sums.waits[OFFCPU_UNCERTAIN])
		fprintf(out, "; %s waits uncertain",
			HUMAN_GROUPED(th->sums.waits[OFFCPU_UNCERTAIN]));
	if (!th->sums.wakes)
		fputs("; wake-ups not recorded", out);
	putc('\n', out);
	term_lines_end(&l);
}

static void threads_print_table(struct threads *th, size_t limit)
{
	struct grid_column col[] = {
		{ "On CPU", NULL },  { "Ready", NULL }, { "Waiting", NULL },
		{ "Longest", NULL }, { NULL, NULL },	{ "Tid", NULL },
		{ "Thread", NULL },
	};
	struct grid *g = grid_new(col, ARRAY_SIZE(col));

	sort_items(th->t, th->n, compare_thread_times);
	for (size_t i = 0; i < th->n && i < limit; i++) {
		const struct thread_times *t = &th->t[i];
		const char *cause = threads_cause(t);

		/* without stacks nobody knows any */
		if (*cause)
			col[4].title = "For";
		grid_text(g, HUMAN_NS(t->on_cpu));
		grid_text(g, HUMAN_NS(t->ready));
		grid_text(g, HUMAN_NS(t->waiting));
		grid_text(g, HUMAN_NS(t->longest));
		grid_text(g, cause);
		grid_signed(g, t->tid);
		grid_text(g, stacks_comm(th->stacks, t->comm)->name);
	}
	grid_write(g, "table", stdout);
	grid_free(g);
}

static void threads_print_sampled(const struct offcpu_sums *s)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);

	fprintf(out,
		"time of threads: not known, because switches were sampled, %s "
		"of %s; 'perf record -c 1' records all\n",
		HUMAN_GROUPED(s->recorded), HUMAN_GROUPED(s->happened));
	term_lines_end(&l);
	putchar('\n');
}

int threads_print(struct store *db, const char *path, size_t limit,
		  struct err *err)
{
	const struct stacks_opts so = { .filter = &filter_none,
					.no_groups = true };
	struct threads th = { 0 };
	int rc = -1;

	th.stacks = stacks_load(db, &so, err);
	if (th.stacks) {
		th.causes = wait_causes_new(th.stacks);
		const struct waits_ask ask = {
			.filter = &filter_none,
			.runs = true,
			.stacks = th.stacks,
			.causes = th.causes,
		};
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;

		while ((rc = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				threads_take_wait(&th, &item.wait);
			else if (item.kind == WAITS_RUN)
				threads_take_run(&th, &item.run);
		waits_close(w, &th.sums);
	}
	/* a wait that seems certain, and the time between two of them, are few
	 * of many */
	if (offcpu_sampled(&th.sums)) {
		threads_print_sampled(&th.sums);
	} else if (!rc && th.sums.partial) {
		fputs("time of threads: not known, because not all CPUs were "
		      "recorded (perf record -a)\n",
		      stdout);
		rc = 1;
	} else if (!rc) {
		threads_print_sums(&th);
		threads_print_table(&th, limit);
	}
	wait_causes_free(th.causes);
	stacks_free(th.stacks);
	intern_release(&th.index);
	free(th.t);
	return rc;
}
