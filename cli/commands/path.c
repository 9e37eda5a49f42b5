/* path.c - the command that shows why a thread took so long. */

#include "analyze/samples/filter.h"
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/path/path.h"
#include "cli/pictures/flame.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/text/parse_number.h"

#define LIMIT 20
#define WORST_LINES 40 /* of each chain of --worst */

static const char *comm, *blame, *time_text, *flame, *of;
static long tid = NUMBER_UNSET, pid, limit = NUMBER_UNSET, fail = NUMBER_UNSET;
static long worst, least, depth;
static bool waits, tree, idle, proved, premises, json, all;

static const struct opt opts[] = {
	OPT_HEADING("Whose time"),
	OPT_NUMBER(0, "tid", "TID", &tid, "of the thread with this id"),
	OPT_NUMBER(0, "pid", "PID", &pid, "of the threads of this process"),
	OPT_STRING(0, "comm", "NAME", &comm, "of the threads of this name"),
	OPT_STRING(0, "time", "FROM,TO", &time_text,
		   "the chain of this time, in seconds as 'script' shows it, "
		   "up to nanoseconds, or as a log has it: '2026-11-28 "
		   "03:12:04.5+1s', or the line"),
	OPT_STRING(0, "of", "[KIND:]NAME", &of,
		   "of all calls, slices, requests of that name, as 'latency' "
		   "has it: what their threads did, and the longest"),
	OPT_NUMBER(0, "worst", "N", &worst,
		   "the chains of the N longest waits"),
	OPT_FLAG(0, "all", &all,
		 "of all threads, not of the program with which the recording "
		 "began"),
	OPT_HEADING("Over many waits"),
	OPT_FLAG(0, "waits", &waits,
		 "the longest waits, each with the head of its chain (without "
		 "--time)"),
	OPT_FLAG(0, "tree", &tree, "shares of the time by who waited for whom"),
	OPT_STRING(0, "blame", "NAME", &blame,
		   "what the waits of these threads are put down to"),
	OPT_NUMBER(0, "limit", "N", &limit, "at most N rows; 0: all (20)"),
	OPT_FLAG(0, "idle", &idle,
		 "count waits that may be those of idle servers as others"),
	OPT_HEADING("What counts"),
	OPT_NUMBER(0, "min", "NS", &least, "sum up shorter pieces"),
	OPT_NUMBER(0, "depth", "N", &depth, "follow at most N wake-ups"),
	OPT_FLAG(0, "proved", &proved,
		 "what is only likely (right in 98 of 100) counts as not "
		 "known"),
	OPT_FLAG(0, "premises", &premises,
		 "say what proofs rest on that the capture does not show"),
	OPT_NUMBER(0, "fail-unknown", "PERCENT", &fail,
		   "end with status 4 if more of the time is not known"),
	OPT_HEADING("Output"),
	OPT_GROUP(wall_clock_opts),
	OPT_FLAG(0, "json", &json, "print JSON"),
	OPT_STRING(0, "flame", "FILE", &flame,
		   "write a flame graph of the chains to FILE"),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* Sets o->from and o->to by --time. Returns 0, or -1 and *err. */
static int path_take_time(struct path_ask *o, struct store *db, struct err *err)
{
	const struct filter day = { .time = time_text };
	const char *p = time_text;

	o->timed = time_text != NULL;
	if (!o->timed)
		return 0;
	if (parse_wall(time_text, &o->from, &o->to))
		return filter_window(&day, db, &o->from, &o->to, err);
	if (!parse_decimal(&p, 9, &o->from) && *p++ == ',' &&
	    !parse_decimal(&p, 9, &o->to) && !*p && o->from < o->to)
		return 0;
	return err_set(err, ERR_USAGE,
		       "--time needs FROM,TO in seconds, FROM below TO, or a "
		       "time of the day as '2026-11-28 03:12:04.5+1s', not "
		       "'%s'",
		       time_text);
}

void path_of_process(long process)
{
	pid = process;
}

static int path_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct path_opts o = {
		.ask.tid = tid,
		.ask.pid = pid ? pid : -1,
		.all = all,
		.ask.comm = blame ? blame : comm,
		.of = of,
		.worst = (size_t)worst,
		.lines = limit > 0			  ? (size_t)limit
			 : limit == NUMBER_UNSET && worst ? WORST_LINES
							  : SIZE_MAX,
		.limit = limit == NUMBER_UNSET ? LIMIT
			 : limit	       ? (size_t)limit
					       : SIZE_MAX,
		.waits = waits,
		.tree = tree,
		.blame = blame != NULL,
		/* with --tid the user has chosen; threads of one name may be
		 * those of a server, most of them without work */
		.idle = idle || tid != NUMBER_UNSET,
		.ask.proved = proved,
		.ask.premises = premises || flame,
		.json = json,
		.least = least,
		.ask.depth = (uint32_t)(depth < INT32_MAX ? depth : INT32_MAX),
		.fail = (int)fail,
	};
	int status = STATUS_OK;
	int64_t offset;
	const char *path;
	struct store *db OWNED_STORE = NULL;

	if (blame && (comm || pid || tid != NUMBER_UNSET))
		return err_set(err, ERR_USAGE,
			       "--blame says whose waits; leave out --comm, "
			       "--pid and --tid");
	if (flame && (waits || tree || blame || worst || least || json ||
		      limit != NUMBER_UNSET))
		return err_set(err, ERR_USAGE,
			       "--flame draws the chains of --tid, --comm and "
			       "--time; leave out --waits, --worst, --tree, "
			       "--blame, --min, --limit and --json");
	if (of && (waits || tree || blame || flame || idle || all))
		return err_set(err, ERR_USAGE,
			       "--of is an answer of its own; leave out "
			       "--waits, --tree, --blame, --flame, --idle and "
			       "--all");
	if (waits + tree + (blame != NULL) + (worst != 0) > 1)
		return err_set(err, ERR_USAGE,
			       "--waits, --worst, --tree and --blame are four "
			       "answers; choose one");
	if (idle && (tree || blame || flame || (time_text && !waits && !worst)))
		return err_set(err, ERR_USAGE,
			       "--idle is about the longest waits; leave it "
			       "out, as all waits count here");
	if (fail > 100)
		return err_set(err, ERR_USAGE,
			       "--fail-unknown needs a share in percent");
	if (time_text && !of && !waits && !tree && !blame && !worst && !comm &&
	    !pid && tid == NUMBER_UNSET)
		return err_set(err, ERR_USAGE,
			       "whose time? add --tid TID or --comm NAME");
	db = database_from_args(&ask, argc, argv, flame, &path, &status, err);
	if (!db)
		return -1;
	int rc = wall_clock_take(db, path, &offset, &o.wall, err);
	if (!rc)
		rc = path_take_time(&o.ask, db, err)
			     ?: ticks_note(db, path, err);
	if (!rc)
		rc = flame ? flame_path(db, path, &o, flame, err)
			   : path_print(db, path, &o, err);
	return rc ? rc : status;
}

const struct command cmd_path = {
	.name = "path",
	.args = "[options] [DB | CAPTURE]",
	.summary = "tell why a thread took so long, as a chain of wake-ups",
	.examples = { "backstitch path perf.db",
		      "backstitch path --comm waiter --worst 3 perf.db",
		      "backstitch path --tid 4711 --time 12.5,12.75 perf.db",
		      "backstitch path --of read perf.db",
		      "backstitch path --blame server --json perf.db",
		      "backstitch path --flame waits.svg perf.db" },
	.opts = opts,
	.common =
		"tid pid comm time of worst all waits tree blame proved premises fail-unknown json",
	.pages = true,
	.run = path_run,
};
