/* diff_times.c - what changed between two sides in times, not in samples. */
#include "cli/tables/diff_times.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/diffs/sides.h"
#include "analyze/diffs/timings.h"
#include "analyze/latency/calls.h"
#include "analyze/path/path_run.h"
#include "cli/args/status.h"
#include "cli/output/grid.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/tables/diff_limit.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "symbolize/symbolize.h"

/* The program's own time is the cause, and not its ready time, if the own time
 * grew by more than this part of what the ready time grew by. */
#define TIMES_OWN 0.4

struct times {
	const struct diff_times_opts *o;
	struct timed of;
	struct intern held[2]; /* see sides_hold() */
};

/* Reads the times of all runs. Returns 0, or -1 and *err. */
static int times_read(struct times *d, const struct sides *s, int *status,
		      struct err *err)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < s->side[side].n; i++) {
			const char *path = s->side[side].path[i];
			struct symbolizer *files = NULL;
			struct store *db OWNED_STORE = NULL;
			int rc = d->o->open(d->o->open_arg, path, &db, &files,
					    status, err);

			if (!rc)
				rc = sides_hold(&d->held[side], db, path, err);
			if (!rc)
				rc = timed_read(&d->of, side, db, path, err);
			symbolize_free(files);
			if (rc)
				return -1;
		}
	if (!d->of.t.n)
		return err_set(err, ERR_USAGE,
			       "%s: neither side has an interval that the "
			       "options select",
			       s->side[0].name);
	return 0;
}

/* Returns whether the time of a row may be spent without anything to do. */
static bool times_may_idle(const struct times *d, const struct timings_row *r)
{
	const char *kind = intern_get(&d->of.t.words, r->key[0]);
	const char *name = intern_get(&d->of.t.words, r->key[1]);
	bool either;

	if (!strcmp(kind, "timer-wait") || !strcmp(kind, "kvm") ||
	    (d->of.of_threads && !strcmp(kind, "in a timer")))
		return true;
	return !strcmp(kind, "syscall") && calls_wait(name, &either) && !either;
}

static bool times_is_ready(const struct times *d, const struct timings_row *r)
{
	return !strncmp(intern_get(&d->of.t.words, r->key[0]), "ready", 5);
}

/* Writes "syscall fsync", "lock in f", "computing by t, most of it in f". */
static void times_put_name(const struct times *d, const struct timings_row *r,
			   FILE *out)
{
	const char *const word[] = { intern_get(&d->of.t.words, r->key[0]),
				     intern_get(&d->of.t.words, r->key[1]),
				     intern_get(&d->of.t.words, r->key[2]),
				     intern_get(&d->of.t.words, r->mostly) };
	bool ready = times_is_ready(d, r);
	static const char *const second[] = { [TIMED_PAIRS] = " ",
					      [TIMED_WAITS] = " in ",
					      [TIMED_PARTS] = " by ",
					      [TIMED_SCHED] = " of " };
	const char *const before[] = {
		"",
		d->of.ask.by_waker ? " ended by " : second[d->of.ask.what],
		d->of.ask.what == TIMED_SCHED ? " by "
		: timed_is_lock(&d->of, r)    ? ", while others waited for the "
					      : " in ",
		r->share ? ready ? " while the CPU ran " : " in "
		: ready	 ? ", most of it while the CPU ran "
			 : ", most of it in ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		if (!*word[i])
			continue;
		fputs(before[i], out);
		safe_text_put(out, word[i], 0, 0);
	}
}

/* Writes "+12.50 % (95 %: +9.30 to +18.38 %)". */
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

/* Returns whether a measure of a row is proved to have grown, and may be a
 * cause. Waits behind other programs are one only if the average wait is longer
 * and those programs are shown to have more of the CPUs, not if the program
 * just waits more often. */
static bool times_grew(const struct times *d, const struct timings_row *r)
{
	struct timings_change others;

	if (!any_where(TIMINGS_MEASURES, m, r->of[m].change > 0))
		return false;
	if (!timed_is(&d->of, r, TIMED_BEHIND))
		return true;
	double each[2];

	for (int side = 0; side < 2; side++)
		each[side] = r->of[TIMINGS_TOTAL].size[side] *
			     (double)d->of.t.runs[side] / (double)r->n[side];
	if (each[1] <= each[0])
		return false;
	timings_find_run(&d->of.t, true, &others);
	return others.low > 1;
}

