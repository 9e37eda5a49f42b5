/* diff_times.c - what changed between two sides in times that are no samples.
 */
#include "cli/tables/diff_times.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/causes/wait_cause.h"
#include "analyze/diffs/sides.h"
#include "analyze/diffs/timings.h"
#include "analyze/latency/calls.h"
#include "analyze/latency/intervals.h"
#include "analyze/path/latency_sched.h"
#include "analyze/path/path_run.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_rows.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/waits.h"
#include "cli/args/status.h"
#include "cli/output/grid.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/tables/diff_limit.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "symbolize/symbolize.h"

/* By how much pairs of events, and waits, vary from run to run where other
 * programs use the machine: waits for a CPU or a lock by any factor up to
 * fifty, as was measured. */
#define BETWEEN 0.3
#define BETWEEN_WAITS 1.0
/* Parts of a run may be put down to another thread in the next one. */
#define BETWEEN_PARTS 2.0

struct times {
	const struct diff_times_opts *o;
	struct timings t;
	/* of the run that is read */
	struct intervals *iv;
	int64_t from, to; /* --time, or when the program ran */
	struct filter filter;
	char pid[24], comm[64]; /* of the program; comm "": all threads */
};

/* ---- reading */

static void times_take(struct times *d, const struct interval *i,
		       const char *kind, const char *name,
		       const struct intervals_thread *t)
{
	const struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int64_t at = i->begin != INTERVAL_NEVER ? i->begin : i->end;
	struct interval_range range;

	if (at < d->from || at >= d->to || i->verdict == INTERVAL_CANCELLED ||
	    !filter_takes_thread(&d->filter, t->pid, t->tid, t->comm) ||
	    (d->filter.cpu && !filter_takes_cpu(&d->filter, i->cpu)))
		return;
	range = interval_range(i, run->from, run->to);
	timings_add(&d->t, (const char *const[]){ kind, name },
		    (struct timings_item){
			    .at = i->end != INTERVAL_NEVER ? i->end : at,
			    .least = range.least,
			    .most = range.most,
			    .proved = i->verdict == INTERVAL_PROVED,
			    .cut = i->verdict == INTERVAL_BEFORE ||
				   i->verdict == INTERVAL_UNFINISHED });
}

static void times_take_interval(void *arg, const struct interval *i)
{
	struct times *d = arg;
	struct timings_run *run = &d->t.run[d->t.n_run - 1];

	run->from = d->iv->sums.first;
	run->to = d->iv->sums.last;
	times_take(d, i, d->iv->pair[i->pair].kind->word,
		   intern_get(&d->iv->names, i->name),
		   intervals_thread(d->iv, i->thread));
}

static void times_take_sched(void *arg, const struct interval *i,
			     const char *kind, const char *name,
			     const struct intervals_thread *t)
{
	times_take(arg, i, kind, name, t);
}

/* Reads the times of the scheduler of one run. */
static int times_read_sched(struct times *d, struct store *db, const char *path,
			    struct err *err)
{
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	struct latency_sched *s = latency_sched_open(db, path, err);

	if (!s)
		return -1;
	latency_sched_span(s, &run->from, &run->to);
	latency_sched_each(s, d->o->kind, times_take_sched, d);
	latency_sched_close(s);
	return 0;
}

/* Reads the pairs of events of one run. */
static int times_read_pairs(struct times *d, struct store *db, const char *path,
			    struct err *err)
{
	const struct intervals_ask ask = { .kind = d->o->kind, .any = true };
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int rc = -1;

	d->iv = intervals_open(db, path, &ask, err);
	if (d->iv)
		rc = intervals_each(d->iv, times_take_interval, d, err);
	if (!rc) {
		run->from = d->iv->sums.first;
		run->to = d->iv->sums.last;
	}
	intervals_close(d->iv);
	d->iv = NULL;
	return rc;
}

