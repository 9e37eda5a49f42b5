/* cost.c - what recording a program costs and tells.
 *
 * How long a program took is what the clock says between its exec and its end:
 * without perf that of this process, else that of the records of both. So what
 * perf does before and after it is not in it. Turns are in the outer loop, so
 * that a machine that becomes slower meanwhile is so for all. */
#include "cli/record/cost.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/diffs/timings.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/output/grid.h"
#include "cli/output/say.h"
#include "cli/process/child.h"
#include "cli/process/signals.h"
#include "cli/record/last_recording.h"
#include "cli/record/plan.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

#define TURNS 5
#define SHORT_NS 1000000000 /* shorter programs are said to be short */
#define SAID 4096
/* As whole as the best way is one that lacks so much at most. */
#define AS_WHOLE 0.01

/* A way to record, and what all turns said about it. */
struct cost_way {
	const char *name;
	struct plan_wants want;
	struct plan plan;
	int64_t ns[TURNS];
	uint64_t bytes, events, lost;
	int64_t whole, all;
	double slower, low, high; /* of the time without perf; NaN: not known */
};

/* Records once, and adds what that said. turn -1: only for the size of dumps.
 */
static int cost_record(struct cost_way *w, int turn, struct err *err)
{
	char said[SAID] = "", *save;
	struct stat st;
	struct store *db OWNED_STORE = NULL;
	struct trust *t = NULL;
	struct rows *r;
	uint64_t lost = 0;
	bool unknown;
	int status = STATUS_OK;
	int rc = truncate(w->want.out, 0);

	if (!rc)
		rc = child_ask(w->plan.argv, said, sizeof(said));
	if (stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if (rc || stat(w->want.out, &st)) {
		for (char *line = strtok_r(said, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			say("%s\n", line);
		return err_set(
			err, ERR_IO,
			"perf or the program ended with status %d, which "
			"--cost needs to be 0; what they said is above",
			rc);
	}
	if (turn < 0)
		return 0;
	db = database_open(&(struct open_ask){ 0 }, w->want.out, &status, err);
	r = db ? rows_of(db, "path_program", err) : NULL;
	if (rows_step(r))
		w->ns[turn] = rows_int(r, PATH_PROGRAM_T1) -
			      rows_int(r, PATH_PROGRAM_T0);
	rc = r ? rows_end(r, err) : -1;
	if (!rc && w->ns[turn] <= 0)
		rc = err_set(err, ERR_FORMAT,
			     "%s: no record says when the program began and "
			     "ended",
			     w->name);
	r = rc ? NULL : rows_of(db, "record_events", err);
	if (rows_step(r))
		w->events += (uint64_t)rows_int(r, RECORD_EVENTS_N);
	rc = r ? rows_end(r, err) : -1;
	if (!rc && !(t = trust_read(db, &filter_none, err)))
		rc = -1;
	if (!rc)
		rc = loss_rows_sum(db, &lost, &unknown, err);
	if (!rc) {
		struct trust_counts c = trust_count(t);

		w->whole += c.whole;
		w->all += c.all;
		w->lost += lost;
		w->bytes += (uint64_t)st.st_size;
	}
	trust_free(t);
	return rc;
}

/* Makes the command line of a way. Returns 1; 0 if this kernel or perf has it
 * not; -1 and *err. */
static int cost_plan(struct cost_way *w, bool dry_run, struct err *err)
{
	struct last_recording last = { .cut = !dry_run };
	const char *graph = w->want.graph;
	int rc = plan_make(&w->plan, err);

	/* as large as the stacks of the program are, which only it shows */
	while (!rc && w->plan.dump && last.cut) {
		rc = cost_record(w, -1, err) ||
		     last_recording_read(w->want.out, NULL, false, &last, err);
		if (rc || !last.cut)
			break;
		w->want.dump = last.dump;
		w->want.megabytes = last.megabytes;
		plan_release(&w->plan);
		w->plan =
			(struct plan){ .want = &w->want, .code = w->plan.code };
		rc = plan_make(&w->plan, err);
	}
	return rc ? -1 : !graph || !strcmp(graph, w->plan.graph);
}

/* Compares times with those without perf, as 'diff' does those of several runs
 * of both sides. */
static void cost_judge(struct cost_way *w, const int64_t bare[TURNS])
{
	static const char *const key[TIMINGS_KEYS] = { "program", "" };
	struct timings t RELEASED_BY(timings_release) = { .all_kinds = true };

	for (int i = 0; i < 2 * TURNS; i++) {
		int64_t ns = i < TURNS ? bare[i] : w->ns[i - TURNS];

		timings_add_run(&t, i >= TURNS);
		t.run[i].from = 0;
		t.run[i].to = ns;
		timings_add(&t, key,
			    (struct timings_item){ .at = ns,
						   .least = ns,
						   .most = ns,
						   .proved = true });
	}
	timings_judge(&t);
	const struct timings_change *c = &t.row[0].of[TIMINGS_AVERAGE];

	w->slower = timings_growth(c);
	w->low = c->low - 1;
	w->high = c->high - 1;
}

/* Returns the command line with the file that a recording of its own is for, to
 * be freed. */
static char *cost_command(const struct cost_way *w, const char *out)
{
	for (size_t i = 0; w->plan.argv[i]; i++)
		if (w->plan.argv[i] == w->want.out)
			w->plan.argv[i] = out;
	return plan_text(&w->plan);
}

static double cost_whole(const struct cost_way *w)
{
	return w->all ? (double)w->whole / (double)w->all : 0;
}

/* Returns the way that costs least of those whose stacks are about as whole as
 * the best one's. Waits answer another question. */
static const struct cost_way *cost_take(const struct cost_way *way, size_t n)
{
	const struct cost_way *take = NULL;
	double best = 0;

	for (size_t i = 0; i < n; i++)
		if (!way[i].want.waits && cost_whole(&way[i]) > best)
			best = cost_whole(&way[i]);
	for (size_t i = 0; i < n; i++)
		if (!way[i].want.waits &&
		    cost_whole(&way[i]) >= best - AS_WHOLE &&
		    (!take || way[i].slower < take->slower))
			take = &way[i];
	return take;
}

static void cost_print(const struct cost_way *way, size_t n,
		       const int64_t bare[TURNS], const char *out, bool as_json)
{
	static const struct grid_column col[] = {
		{ "How", "how" },
		{ "Slower %", "slower_percent" },
		{ "From %", "slower_least_percent" },
		{ "To %", "slower_most_percent" },
		GRID_TWO("Bytes/s", "bytes_per_second"),
		{ "Whole %", "whole_percent" },
		{ "Lost %", "lost_percent" },
		{ "Stacks", "stacks" },
		{ NULL, "command" },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	const struct cost_way *take = cost_take(way, n);
	char *command OWNED = cost_command(take, out);
	int64_t took = 0;
	struct json j;

	for (int i = 0; i < TURNS; i++)
		took += bare[i] / TURNS;
	for (size_t i = 0; i < n; i++) {
		const struct cost_way *w = &way[i];
		char *own OWNED = cost_command(w, out);
		double ns = 0;

		for (int k = 0; k < TURNS; k++)
			ns += (double)w->ns[k];
		uint64_t rate = (uint64_t)((double)w->bytes / ns * 1e9);

		grid_text(g, w->name);
		grid_change(g, 100 * w->slower, false);
		grid_change(g, 100 * w->low, false);
		grid_change(g, 100 * w->high, false);
		grid_text(g, HUMAN_BYTES(rate));
		grid_number(g, rate);
		grid_percent(g, (uint64_t)w->whole, (uint64_t)w->all);
		grid_percent(g, w->lost, w->lost + w->events);
		grid_number(g, (uint64_t)w->all);
		grid_text(g, own);
	}
	if (as_json) {
		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "take", take->name);
		json_text(&j, "command", command);
		json_int(&j, "program_ns", took);
		json_uint(&j, "turns", TURNS);
		json_bool(&j, "short", took < SHORT_NS);
		json_break(&j);
		grid_json(g, &j, "rows");
		json_finish(&j);
	} else {
		printf("take %s: %s\n", take->name, command);
		printf("the program takes %s without perf, mean of %d; intervals "
		       "are of 95 %%%s\n\n",
		       HUMAN_NS(took), TURNS,
		       took < SHORT_NS
			       ? "; that is short, and little of it was "
				 "sampled: let it do more"
			       : "");
		grid_write(g, "table", stdout);
	}
}

int cost_measure(const struct plan_wants *want, const struct record_code *code,
		 const struct cost_opts *o, struct err *err)
{
	static const struct {
		const char *name, *graph;
		bool waits;
	} ways[] = {
		{ "frame pointers", "fp", false },
		{ "deferred stacks", "fp,defer", false },
		{ "stack dumps", "dwarf", false },
		{ "--waits --tracer perf", NULL, true },
	};
	struct cost_way way[ARRAY_SIZE(ways)] = { { .name = NULL } };
	const char **argv OWNED =
		mem_new((size_t)want->n_program + 1, sizeof(*argv));
	int64_t bare[TURNS];
	size_t n = 0, made = 0;
	FILE *f OWNED_FILE = tmpfile();
	char out[40];
	int rc = f ? 0 : err_set(err, ERR_IO, "no file can be made in /tmp");

	memcpy(argv, want->program, (size_t)want->n_program * sizeof(*argv));
	if (f)
		snprintf(out, sizeof(out), "/proc/%ld/fd/%d", (long)getpid(),
			 fileno(f));
	for (; !rc && made < ARRAY_SIZE(ways); made++) {
		struct cost_way *w = &way[n];

		w->name = ways[made].name;
		w->want = *want;
		w->want.graph = ways[made].graph;
		w->want.all = w->want.waits = ways[made].waits;
		w->want.dump =
			w->want.graph && *w->want.graph == 'd' ? want->dump : 0;
		w->want.out = out;
		w->plan = (struct plan){ .want = &w->want, .code = *code };
		rc = cost_plan(w, o->dry_run, err);
		if (!rc)
			plan_release(&w->plan);
		n += rc == 1;
		rc = rc < 0 ? -1 : 0;
	}
	for (size_t i = 0; !rc && o->dry_run && i < n; i++) {
		char *command OWNED = cost_command(&way[i], want->out);

		say("%s, %d times: %s\n", way[i].name, TURNS, command);
	}
	if (!rc && !o->dry_run)
		say("the program runs %zu times; nothing that it prints is "
		    "shown\n",
		    (n + 1) * TURNS);
	/* Each is as often the first of a turn, and begins when what the one
	 * before it has left to write, as 16 MB/s of dumps, is on the disk. */
	for (size_t run = 0; !rc && !o->dry_run && run < (n + 1) * TURNS;
	     run++) {
		const int turn = (int)(run / (n + 1));
		const size_t i = (run + (size_t)turn) % (n + 1);

		sync();
		if (i) {
			rc = cost_record(&way[i - 1], turn, err);
			continue;
		}
		int status = child_time(argv, &bare[turn]);

		if (status)
			rc = err_set(err, ERR_IO,
				     "'%s' ended with status %d, which --cost "
				     "needs to be 0; try it with its output, "
				     "and </dev/null",
				     want->program[0], status);
	}
	for (size_t i = 0; !rc && !o->dry_run && i < n; i++)
		cost_judge(&way[i], bare);
	if (!rc && !o->dry_run)
		cost_print(way, n, bare, want->out, o->json);
	for (size_t i = 0; i < n + (rc && n < ARRAY_SIZE(ways)); i++)
		plan_release(&way[i].plan);
	return rc;
}