/* Returns how much more time a row has in B, in ns. */
static double times_more(const struct timings_row *r)
{
	return r->of[TIMINGS_TOTAL].size[1] - r->of[TIMINGS_TOTAL].size[0];
}

/* The same for all places in which a thread waited for one thing. What it
 * computed is one row, and is not to come before a wait that is in several. */
static double times_more_in_all(const struct times *d,
				const struct timings_row *r)
{
	double more = 0;

	if (!d->of.t.parts || r->share || timed_is_lock(&d->of, r))
		return times_more(r);
	for (size_t i = 0; i < d->of.t.n; i++) {
		const struct timings_row *q = &d->of.t.row[i];

		if (q->key[0] == r->key[0] && q->key[1] == r->key[1] &&
		    !q->share && !timed_is_lock(&d->of, q))
			more += times_more(q);
	}
	return more;
}

/* Returns the row with most time more in B, of those with a measure that grew;
 * if nothing did, the first that grew by its own interval, or likely grew;
 * NULL: none. Rows that may be idle count only if no others do. own: without
 * ready time and quotas. */
static const struct timings_row *times_slower_of(const struct times *d,
						 bool own)
{
	const struct timings_row *hint = NULL, *found = NULL;

	for (int idle = 0; idle < 2 && !found; idle++)
		for (size_t i = 0; i < d->of.t.n; i++) {
			const struct timings_row *r =
				&d->of.t.row[d->of.t.order[i]];
			const struct timings_change *c = &r->of[TIMINGS_TOTAL];

			if (!(times_more(r) > 0) ||
			    times_may_idle(d, r) != idle ||
			    (own && (times_is_ready(d, r) ||
				     timed_is(&d->of, r, TIMED_QUOTA))))
				continue;
			if (times_grew(d, r) &&
			    (!found || times_more_in_all(d, r) >
					       times_more_in_all(d, found)))
				found = r;
			if (!hint &&
			    (c->low > 1 || (c->hidden && d->of.t.parts)))
				hint = r;
		}
	return found ?: hint;
}

/* Returns whether a thread takes longer because it computes more, rather than
 * because it is ready for longer for each ns that it computes. Each effect is
 * the mean of both orders in which the two may have changed. */
static bool times_computes(const struct times *d, const struct timings_row *of)
{
	double run[2] = { 0 }, each[2] = { 0 };

	for (size_t i = 0; i < d->of.t.n; i++) {
		const struct timings_row *r = &d->of.t.row[i];

		for (int side = 0; side < 2; side++) {
			double ns = r->of[TIMINGS_TOTAL].size[side];

			if (r->key[1] != of->key[1] || r->share)
				continue;
			run[side] += timed_is(&d->of, r, path_doing(CHAIN_RUN))
					     ? ns
					     : 0;
			each[side] += times_is_ready(d, r) ? ns : 0;
		}
	}
	each[0] /= run[0];
	each[1] /= run[1];
	return run[0] > 0 && (run[1] - run[0]) * (2 + each[0] + each[1]) >
				     (each[1] - each[0]) * (run[0] + run[1]);
}

/* Returns the row to name as the cause; NULL: none. A program that computes
 * more waits longer for CPUs, too: its own time comes before ready time if it
 * is as sure, and large or computing that explains most of it, and before a
 * quota that held it in A, too. */
static const struct timings_row *times_slower(const struct times *d)
{
	const struct timings_row *r = times_slower_of(d, false);
	bool quota = r && timed_is(&d->of, r, TIMED_QUOTA);
	const struct timings_row *own;

	if (!r || !(quota ? r->n[0] > 0 : times_is_ready(d, r)))
		return r;
	own = times_slower_of(d, true);
	return own && times_grew(d, own) >= times_grew(d, r) &&
			       (quota ||
				times_more(own) > TIMES_OWN * times_more(r) ||
				(timed_is(&d->of, own, path_doing(CHAIN_RUN)) &&
				 own->key[1] == r->key[1] &&
				 times_computes(d, r)))
		       ? own
		       : r;
}

/* Returns how many records a side lost; UINT64_MAX: not known. */
static uint64_t times_lost(const struct times *d, int side)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->of.t.n_run; i++)
		if ((i >= d->of.t.runs[0]) == (side > 0))
			n = saturating_add(n, d->of.t.run[i].lost);
	return n;
}

