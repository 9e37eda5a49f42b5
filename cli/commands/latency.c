/* latency.c - the command that prints how long pairs of events took. */
#include <string.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "analyze/path/latency_sched.h"
#include "analyze/latency/intervals.h"
#include "cli/tables/report.h"
#include "stitch/text/parse_number.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *kind, *only, *by = "name", *order = "total", *fail_above,
				*percentile;
static struct opt_list pairs;
static long limit = NUMBER_UNSET, worst;
static bool histogram;

#define EACH 5 /* rows of each kind, where all are asked for */

/* The kinds of pair_kinds[], and the two of the scheduler. */
static const char *const kind_words[] = {
	"syscall",     "irq",	     "softirq",	   "softirq-wait", "block",
	"block-queue", "work",	     "work-wait",  "work-ready",   "tasklet",
	"timer",       "timer-wait", "lock",	   "reclaim",	   "compaction",
	"migration",   "fence",	     "fence-wait", "kvm",	   "call",
	"user-call",   "probe",	     "slice",	   "async",	   "wake-up",
	"off-cpu",     NULL
};
static const char *const by_words[] = { "name", "kind", "comm",	  "tid",
					"pid",	"cpu",	"behind", NULL };
static const char *const order_words[] = { "total", "count",   "average", "max",
					   "p99",   "unknown", NULL };

static const struct opt opts[] = {
	OPT_CHOICE(
		0, "kind", "KIND", &kind, kind_words,
		"only one kind: syscall, irq, softirq, softirq-wait, block, "
		"block-queue, work, work-wait, work-ready, tasklet, timer, "
		"timer-wait, lock, reclaim, compaction, migration, fence, "
		"fence-wait, kvm, call, user-call, probe, slice, async; of the "
		"scheduler wake-up, off-cpu (not these)"),
	OPT_LIST(0, "pair", "BEGIN,END[,FIELD...]", &pairs,
		 "own pairs: two events of a thread or, with fields, of the "
		 "same values"),
	OPT_STRING(0, "by", "KEY", &by,
		   "one row for each name, kind, comm, tid, pid, cpu, cgroup, "
		   "value of a field of the events, lock, caller (the function "
		   "that called), or thread behind which one waited: behind "
		   "(name)"),
	OPT_STRING(0, "name", "NAME", &only,
		   "only those of this name: read, or a value of --by"),
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "sort by total, count, average, max, p99 or unknown, "
		   "largest first (total)"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "at most N rows; 0: all (one screen, 40 in a file)"),
	OPT_NUMBER(0, "worst", "N", &worst,
		   "list the N longest, too, each with its stack and the chain "
		   "of path"),
	OPT_FLAG(0, "histogram", &histogram,
		 "print how many took how long, by powers of two"),
	OPT_STRING(0, "fail-above", "TIME", &fail_above,
		   "exit with 4 if a row certainly took longer: 5ms"),
	OPT_STRING(0, "percentile", "P", &percentile,
		   "with --fail-above: P percent of it (100: all)"),
	OPT_GROUP(wall_clock_opts),
	OPT_GROUP(output_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Returns the key of --by if it is a field of events, or lock; else NULL. */
static const char *latency_field(const char *key)
{
	for (size_t i = 0; by_words[i]; i++)
		if (!strcmp(by_words[i], key))
			return NULL;
	return strcmp(key, intervals_by_lock) ? key : intervals_by_lock;
}

static int latency_run(int argc, char **argv, struct err *err)
{
	struct latency_opts o = { .filter = &filter,
				  .format = output_chosen()->name,
				  .pair = pairs.item,
				  .n_pair = pairs.n,
				  .by = by,
				  .by_field = latency_field(by),
				  .name = only,
				  .order = order,
				  .worst = (size_t)worst,
				  .histogram = histogram,
				  .fail = -1 };
	struct open_ask ask = open_chosen();
	int status = STATUS_OK;
	int64_t offset;
	const char *path;
	struct store *db OWNED_STORE = NULL;

	/* a first argument that is a kind, and no file */
	if (argc && !kind && latency_has_kind(argv[0]) &&
	    access(argv[0], F_OK)) {
		kind = argv[0];
		argc--;
		argv++;
	}
	/* in ftrace text, only the fields have the number of a call */
	ask.load.fields = "all";
	o.kind = kind;
	o.limit = report_limit(limit, o.format);
	if (limit == NUMBER_UNSET && !kind && !only && !pairs.n &&
	    !strcmp(by, "name"))
		o.each = EACH;
	const char *p = percentile;
	const char *above = fail_above;
	int64_t tenths = 1000;

	if (filter.event || filter.cgroup)
		return err_set(err, ERR_USAGE,
			       "latency has rows of pairs of events, which "
			       "--kind and --pair choose: leave out --event, "
			       "--cgroup");
	if (kind && latency_sched_has(kind) &&
	    (pairs.n ||
	     (o.by_field && strcmp(o.by_field, intervals_by_caller) != 0)))
		return err_set(err, ERR_USAGE,
			       "--%s %s: times of the scheduler are no pairs "
			       "of events with fields; --by needs name, comm, "
			       "tid, pid, cpu, behind or caller",
			       pairs.n ? "pair" : "by",
			       pairs.n ? pairs.item[0] : o.by_field);
	if (strchr(o.by, ','))
		return err_set(err, ERR_USAGE,
			       "--by %s: takes one key: name, cpu, or a field "
			       "of the events",
			       o.by);
	if (output_check(err))
		return -1;
	if (fail_above && parse_duration(fail_above, &o.fail) &&
	    (parse_decimal(&above, 3, &o.fail) || strcmp(above, "us") != 0))
		return err_set(err, ERR_USAGE,
			       "--fail-above %s: needs a time such as 50us or "
			       "5ms",
			       fail_above);
	if (percentile && !fail_above)
		return err_set(err, ERR_USAGE,
			       "--percentile needs "
			       "--fail-above");
	if (percentile && (parse_decimal(&p, 1, &tenths) || *p || tenths < 1 ||
			   tenths > 1000))
		return err_set(err, ERR_USAGE,
			       "--percentile %s: needs a number such as 99 or "
			       "99.9",
			       percentile);
	o.per_mille = (unsigned int)tenths;
	if (output_is_for_functions(o.format))
		return err_set(err, ERR_USAGE,
			       "--format %s is for the table of functions "
			       "and diff; leave out --format",
			       o.format);
	if ((worst || histogram) && strcmp(o.format, "table") != 0 &&
	    strcmp(o.format, "json") != 0)
		return err_set(err, ERR_USAGE,
			       "--worst and --histogram are tables of their "
			       "own: leave out --format %s, or take --json",
			       o.format);
	db = database_from_args(&ask, argc, argv, NULL, &path, &status, err);
	int rc = db ? wall_clock_take(db, path, &offset, &o.wall, err) : -1;
	if (!rc)
		rc = ticks_note(db, path, err)
			     ?: report_latency(db, path, &o, err);
	return rc ? rc : status;
}

const struct command cmd_latency = {
	.name = "latency",
	.args = "[options] [KIND] [DB | CAPTURE]",
	.summary = "print how long pairs of events took, and which are "
		   "not known",
	.examples = { "backstitch latency perf.db",
		      "backstitch latency syscall --by comm perf.db",
		      "backstitch latency --histogram syscall perf.db",
		      "backstitch latency --pair probe:f,probe:f__return perf.db" },
	.opts = opts,
	.common =
		"kind pair by order limit worst histogram fail-above json comm tid cpu time",
	.pages = true,
	.run = latency_run,
};