/* Adds a wait: what it was for, and where, or who ended it. */
static void times_take_wait(struct times *d, struct stacks *st,
			    struct wait_causes *causes, struct labels *labels,
			    const struct offcpu_wait *w)
{
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	const struct wait_place p = wait_causes_place(causes, &w->at);
	const char *shown = wait_causes_in(causes, &p);
	const char *in = p.has_in ? label_shown(labels_get(labels, p.in)) : "";
	char *place =
		p.has_caller && shown == in
			? mem_printf("%s <- %s", shown,
				     label_shown(labels_get(labels, p.caller)))
			: mem_strdup(shown);
	const char *waker = waker_is_known(&w->waker)
				    ? waker_name(st, &w->waker)
				    : "not known";
	const char *cause = wait_cause_word(offcpu_cause(causes, w));
	const char *const key[TIMINGS_KEYS] = {
		*cause ? cause : "a cause that is not known",
		d->o->by_waker ? waker : place
	};

	if (w->from < d->from || w->from >= d->to)
		goto out;
	/* of a sum of waits nobody knows when they were, or how many */
	if (!w->sum && w->from < w->to) {
		lower_to(run->from, w->from);
		raise_to(run->to, w->to);
		timings_add(&d->t, key,
			    (struct timings_item){
				    .at = w->to,
				    .least = w->end == OFFCPU_UNCERTAIN
						     ? 0
						     : w->to - w->from,
				    .most = w->to - w->from,
				    .proved = w->end == OFFCPU_BACK,
				    .cut = w->end == OFFCPU_OPEN });
	}
out:
	free(place);
}

/* Reads the waits of one run. */
static int times_read_waits(struct times *d, struct store *db, const char *path,
			    struct err *err)
{
	struct labels *labels = labels_new();
	const struct stacks_opts so = { .filter = &d->filter,
					.names = d->o->names,
					.gaps = true,
					.labels = labels,
					.no_groups = true };
	struct stacks *st = stacks_load(db, &so, err);
	int rc = -1;

	if (st) {
		labels_shorten(labels, &d->o->names);
		struct wait_causes *causes = wait_causes_new(st);
		const struct waits_ask ask = { .filter = &d->filter,
					       .stacks = st,
					       .causes = causes };
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;

		while ((rc = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				times_take_wait(d, st, causes, labels,
						&item.wait);
		waits_close(w, NULL);
		wait_causes_free(causes);
	}
	stacks_free(st);
	labels_free(labels);
	return rc;
}

/* Reads the parts of the time of the program with which a run began: who did
 * what while its first thread ran, or waited, as the chain of path has it. */
static int times_read_program(struct times *d, struct store *db,
			      const char *path, struct err *err)
{
	const struct path_ask all = { .tid = -1, .pid = -1 };
	struct path_run r = { .ask = &all };
	struct path_program p;
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	struct chain c = { 0 };
	int rc = path_open(&r, db, path, err);

	if (!rc)
		rc = path_program_find(&r, &p, err);
	if (!rc && p.pid < 0)
		rc = err_set(err, ERR_USAGE,
			     "%s: did not begin with a program; 'backstitch "
			     "record --waits PROGRAM' does",
			     path);
	if (!rc) {
		run->from = p.from;
		run->to = p.to;
		snprintf(d->comm, sizeof(d->comm), "%s",
			 path_comm(&r, p.thread));
		path_chain(&r, p.thread, p.from, p.to, &c);
	}
	for (size_t i = 0; !rc && i < c.n; i++) {
		const struct chain_segment *g = &c.segment[i];
		bool proved = g->proof == PROOF_PROVED;

		timings_add(&d->t,
			    (const char *const[]){
				    path_doing(g->state),
				    g->thread == p.thread
					    ? "itself"
					    : path_comm(&r, g->thread) },
			    (struct timings_item){
				    .at = g->to,
				    .least = proved ? g->to - g->from : 0,
				    .most = g->to - g->from,
				    .proved = proved });
	}
	chain_release(&c);
	path_close(&r);
	return rc;
}

/* Chooses the threads of a run: those of the program with which it began, from
 * its start to its end, unless others are asked for. Returns 0, or -1 and *err.
 */
static int times_choose(struct times *d, struct store *db, const char *path,
			struct err *err)
{
	const struct filter *f = d->o->filter;
	int rc = filter_window(f, db, &d->from, &d->to, err);
	bool first = d->t.n_run == 1;
	struct rows *q;
	bool found;

	d->filter = *f;
	if (rc || d->o->all || f->pid || f->tid || f->comm || f->time || f->cpu)
		return rc;
	q = rows_of(db, "path_program", err);
	found = rows_step(q);
	if (found) {
		snprintf(d->pid, sizeof(d->pid), "%" PRId64,
			 rows_int(q, PATH_PROGRAM_PID));
		if (first)
			snprintf(d->comm, sizeof(d->comm), "%s",
				 rows_text(q, PATH_PROGRAM_NAME));
		d->from = rows_int(q, PATH_PROGRAM_T0);
		d->to = rows_int_or(q, PATH_PROGRAM_T1, INT64_MAX);
		d->filter.pid = d->pid;
	}
	rc = rows_end(q, err);
	if (!rc && !first && found != (*d->comm != '\0'))
		return err_set(err, ERR_USAGE,
			       "%s: %s with a program, as the first one %s; "
			       "choose threads with --all, --comm or --pid",
			       path, found ? "began" : "did not begin",
			       found ? "did not" : "did");
	return rc;
}

/* Says when what a run has of the threads that are chosen begins and ends. */
static void times_clip(struct times *d)
{
	struct timings_run *run = &d->t.run[d->t.n_run - 1];

	raise_to(run->from, d->from);
	lower_to(run->to, d->to);
}

static int times_read(struct times *d, const struct sides *s, int *status,
		      struct err *err)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < s->side[side].n; i++) {
			const char *path = s->side[side].path[i];
			struct symbolizer *files = NULL;
			struct store *db = NULL;
			int rc = d->o->open(d->o->open_arg, path, &db, &files,
					    status, err);