/* Writes what made B slower, and on what that is based. */
static void times_tell(const struct times *d, FILE *out)
{
	static const char *const words[TIMINGS_MEASURES] = { "number",
							     "average", "p50",
							     "p99", "time" };
	const struct timings_row *r = times_slower(d);
	bool single = d->of.t.runs[0] == 1 && d->of.t.runs[1] == 1;
	const char *sep = ": ";
	bool slower = true; /* B is, or that is not known */

	if (d->of.ask.what == TIMED_PARTS) {
		/* "w took 3.00 s in B, 2.00 s in A, +50.00 % (95 %: +30.10 to
		 * +73.20 %), while other processes had 1.20 CPUs in B, 0.40 in
		 * A; " */
		struct timings_change took, others;

		timings_find_run(&d->of.t, false, &took);
		timings_find_run(&d->of.t, true, &others);
		safe_text_put(out, d->of.comm, 0, 0);
		fprintf(out, " took %s in B, ", HUMAN_NS(took.size[1]));
		fprintf(out, "%s in A", HUMAN_NS(took.size[0]));
		if (d->of.t.n_run > 2) {
			fputs(" on average, ", out);
			times_put_growth(&took, out);
			slower = took.low > 1;
		}
		if (!d->of.of_threads)
			fprintf(out,
				", while other processes had %.2f CPUs in B, "
				"%.2f in A",
				others.size[1], others.size[0]);
		fputs("; ", out);
	}
	bool proved = r && times_grew(d, r);
	if (!proved)
		fprintf(out, "nothing is proved to take longer in B%s",
			slower ? "" : ", nor B to be slower");
	if (r) {
		const struct timings_change *c = &r->of[TIMINGS_TOTAL];
		fputs(proved	   ? ""
		      : c->low > 1 ? "; by its own interval, which is one of "
				     "many, so that it may be chance, "
				   : "; if what is only likely is so, ",
		      out);
		fputs(d->of.t.parts ? "B has more of " : "B spends more in ",
		      out);
		times_put_name(d, r, out);
		if (d->of.of_threads && times_may_idle(d, r))
			fputs(", which may be idle", out);
		if (timed_is(&d->of, r, TIMED_QUOTA))
			fputs(", at most what the kernel counted for all its "
			      "threads",
			      out);
		fprintf(out, ", %s instead of ", HUMAN_NS(c->size[1]));
		fprintf(out, "%s each ", HUMAN_NS(c->size[0]));
		safe_text_put(out,
			      d->of.ask.per
				      ?: d->of.t.parts ? "run"
						       : "second",
			      0, 0);
		for (size_t m = 0; m < TIMINGS_MEASURES; m++) {
			if (proved ? !r->of[m].change : m != TIMINGS_TOTAL)
				continue;
			/* the times above show it */
			if (r->of[m].little && m == TIMINGS_TOTAL)
				continue;
			fprintf(out, "%s%s ", sep, words[m]);
			times_put_growth(&r->of[m], out);
			sep = ", ";
		}
	}
	const struct timings_row *behind = times_slower_of(d, false);
	if (behind != r && behind) {
		const struct timings_change *c = &behind->of[TIMINGS_TOTAL];

		fputs("; and of ", out);
		times_put_name(d, behind, out);
		fprintf(out, ", %s instead of ", HUMAN_NS(c->size[1]));
		fputs(HUMAN_NS(c->size[0]), out);
	}
	if (*d->of.comm && d->of.ask.what != TIMED_PARTS) {
		safe_text_say(out, "; of the program ", d->of.comm, "");
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
				"; %c lost %s, so that it may have more of "
				"anything",
				"AB"[side], HUMAN_NOUN(lost, "record"));
	}
}

#define TIMES_CHANGE(title, of)                                                \
	{ title, of "_percent" }, { "", of "_change" },                        \
		{ NULL, of "_low_percent" }, { NULL, of "_high_percent" },     \
	{                                                                      \
		NULL, of "_p"                                                  \
	}

static const struct grid_column times_columns[] = {
	GRID_TWO("A per s", "a_time_ns_per_s"),
	GRID_TWO("B per s", "b_time_ns_per_s"),
	TIMES_CHANGE("Change", "time"),
	{ "Count A", "a_per_s" },
	{ "Count B", "b_per_s" },
	TIMES_CHANGE("Change", "per_s"),
	GRID_TWO("Average A", "a_average_ns"),
	GRID_TWO("Average B", "b_average_ns"),
	TIMES_CHANGE("Change", "average"),
	GRID_TWO("p50 A", "a_p50_ns"),
	GRID_TWO("p50 B", "b_p50_ns"),
	TIMES_CHANGE(NULL, "p50"),
	GRID_TWO("p99 A", "a_p99_ns"),
	GRID_TWO("p99 B", "b_p99_ns"),
	TIMES_CHANGE(NULL, "p99"),
	GRID_TWO("Max A", "a_longest_ns"),
	GRID_TWO("Max B", "b_longest_ns"),
	{ NULL, "a_count" },
	{ NULL, "b_count" },
	{ NULL, "a_unproved" },
	{ NULL, "b_unproved" },
	{ NULL, "only_there" },
	{ NULL, "kind" },
	{ NULL, "name" },
	{ NULL, "where" },
	{ NULL, "mostly" },
};

