/* sched.c - the command that prints what each thread did. */
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/tables/report.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *order;
static long limit = NUMBER_UNSET;

static const char *const order_words[] = { "max",   "average", "ready",
					   "run",   "blocked", "runs",
					   "woken", "moves",   "unknown",
					   NULL };

static const struct opt opts[] = {
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "sort by max, average, ready, run, blocked, runs, woken, "
		   "moves or unknown, largest first (max)"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "print at most N rows; 0: all (one screen, 40 in a file)"),
	OPT_GROUP(wall_clock_opts),
	OPT_GROUP(output_opts),
	OPT_HEADING("Names"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

static int sched_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	const char *format = output_chosen()->name;
	struct sched_opts o = {
		.filter = &filter,
		.format = format,
		.limit = report_limit(limit, format),
		.order = order,
		.names = chosen_names,
	};
	int status = STATUS_OK;
	int64_t offset;
	const char *path;
	struct store *db OWNED_STORE = NULL;

	if (filter.event || filter.cgroup)
		return err_set(err, ERR_USAGE,
			       "sched has a row for each thread: leave out "
			       "--event, --cgroup");
	if (output_check(err))
		return -1;
	if (output_is_for_functions(format))
		return err_set(err, ERR_USAGE,
			       "--format %s is for the table of functions "
			       "and diff; leave out --format",
			       format);
	db = database_from_args(&ask, argc, argv, NULL, &path, &status, err);
	int rc = db ? wall_clock_take(db, path, &offset, &o.wall, err) : -1;
	if (!rc)
		rc = ticks_note(db, path, err)
			     ?: report_sched(db, path, &o, err);
	return rc ? -1 : status;
}

const struct command cmd_sched = {
	.name = "sched",
	.args = "[options] [DB | CAPTURE]",
	.summary = "print what each thread did: on the CPU, ready, blocked",
	.examples = { "backstitch sched perf.db",
		      "backstitch sched --order woken --comm server perf.db" },
	.opts = opts,
	.common = "order limit json comm pid tid cpu time",
	.pages = true,
	.run = sched_run,
};