			bool unknown;

			timings_add_run(&d->t, side);
			if (!rc)
				rc = loss_rows_sum(
					db, &d->t.run[d->t.n_run - 1].lost,
					&unknown, err);
			if (!rc && unknown)
				d->t.run[d->t.n_run - 1].lost = UINT64_MAX;
			if (!rc && d->o->wall)
				rc = times_read_program(d, db, path, err);
			else if (!rc)
				rc = times_choose(d, db, path, err);
			if (!rc && d->o->off_cpu)
				rc = times_read_waits(d, db, path, err);
			else if (!rc && d->o->kind &&
				 latency_sched_has(d->o->kind))
				rc = times_read_sched(d, db, path, err);
			else if (!rc && !d->o->wall)
				rc = times_read_pairs(d, db, path, err);
			if (!d->o->wall)
				times_clip(d);
			symbolize_free(files);
			store_close(db);
			if (rc)
				return -1;
		}
	if (!d->t.n)
		return err_set(err, ERR_USAGE,
			       "%s: neither side has an interval that the "
			       "options select",
			       s->side[0].name);
	return 0;
}

/* ---- sentences */

/* Returns whether a row may be of time in which nobody asked for anything. */
static bool times_may_idle(const struct times *d, const struct timings_row *r)
{
	const char *kind = intern_get(&d->t.words, r->key[0]);
	const char *name = intern_get(&d->t.words, r->key[1]);
	bool either;

	if (!strcmp(kind, "timer-wait") || !strcmp(kind, "kvm"))
		return true;
	return !strcmp(kind, "syscall") && calls_wait(name, &either) && !either;
}

/* "syscall fsync", "lock in f", "lock ended by t". */
static void times_put_name(const struct times *d, const struct timings_row *r,
			   FILE *out)
{
	const char *const before[TIMINGS_KEYS] = { "", d->o->wall	? " by "
						       : !d->o->off_cpu ? " "
						       : d->o->by_waker
							       ? " ended by "
							       : " in " };

	for (size_t i = 0; i < TIMINGS_KEYS; i++) {
		const char *word = intern_get(&d->t.words, r->key[i]);

		if (!*word)
			continue;
		fputs(before[i], out);
		safe_text_put(out, word, 0, 0);
	}
}

/* "+12.50 % (95 %: +9.30 to +18.38 %)" */
static void times_put_growth(const struct timings_change *c, FILE *out)
{
	if (!(c->size[0] > 0)) {
		fputs("none in A", out);
		return;
	}
	fprintf(out, "%+.2f %%", 100 * timings_growth(c));
	if (isnan(c->low))
		return;
	fprintf(out, " (95 %%: %+.2f to ", 100 * (c->low - 1));
	if (isinf(c->high))
		fputs("any)", out);
	else
		fprintf(out, "%+.2f %%)", 100 * (c->high - 1));
}

/* Returns the row that most time more is in, and has a measure that grew;
 * NULL: none. What may be idle is one only where nothing else is. */
static const struct timings_row *times_slower(const struct times *d)
{
	for (int idle = 0; idle < 2; idle++)
		for (size_t i = 0; i < d->t.n; i++) {
			const struct timings_row *r = &d->t.row[d->t.order[i]];
			const struct timings_change *c = &r->of[TIMINGS_TOTAL];

			if (c->size[1] > c->size[0] &&
			    times_may_idle(d, r) == idle &&
			    any_where(TIMINGS_MEASURES, m, r->of[m].change > 0))
				return r;
		}
	return NULL;
}