/* The first column of keys. */
#define TIMES_KEY (ARRAY_SIZE(times_columns) - 4)

static const enum timings_measure times_shown[] = { TIMINGS_TOTAL, TIMINGS_RATE,
						    TIMINGS_AVERAGE,
						    TIMINGS_P50, TIMINGS_P99 };

static void times_add_ns(struct grid *g, double ns)
{
	grid_text(g, ns > 0 ? HUMAN_NS(ns) : "-");
	grid_real(g, ns, false);
}

/* Adds the cells of a row, in the order of times_columns[]. */
static void times_add_row(const struct times *d, struct grid *g,
			  const struct timings_row *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(times_shown); i++) {
		enum timings_measure m = times_shown[i];
		const struct timings_change *c = &r->of[m];
		bool both = c->size[0] > 0 && c->size[1] > 0 && !c->little;

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
		grid_text(g, intern_get(&d->of.t.words, r->key[i]));
	grid_text(g, intern_get(&d->of.t.words, r->mostly));
}

/* Columns that are left out where lines are narrow, the last one first. */
static const char *const times_spare[] = { "Count A", "Count B", "p99 A",
					   "p99 B",   "p50 A",	 "p50 B",
					   "Max A",   "Max B" };

/* Prints the sentence and the table, in the chosen format. */
static void times_print(const struct times *d, const struct sides *s)
{
	static const char *const title[][4] = {
		[TIMED_PAIRS] = { "Kind", "Name" },
		[TIMED_WAITS] = { "For", "In" },
		[TIMED_PARTS] = { "What", "By", "Where", "Mostly" },
		[TIMED_SCHED] = { "What", "Of", "By" },
	};
	struct grid_column col[ARRAY_SIZE(times_columns)];
	size_t n = d->of.t.n < d->o->limit ? d->of.t.n : d->o->limit;
	bool people = !strcmp(d->o->format, "table");
	size_t apart = 0;
	char *text OWNED = NULL;
	FILE *out = mem_stream(&text, NULL);

	memcpy(col, times_columns, sizeof(col));
	/* of parts only sums are judged */
	for (size_t i = 6; d->of.t.parts && i < TIMES_KEY; i++)
		col[i].title = NULL;
	if (d->of.t.parts || d->of.ask.per) {
		col[0].title = "A";
		col[2].title = "B";
	}
	for (size_t i = 0; i < 4; i++)
		col[TIMES_KEY + i].title = title[d->of.ask.what][i];
	if (d->of.ask.by_waker)
		col[TIMES_KEY + 1].title = "Ended by";
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	for (size_t i = 0; !d->of.t.parts && i < ARRAY_SIZE(times_spare); i++)
		grid_spare(g, times_spare[i]);
	times_tell(d, out);
	mem_stream_end(out);
	for (size_t i = 0; i < d->of.t.n; i++)
		apart += d->of.t.row[i].apart;
	/* people see all that changed, and then what cannot be compared */
	while (people && n < d->of.t.n &&
	       any_where(TIMINGS_MEASURES, m,
			 d->of.t.row[d->of.t.order[n]].of[m].change))
		n++;
	for (size_t i = 0; i < n; i++)
		times_add_row(d, g, &d->of.t.row[d->of.t.order[i]]);
	if (people) {
		term_wrap(stdout, text, 0, 0, term_columns(stdout));
		for (int side = 0; side < 2; side++) {
			printf("%c: ", "AB"[side]);
			safe_text_put(stdout, s->side[side].name, 0, 0);
			printf(", %s\n", HUMAN_NOUN(d->of.t.runs[side], "run"));
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
			/* what a comparison of samples has */
			for (size_t i = 0; i < ARRAY_SIZE(no_samples); i++)
				json_null(&j, no_samples[i]);
			json_uint(&j, "runs", d->of.t.runs[side]);
			json_uint(&j, "lost", lost == UINT64_MAX ? 0 : lost);
			json_bool(&j, "lost_unknown", lost == UINT64_MAX);
			json_end(&j);
		}
		json_break(&j);
		grid_json(g, &j, "rows");
		json_finish(&j);
	} else {
		grid_write(g, d->o->format, stdout);
		if (!strcmp(d->o->format, "sql"))
			diff_changed_view("time_change, per_s_change, "
					  "average_change, p50_change, "
					  "p99_change");
	}
	if (people && apart)
		printf("\n%zu row%s of what one side has nothing of, which may "
		       "not have been recorded there: last, and not compared\n",
		       apart, apart == 1 ? " is" : "s are");
	if (people && n < d->of.t.n)
		grid_say_rest(d->of.t.n - n, "row");
}

