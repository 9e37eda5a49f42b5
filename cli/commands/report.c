/* report.c - the command that prints tables of one recording: hot functions,
 * callers, waits. */
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "analyze/names/library.h"
#include "analyze/stacks/report_rows.h"
#include "cli/tables/report.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *sort_keys, *order, *callers, *callees, *weight;
static long limit = NUMBER_UNSET, depth;
static bool self_only, graph, inverted;

extern const struct command cmd_sched, cmd_latency, cmd_diff, cmd_page;

static const struct opt words[] = { OPT_WORD("diff", &cmd_diff),
				    OPT_WORD("html", &cmd_page),
				    OPT_WORD("latency", &cmd_latency),
				    OPT_WORD("sched", &cmd_sched),
				    { .kind = OPT_END } };

static const struct opt none[] = { { .kind = OPT_END } };

static const char *const order_words[] = { "self", "total", NULL };

static const struct opt opts[] = {
	OPT_GROUP(offcpu_opt_table),
	OPT_GROUP(wall_opt_table),
	OPT_GROUP(by_wall_opts),
	OPT_STRING(0, "weight", "EXPR", &weight,
		   "weights by an SQL expression on each sample, such as a "
		   "field of its event: --weight bytes_alloc"),
	OPT_HEADING("How to show it"),
	OPT_STRING('s', "sort", "KEYS", &sort_keys,
		   "one row for each value of KEYS, a list of comm, "
		   "comm_nodigit, pid, tid, cpu, cgroup, dso, sym, srcline, "
		   "verdict, trust, parallelism, latency, or a field of an "
		   "event as EVENT.FIELD (sym,dso)"),
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "sort by self or total, largest first (self)"),
	OPT_FLAG(0, "no-children", &self_only,
		 "print self without total, and only rows that have any"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "print at most N rows; 0: all (one screen, 40 in a file)"),
	OPT_STRING(0, "callers", "FUNC", &callers,
		   "print the callers of FUNC, by share"),
	OPT_FLAG('g', "call-graph", &graph,
		 "after the table, the tree of calls"),
	OPT_FLAG('G', "inverted", &inverted,
		 "likewise, from what was hit to its callers"),
	OPT_NUMBER(0, "depth", "N", &depth, "at most N levels of the tree"),
	OPT_STRING(0, "callees", "FUNC", &callees,
		   "print what FUNC calls, by share"),
	OPT_HEADING("Output"),
	OPT_GROUP(wall_clock_opts),
	OPT_GROUP(output_opts),
	OPT_GROUP(report_names_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(filter_expr_opts),
	OPT_GROUP(source_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	OPT_HEADING("Commands of their own"),
	OPT_GROUP_SENTENCE(none,
			   "--diff, --sched, --latency and --html are the "
			   "commands diff, sched, latency and page"),
	{ .kind = OPT_END }
};

/* Checks options that exclude each other. Returns 0, or -1 and *err. */
static int report_check(const char *format, struct err *err)
{
	bool times = offcpu_opts.on || offcpu_opts.wall;

	if (callers && callees)
		return err_set(err, ERR_USAGE,
			       "--callers and --callees are two tables; ask "
			       "for one at a time");
	if ((callers || callees) &&
	    (sort_keys || order || self_only || (graph && callers) || inverted))
		return err_set(err, ERR_USAGE,
			       "--callers and --callees have a row for each "
			       "function, by total: leave out --sort, --order, "
			       "--no-children, -G, and of callers -g");
	if (offcpu_opts.on &&
	    (order || self_only || by_given() || inverted || depth ||
	     report_inline_chosen() || library_folds(&chosen_names)))
		return err_set(err, ERR_USAGE,
			       "--off-cpu is a table of its own: leave out "
			       "--order, --no-children, --by, --inline, "
			       "--fold-library, -G, --depth");
	if (times + by_given() + !!weight > 1)
		return err_set(err, ERR_USAGE,
			       "--off-cpu, --wall, --weight and --by are ways "
			       "to count: leave out --%s",
			       by_given() ? "by" : "weight");
	if (filter.expr && times)
		return err_set(err, ERR_USAGE,
			       "--filter is for tables of samples: leave out "
			       "--off-cpu, --wall");
	if (offcpu_opts.wall && sort_keys && strchr(sort_keys, '.'))
		return err_set(err, ERR_USAGE,
			       "a field of --sort is of the samples of one "
			       "recording: leave out --wall");
	if (offcpu_opts.wall && sort_keys && strstr(sort_keys, "cgroup"))
		return err_set(err, ERR_USAGE,
			       "a wait has no cgroup: leave out --wall");
	if (offcpu_opts.on && sort_keys && strcmp(sort_keys, "comm") != 0)
		return err_set(err, ERR_USAGE,
			       "--off-cpu has a row for each cause and place, "
			       "or with --sort comm for each thread; it has no "
			       "rows for '%s'",
			       sort_keys);
	if (depth && !graph && !inverted)
		return err_set(err, ERR_USAGE,
			       "--depth is a number of levels, for -g or -G");
	if (offcpu_check(err))
		return -1;
	/* Check the format, which not every table has. */
	if (output_check(err))
		return -1;
	if ((graph || inverted) && strcmp(format, "table") != 0 &&
	    strcmp(format, "json") != 0)
		return err_set(err, ERR_USAGE,
			       "the tree of -g and -G is text, or a part of "
			       "--json; leave out --format");
	if (output_is_for_functions(format) &&
	    (callers || callees || offcpu_opts.on || offcpu_opts.wall))
		return err_set(err, ERR_USAGE,
			       "--format %s is for the table of functions "
			       "and diff; leave out --format",
			       format);
	return 0;
}

/* Sets *err to what was meant if a file took the place of the function, so that
 * no file or the newest database of the folder was left to be read. Returns
 * -1. */
static int report_tell_functions(int argc, struct err *err)
{
	const char *func = callers ? callers : callees;
	const char *name = callers ? "--callers" : "--callees";

	if (!argc && func && err->code == ERR_USAGE && !access(func, R_OK))
		err_set(err, ERR_USAGE,
			"%s needs the name of a function in front of '%s': "
			"'report %s main %s'",
			name, func, name, func);
	return -1;
}

static int report_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	const char *format = output_chosen()->name;
	int64_t offset;
	struct report_opts o = {
		.filter = &filter,
		.format = format,
		.limit = report_limit(limit, format),
		.off_cpu = offcpu_opts.on,
		.wall = offcpu_opts.wall,
		.by_samples = by_samples(),
		.by_wall = by_wall(),
		.weight = weight,
		.by_total = order && !strcmp(order, "total"),
		.self_only = self_only,
		.graph = graph || inverted,
		.inverted = inverted,
		.depth = (size_t)depth,
		.callers = callers,
		.callees = callees,
		.names = chosen_names,
	};
	int status = STATUS_OK;
	const char *path;
	struct store *db OWNED_STORE = NULL;

	if (report_check(format, err) || report_take_keys(&o, sort_keys, err) ||
	    report_take_inlined(&o, err))
		return -1;
	if (weight || o.field || filter.expr)
		ask.load.fields = filter.event ?: "all";
	else if (!offcpu_opts.on && !offcpu_opts.wall && !(o.keys & KEY_TRUST))
		ask.filter = &filter;
	if (o.by_wall && (by_samples() || weight || offcpu_opts.on ||
			  offcpu_opts.wall || o.field))
		return err_set(
			err, ERR_USAGE,
			"--by wall, and --sort latency and parallelism, "
			"divide weights of samples: leave out --off-cpu, "
			"--wall, --weight, --by samples, and --sort "
			"EVENT.FIELD and cgroup");
	ask.detail = report_detail(o.keys);
	ask.load.sums = report_summed(&o) && !o.callers && !o.callees &&
			!o.graph && !by_given() && !o.weight && !o.field &&
			!offcpu_opts.on && !offcpu_opts.wall &&
			!filter_given(&filter) && !filter.expr && !o.by_wall &&
			!(o.keys & (KEY_INLINED | KEY_LINE | KEY_TRUST));
	db = database_from_args(&ask, argc, argv, NULL, &path, &status, err);
	if (!db)
		return report_tell_functions(argc, err);
	const bool waits = offcpu_opts.on && !callers && !callees;
	int rc = wall_clock_take(db, path, &offset, &o.wall_clock, err);
	if (!rc && o.wall_clock && !waits)
		rc = err_set(err, ERR_USAGE,
			     "--wall-clock is for tables with times: add "
			     "--off-cpu, without --callers and --callees");
	if (!rc && waits)
		rc = ticks_note(db, path, err);
	rc = rc	     ? -1
	     : waits ? report_offcpu(db, path, &o, err)
		     : report_table(db, path, &o, err);
	return rc ? report_tell_functions(argc, err) : status;
}

const struct command cmd_report = {
	.name = "report",
	.args = "[options] [DB | CAPTURE | URL]",
	.summary = "print tables: hot functions, callers, waits",
	.examples = { "backstitch report perf.db",
		      "backstitch report --sort comm,dso --by samples perf.data",
		      "backstitch report --sort kmem:kmalloc.gfp_flags perf.data",
		      "backstitch report --callers vfs_read perf.db",
		      "backstitch report --limit 0 --format csv perf.db",
		      "backstitch report --off-cpu perf.db" },
	.opts = opts,
	.words = words,
	.common =
		"sort limit callers callees call-graph off-cpu wall by json comm time event",
	.pages = true,
	.run = report_run,
};