static uint64_t times_lost(const struct times *d, int side)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->t.n_run; i++)
		if ((i >= d->t.runs[0]) == (side > 0))
			n = saturating_add(n, d->t.run[i].lost);
	return n;
}

/* "w took 3.00 s in B, 2.00 s in A; " */
static void times_tell_program(const struct times *d, FILE *out)
{
	double took[2] = { 0 };

	for (size_t i = 0; i < d->t.n_run; i++)
		took[i >= d->t.runs[0]] +=
			(double)d->t.run[i].to - (double)d->t.run[i].from;
	safe_text_put(out, d->comm, 0, 0);
	fprintf(out, " took %s in B, ",
		HUMAN_NS(took[1] / (double)d->t.runs[1]));
	fprintf(out, "%s in A", HUMAN_NS(took[0] / (double)d->t.runs[0]));
	fputs(d->t.n_run > 2 ? " on average; " : "; ", out);
}

/* What made it slower, and on what that rests. */
static void times_tell(const struct times *d, FILE *out)
{
	static const char *const words[TIMINGS_MEASURES] = { "number",
							     "average", "p50",
							     "p99", "time" };
	const struct timings_row *r = times_slower(d);
	bool single = d->t.runs[0] == 1 && d->t.runs[1] == 1;
	const char *sep = ": ";
	const struct timings_change *c;

	if (d->o->wall)
		times_tell_program(d, out);
	if (!r) {
		fputs("nothing is proved to take longer in B", out);
	} else {
		c = &r->of[TIMINGS_TOTAL];
		fputs(d->o->wall ? "B has more of " : "B spends more in ", out);
		times_put_name(d, r, out);
		fprintf(out, ", %s instead of ", HUMAN_NS(c->size[1]));
		fprintf(out, "%s each %s", HUMAN_NS(c->size[0]),
			d->t.parts ? "run" : "second");
		for (size_t m = 0; m < TIMINGS_MEASURES; m++) {
			if (!r->of[m].change)
				continue;
			fprintf(out, "%s%s ", sep, words[m]);
			times_put_growth(&r->of[m], out);
			sep = ", ";
		}
	}
	if (*d->comm && !d->o->wall) {
		fputs("; of the program ", out);
		safe_text_put(out, d->comm, 0, 0);
		fputs(" with which each recording began ('--all' has all "
		      "threads)",
		      out);
	}
	fputs("; intervals are ", out);
	fputs(single ? "of blocks of time of one run a side, which tell little "
		       "of other runs"
		     : "by runs",
	      out);
	for (int side = 0; side < 2; side++) {
		uint64_t lost = times_lost(d, side);

		if (lost == UINT64_MAX)
			fprintf(out,
				"; %c lost an unknown number of records, so "
				"that it may have more of anything",
				"AB"[side]);
		else if (lost)
			fprintf(out,
				"; %c lost %s record%s, so that it may have more "
				"of anything",
				"AB"[side], HUMAN_GROUPED(lost),
				lost == 1 ? "" : "s");
	}
}

/* ---- the table */

static const struct grid_column times_columns[] = {
	{ "A per s", NULL },
	{ NULL, "a_time_ns_per_s" },
	{ "B per s", NULL },
	{ NULL, "b_time_ns_per_s" },
	{ "Change", "time_percent" },
	{ "", "time_change" },
	{ NULL, "time_low_percent" },
	{ NULL, "time_high_percent" },
	{ NULL, "time_p" },
	{ "Count A", "a_per_s" },
	{ "Count B", "b_per_s" },
	{ "Change", "per_s_percent" },
	{ "", "per_s_change" },
	{ NULL, "per_s_low_percent" },
	{ NULL, "per_s_high_percent" },
	{ NULL, "per_s_p" },
	{ "Average A", NULL },
	{ NULL, "a_average_ns" },
	{ "Average B", NULL },
	{ NULL, "b_average_ns" },
	{ "Change", "average_percent" },
	{ "", "average_change" },
	{ NULL, "average_low_percent" },
	{ NULL, "average_high_percent" },
	{ NULL, "average_p" },
	{ "p50 A", NULL },
	{ NULL, "a_p50_ns" },
	{ "p50 B", NULL },
	{ NULL, "b_p50_ns" },
	{ NULL, "p50_percent" },
	{ "", "p50_change" },
	{ NULL, "p50_low_percent" },
	{ NULL, "p50_high_percent" },
	{ NULL, "p50_p" },
	{ "p99 A", NULL },
	{ NULL, "a_p99_ns" },
	{ "p99 B", NULL },
	{ NULL, "b_p99_ns" },
	{ NULL, "p99_percent" },
	{ "", "p99_change" },
	{ NULL, "p99_low_percent" },
	{ NULL, "p99_high_percent" },
	{ NULL, "p99_p" },
	{ "Max A", NULL },
	{ NULL, "a_longest_ns" },
	{ "Max B", NULL },
	{ NULL, "b_longest_ns" },
	{ NULL, "a_count" },
	{ NULL, "b_count" },
	{ NULL, "a_unproved" },
	{ NULL, "b_unproved" },
	{ NULL, "only_there" },
	{ "Kind", "kind" },
	{ "Name", "name" },
};