void diff_changed_view(const char *columns)
{
	static const char *const words[] = { "more", "less", "new", "gone" };

	fputs("DROP VIEW IF EXISTS changed;\n"
	      "CREATE VIEW changed AS SELECT * FROM result WHERE FALSE",
	      stdout);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		printf("\nOR '%s' IN (%s)", words[i], columns);
	fputs(";\n", stdout);
}

/* Prints what grew by more than is allowed, or why that cannot be judged.
 * Returns an enum status. */
static int times_check_limit(struct times *d, int status)
{
	struct diff_limit *l = d->o->fail;
	bool few = d->of.t.runs[0] < 2 || d->of.t.runs[1] < 2, hidden = false;
	bool grew = false, any = false;

	if (!l->above)
		return status;
	for (size_t i = 0; i < d->of.t.n; i++) {
		const struct timings_row *r = &d->of.t.row[i];
		const struct timings_change *most = NULL;
		char *name OWNED = NULL;
		FILE *out = mem_stream(&name, NULL);

		times_put_name(d, r, out);
		mem_stream_end(out);
		if (l->function && regexec(&l->functions, name, 0, NULL, 0))
			continue;
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
			diff_limit_add(l, name, 100 * timings_growth(most),
				       most->p);
			grew = true;
		}
	}
	status = diff_limit_end(l, status);
	if (grew || (any && !few && !hidden))
		return status;
	say("cannot be judged: %s\n",
	    !any  ? l->function ? "--function matches no row of both sides"
				: "the sides have nothing in common"
	    : few ? DIFF_LIMIT_FEW
		  : "what was lost may be what grew, or hide that it did; "
		    "record with larger buffers");
	return STATUS_UNJUDGED;
}

int diff_times(const struct sides *s, const struct diff_times_opts *o,
	       struct err *err)
{
	struct times d = { .o = o };
	int status = STATUS_OK;

	timed_begin(&d.of, &o->ask);
	int rc = times_read(&d, s, &status, err);
	if (!rc) {
		timings_judge(&d.of.t);
		times_print(&d, s);
		status = times_check_limit(&d, status);
	}
	timings_release(&d.of.t);
	intern_release(&d.held[0]);
	intern_release(&d.held[1]);
	return rc ? -1 : status;
}

struct diff_parts {
	struct times d;
	bool none; /* a run has no such time */
};

struct diff_parts *diff_parts_new(const struct filter *filter,
				  struct name_opts names)
{
	const struct timed_ask ask = { .what = TIMED_PARTS,
				       .filter = filter,
				       .names = names };
	struct diff_parts *p = mem_new(1, sizeof(*p));

	timed_begin(&p->d.of, &ask);
	return p;
}

void diff_parts_add(void *arg, int side, struct store *db, const char *path)
{
	struct diff_parts *p = arg;
	const struct filter *f = p->d.of.ask.filter;
	bool all = !f->comm && !f->tid && !f->pid;
	struct err err = { 0 };

	p->none = p->none ||
		  (all && (filter_given(f) || !timed_has_parts(db))) ||
		  timed_read(&p->d.of, side, db, path, &err);
}

const struct timed *diff_parts_timed(const struct diff_parts *p)
{
	return &p->d.of;
}

char *diff_parts_sentence(struct diff_parts *p)
{
	char *text;
	FILE *out;

	if (p->none || !p->d.of.t.n)
		return NULL;
	out = mem_stream(&text, NULL);
	timings_judge(&p->d.of.t);
	times_tell(&p->d, out);
	mem_stream_end(out);
	return text;
}

void diff_parts_free(struct diff_parts *p)
{
	if (p)
		timings_release(&p->d.of.t);
	free(p);
}
