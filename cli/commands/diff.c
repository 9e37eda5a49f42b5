/* diff.c - the command that prints what changed between two recordings. */
#include <string.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "analyze/names/library.h"
#include "analyze/path/latency_sched.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/diffs/sides.h"
#include "cli/args/options.h"
#include "cli/tables/diff_times.h"
#include "cli/tables/report.h"
#include "stitch/base/err.h"

static const char *sort_keys, *order;
static long limit = NUMBER_UNSET;
static bool absolute, latency, off_cpu, wall, sched, all, by_waker;
static const char *per;

static const char *const order_words[] = { "self", "total", NULL };

static const struct opt opts[] = {
	OPT_FLAG(0, "absolute", &absolute,
		 "compare weights as they are, not shares"),
	OPT_FLAG(0, "latency", &latency,
		 "how long pairs of events took, of a kind that comes first: "
		 "diff --latency syscall A B"),
	OPT_FLAG(0, "off-cpu", &off_cpu,
		 "waits, by what they are for and where"),
	OPT_FLAG(0, "woken-by", &by_waker,
		 "with --off-cpu: by who ended them, not where they were"),
	OPT_FLAG(0, "wall", &wall,
		 "the time of the program that each recording began with: who "
		 "did what meanwhile"),
	OPT_FLAG(0, "sched", &sched,
		 "times in which threads were ready, preemptions by whom, and "
		 "migrations"),
	OPT_STRING(0, "per", "WHAT", &per,
		   "divide times and numbers by how many there are of a "
		   "KIND:NAME of 'latency', a KIND, or an event"),
	OPT_FLAG(0, "all", &all,
		 "with --latency, --off-cpu or --sched: of all threads, not "
		 "of the "
		 "program with which each recording began"),
	OPT_GROUP(matching_opts),
	OPT_GROUP(diff_limit_opts),
	OPT_GROUP(by_opts),
	OPT_STRING('s', "sort", "KEYS", &sort_keys,
		   "one row for each value of KEYS, a list of comm, "
		   "comm_nodigit, pid, tid, cpu, cgroup, dso, sym, verdict "
		   "(sym,dso)"),
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "sort by self or total, largest first (self)"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "print at most N rows; 0: all (one screen, 40 in a file)"),
	OPT_HEADING("Output"),
	OPT_GROUP(output_opts),
	OPT_GROUP(report_names_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Compares times, not samples. Returns an enum status, or -1 and *err. */
static int diff_run_times(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct diff_times_opts o = { .open = database_open_side,
				     .open_arg = &ask,
				     .format = output_chosen()->name,
				     .ask = { .what = off_cpu ? TIMED_WAITS
						      : wall  ? TIMED_PARTS
						      : sched ? TIMED_SCHED
							      : TIMED_PAIRS,
					      .filter = &filter,
					      .all = all,
					      .by_waker = by_waker,
					      .per = per,
					      .names = chosen_names },
				     .fail = &diff_limit };
	struct filter of_others = filter;
	struct sides s RELEASED_BY(sides_release) = { 0 };

	if (latency + off_cpu + wall + sched > 1)
		return err_set(err, ERR_USAGE,
			       "--latency, --off-cpu, --wall and --sched are "
			       "tables of their own; ask for one at a time");
	of_others.comm = of_others.pid = of_others.tid = NULL;
	if (filter.comm || filter.pid || filter.tid)
		of_others.time = NULL;
	if (wall && (all || filter_given(&of_others)))
		return err_set(err, ERR_USAGE,
			       "--wall is of the program that a recording "
			       "began with, or of threads: leave out --all "
			       "and filters but --comm, --pid and --tid");
	if (by_waker && !off_cpu)
		return err_set(err, ERR_USAGE,
			       "--woken-by is for waits: --off-cpu");
	if (absolute || sort_keys || order || by_given() ||
	    match_opts().n_image || filter.event || filter.cgroup ||
	    report_inline_chosen() || library_folds(&chosen_names))
		return err_set(err, ERR_USAGE,
			       "times are no samples: leave out --absolute, "
			       "--sort, --order, --by, --match, --event, "
			       "--cgroup, --inline, --fold-library");
	if (output_is_for_functions(o.format) && strcmp(o.format, "sql") != 0)
		return err_set(err, ERR_USAGE,
			       "--format %s is for the table of functions; "
			       "leave out --format",
			       o.format);
	o.limit = report_limit(limit, o.format);
	if (latency || per)
		ask.load.fields = "all";
	if (latency && argc && latency_has_kind(argv[0]) &&
	    access(argv[0], F_OK)) {
		o.ask.kind = argv[0];
		argc--;
		argv++;
		options_before -= options_before > 0;
	}
	return sides_take(&s, argc, argv, options_before, err)
		       ?: diff_times(&s, &o, err);
}

static int diff_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	const char *format = output_chosen()->name;
	struct report_opts o = {
		.open = database_open_side,
		.open_arg = &ask,
		.filter = &filter,
		.format = format,
		.limit = report_limit(limit, format),
		.by_samples = by_samples(),
		.by_total = order && !strcmp(order, "total"),
		.absolute = absolute,
		.names = chosen_names,
		.match = match_opts(),
		.fail = &diff_limit,
	};
	struct sides s RELEASED_BY(sides_release) = { 0 };

	if (output_check(err) || diff_opts_check(true, err))
		return -1;
	if (latency || off_cpu || wall || sched)
		return diff_run_times(argc, argv, err);
	if (all || by_waker || per)
		return err_set(err, ERR_USAGE,
			       "--all, --woken-by and --per are for --latency, "
			       "--off-cpu, --wall and --sched: samples are of "
			       "all threads");
	if (report_take_keys(&o, sort_keys, err))
		return -1;
	/* Check the keys: lines, stacks and fields are of one recording. */
	if (o.by_wall || (sort_keys && strchr(sort_keys, '.')))
		return err_set(err, ERR_USAGE,
			       "--sort by a field, latency or parallelism is "
			       "of one recording: ask 'report'");
	if (o.keys & KEY_LINE)
		return err_set(err, ERR_USAGE,
			       "the lines of two builds are not the same code; "
			       "choose other keys for --sort");
	if (o.keys & KEY_TRUST)
		return err_set(err, ERR_USAGE,
			       "diff compares code, not what is known of "
			       "stacks; choose other keys for --sort");
	if (diff_limit.function && !(o.keys & KEY_SYM))
		return err_set(err, ERR_USAGE,
			       "--function needs rows of functions: --sort "
			       "with sym");
	if (report_take_inlined(&o, err))
		return -1;
	if (o.field)
		ask.load.fields = filter.event ?: "all";
	else
		ask.filter = &filter;
	ask.detail = report_detail(o.keys);
	return sides_take(&s, argc, argv, options_before, err)
		       ?: report_diff(&s, &o, err);
}

const struct command cmd_diff = {
	.name = "diff",
	.args = "[options] A... [--] B...",
	.summary = "print what changed between two recordings",
	.examples = { "backstitch diff before.db after.db",
		      "backstitch diff 'before/*.db' -- 'after/*.db'",
		      "backstitch diff --fail-above 0.5 before.db after.db",
		      "backstitch diff --latency syscall before.db after.db" },
	.opts = opts,
	.common =
		"absolute latency off-cpu wall match fail-above sort order limit by json comm time event",
	.pages = true,
	.run = diff_run,
};