static const enum timings_measure times_shown[] = { TIMINGS_TOTAL, TIMINGS_RATE,
						    TIMINGS_AVERAGE,
						    TIMINGS_P50, TIMINGS_P99 };

static void times_add_ns(struct grid *g, double ns)
{
	grid_text(g, ns > 0 ? HUMAN_NS(ns) : "-");
	grid_real(g, ns, false);
}

static void times_add_row(const struct times *d, struct grid *g,
			  const struct timings_row *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(times_shown); i++) {
		enum timings_measure m = times_shown[i];
		const struct timings_change *c = &r->of[m];
		bool both = c->size[0] > 0 && c->size[1] > 0;

		for (int side = 0; side < 2; side++)
			if (m == TIMINGS_RATE)
				grid_real(g, c->size[side], false);
			else
				times_add_ns(g, c->size[side]);
		if (both)
			grid_change(g, 100 * timings_growth(c), false);
		else
			grid_real(g, NAN, false);
		grid_text(g, c->change > 0   ? "more"
			     : c->change < 0 ? "less"
					     : "");
		grid_real(g, 100 * (c->low - 1), false);
		grid_real(g, isinf(c->high) ? NAN : 100 * (c->high - 1), false);
		grid_chance(g, c->p);
	}
	for (int side = 0; side < 2; side++)
		times_add_ns(g, r->longest[side]);
	for (int side = 0; side < 2; side++)
		grid_number(g, r->n[side]);
	for (int side = 0; side < 2; side++)
		grid_number(g, r->unproved[side]);
	grid_text(g, !r->apart ? "" : r->n[0] ? "A" : "B");
	for (size_t i = 0; i < TIMINGS_KEYS; i++)
		grid_text(g, intern_get(&d->t.words, r->key[i]));
}

/* In which order columns go where lines are narrow, the last one first. */
static const char *const times_spare[] = { "Count A", "Count B", "p99 A",
					   "p99 B",   "p50 A",	 "p50 B",
					   "Max A",   "Max B" };

