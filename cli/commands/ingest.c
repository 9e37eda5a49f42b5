/* ingest.c - the command that makes a database from captures. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/ingest/name.h"
#include "cli/open/input.h"
#include "cli/ingest/load.h"
#include "cli/tables/summary.h"
#include "cli/output/grid.h"
#include "stitch/text/safe_text.h"
#include "stitch/text/human.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/now.h"
#include "stitch/base/thread.h"

static const char *output;
static bool force, quiet, json, timing;

static const struct opt opts[] = {
	OPT_HEADING("Output"),
	OPT_STRING('o', "output", "DB", &output,
		   "the database to make (default: the capture's name with "
		   ".db, next to it)"),
	OPT_FLAG('f', "force", &force, "replace an existing database"),
	OPT_FLAG('q', "quiet", &quiet, "no summary"),
	OPT_FLAG(0, "json", &json,
		 "print the summary as JSON on standard output, as info does"),
	OPT_FLAG(0, "timing", &timing,
		 "print what each thread did: how long it worked and waited, "
		 "and how much of its work was used"),
	OPT_GROUP(align_opts),
	OPT_GROUP(load_opts),
	{ .kind = OPT_END }
};

/* Adds a row with the times of a kind of threads, in ms. */
static void timing_row(struct grid *g, const struct thread_work *w)
{
	char used[64] = "";

	if (w->of)
		snprintf(used, sizeof(used), "%s of %s %s",
			 HUMAN_PERCENT(w->used, w->of), HUMAN_GROUPED(w->of),
			 w->unit);
	grid_text(g, w->kind);
	grid_number(g, w->threads);
	grid_real(g, (double)w->busy / 1e6, false);
	grid_real(g, (double)(w->lived - w->busy) / 1e6, false);
	grid_text(g, used);
}

/* Prints the summary, if any. Returns an enum status, or -1 and *err. */
static int ingest_finish(const struct load_ask *ask, bool damaged,
			 struct err *err)
{
	const int done = damaged ? STATUS_DAMAGED : STATUS_OK;
	char more[NAME_NOT_GIVEN];

	/* opening it is a third of the work for a small capture */
	if (quiet && !json)
		return done;
	struct store *db OWNED_STORE = store_open(ask->out, err);

	if (!db)
		return -1;
	const struct summary_more how = { "symbolize",
					  name_not_given(&ask->name, more) };

	return (json ? summary_json(stdout, db, err)
		     : summary_print(stderr, db, ask->out, true, how, err))
		       ? -1
		       : done;
}

static int ingest_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	char buf[PATH_MAX];
	const char *out = output;
	struct store *db;
	bool damaged = false;
	const int64_t began = now_ns();

	if (!argc)
		return err_set(err, ERR_USAGE,
			       "which capture? 'perf.data' is what perf "
			       "record makes, '-' is standard input");
	if (!out)
		out = input_database_name(argv[0], buf, sizeof(buf));
	if (!*out || !strcmp(out, "-"))
		return err_set(err, ERR_USAGE,
			       "a database is a file; -o needs its name");
	int from_stdin = 0;

	for (int i = 0; i < argc; i++) {
		bool is_db = false;

		if (load_check(argv[i], &is_db, err))
			return -1;
		if (is_db) {
			char *word OWNED = safe_text_word(argv[i]);

			return err_set(err, ERR_USAGE,
				       "%s: this is a database already; look "
				       "into it with 'backstitch info %s'",
				       argv[i], word);
		}
		from_stdin += !strcmp(argv[i], "-");
		if (input_apart(argv[i], out, err))
			return -1;
	}
	if (from_stdin > 1)
		return err_set(err, ERR_USAGE,
			       "standard input can be read only once");
	ask.load.out = out;
	ask.load.force = force;
	if (load_captures(argv, (size_t)argc, &ask.load, &db, &damaged, err)) {
		if (err->code == ERR_BUNDLE)
			err->code = ERR_USAGE;
		return -1;
	}
	if (timing) {
		static const struct grid_column col[] = {
			{ "Thread", "thread" },
			{ "Number", "number" },
			{ "Busy ms", "busy_ms" },
			{ "Waiting ms", "waiting_ms" },
			{ "Used of it", "used" },
		};
		struct grid *g OWNED_GRID = grid_new(col, 5);
		struct thread_work w[THREAD_KINDS];
		const size_t n = thread_works(w);
		const struct thread_work main = {
			.kind = "main",
			.threads = 1,
			.busy = now_of(CLOCK_THREAD_CPUTIME_ID),
			.lived = now_ns() - began,
		};

		timing_row(g, &main);
		for (size_t k = 0; k < n; k++)
			timing_row(g, &w[k]);
		grid_write(g, "table", stderr);
	}
	return ingest_finish(&ask.load, damaged, err);
}

const struct command cmd_ingest = {
	.name = "ingest",
	.args = "[options] CAPTURE...",
	.summary = "read captures into a database",
	.examples = { "backstitch ingest perf.data",
		      "backstitch ingest -f -o run1.db perf.data",
		      "backstitch ingest -o run.db perf.data trace.dat lttng-session/",
		      "perf record -o - -g -- ./prog | backstitch ingest -" },
	.opts = opts,
	.common =
		"output force quiet symfs kallsyms debuginfod maps clock-offset no-symbols jobs",
	.run = ingest_run,
};