static void times_print(const struct times *d, const struct sides *s)
{
	struct grid_column col[ARRAY_SIZE(times_columns)];
	size_t n = d->t.n < d->o->limit ? d->t.n : d->o->limit;
	bool people = !strcmp(d->o->format, "table");
	size_t apart = 0;
	struct grid *g;
	char *text;
	FILE *out = mem_stream(&text, NULL);

	memcpy(col, times_columns, sizeof(col));
	if (d->o->wall) {
		/* only sums are judged */
		for (size_t i = 6; i + 2 < ARRAY_SIZE(col); i++)
			col[i].title = NULL;
		col[0].title = "A";
		col[2].title = "B";
		col[ARRAY_SIZE(col) - 2].title = "What";
		col[ARRAY_SIZE(col) - 1].title = "By";
	}
	if (d->o->off_cpu) {
		col[ARRAY_SIZE(col) - 2].title = "For";
		col[ARRAY_SIZE(col) - 1].title =
			d->o->by_waker ? "Ended by" : "In";
	}
	g = grid_new(col, ARRAY_SIZE(col));
	for (size_t i = 0; !d->o->wall && i < ARRAY_SIZE(times_spare); i++)
		grid_spare(g, times_spare[i]);
	times_tell(d, out);
	mem_stream_end(out);
	for (size_t i = 0; i < d->t.n; i++)
		apart += d->t.row[i].apart;
	/* people see all that changed, and then what cannot be compared */
	while (people && n < d->t.n &&
	       any_where(TIMINGS_MEASURES, m,
			 d->t.row[d->t.order[n]].of[m].change))
		n++;
	for (size_t i = 0; i < n; i++)
		times_add_row(d, g, &d->t.row[d->t.order[i]]);
	if (people) {
		term_wrap(stdout, text, 0, 0, term_columns(stdout));
		for (int side = 0; side < 2; side++) {
			printf("%c: ", "AB"[side]);
			safe_text_put(stdout, s->side[side].name, 0, 0);
			printf(", %zu run%s\n", d->t.runs[side],
			       d->t.runs[side] == 1 ? "" : "s");
		}
		putchar('\n');
	}
	if (!strcmp(d->o->format, "json")) {
		static const char *const no_samples[] = { "capture", "event",
							  "samples", "weight",
							  "user_stacks" };
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "says", text);
		for (int side = 0; side < 2; side++) {
			uint64_t lost = times_lost(d, side);

			json_object(&j, side ? "b" : "a");
			json_text(&j, "name", s->side[side].name);
			/* what samples have */
			for (size_t i = 0; i < ARRAY_SIZE(no_samples); i++)
				json_null(&j, no_samples[i]);
			json_uint(&j, "runs", d->t.runs[side]);
			json_uint(&j, "lost", lost == UINT64_MAX ? 0 : lost);
			json_bool(&j, "lost_unknown", lost == UINT64_MAX);
			json_end(&j);
		}
		json_break(&j);
		grid_json(g, &j, "rows");
		json_finish(&j);
	} else {
		grid_write(g, d->o->format, stdout);
	}
	if (people && apart)
		printf("\n%zu row%s of what one side has nothing of, which may "
		       "not have been recorded there: last, and not compared\n",
		       apart, apart == 1 ? " is" : "s are");
	if (people && n < d->t.n)
		grid_say_rest(d->t.n - n, "row");
	grid_free(g);
	free(text);
}

/* Says what grew by more than is allowed, or why that cannot be told. Returns
 * an enum status. */
static int times_check_limit(struct times *d, int status)
{
	struct diff_limit *l = d->o->fail;
	bool few = d->t.runs[0] < 2 || d->t.runs[1] < 2, hidden = false;
	bool grew = false, any = false;

	if (!l->above)
		return status;
	for (size_t i = 0; i < d->t.n; i++) {
		const struct timings_row *r = &d->t.row[i];
		const struct timings_change *most = NULL;

		any |= !r->apart;
		for (size_t m = 0; m < TIMINGS_MEASURES; m++) {
			const struct timings_change *c = &r->of[m];
			double growth = c->size[0] > 0 ? 100 * timings_growth(c)
						       : INFINITY;

			if (!(growth > l->percent))
				continue;
			hidden |= c->hidden;
			if (c->change > 0 &&
			    (!most || timings_growth(c) > timings_growth(most)))
				most = c;
		}
		if (most) {
			char *name;
			FILE *out = mem_stream(&name, NULL);

			times_put_name(d, r, out);
			mem_stream_end(out);
			diff_limit_add(l, name, 100 * timings_growth(most),
				       most->p);
			free(name);
			grew = true;
		}
	}
	status = diff_limit_end(l, status);
	if (grew || (any && !few && !hidden))
		return status;
	say("cannot be judged: %s\n",
	    !any  ? "the sides have nothing in common"
	    : few ? "one run of a side does not tell what runs differ by; "
		    "give several of each, 'A... -- B...'"
		  : "what was lost may be what grew, or hide that it did; "
		    "record with larger buffers");
	return STATUS_UNJUDGED;
}

int diff_times(const struct sides *s, const struct diff_times_opts *o,
	       struct err *err)
{
	struct times d = { .o = o,
			   .t = { .between = o->wall	  ? BETWEEN_PARTS
					     : o->off_cpu ? BETWEEN_WAITS
							  : BETWEEN,
				  .parts = o->wall,
				  .all_kinds = o->wall || o->off_cpu } };
	int status = STATUS_OK;
	int rc = times_read(&d, s, &status, err);

	if (!rc) {
		timings_judge(&d.t);
		times_print(&d, s);
		status = times_check_limit(&d, status);
	}
	timings_release(&d.t);
	return rc ? -1 : status;
}
