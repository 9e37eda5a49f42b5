/* follow.c - the command that turns a stream into a folder of databases. */
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/follow/follow.h"
#include "stitch/base/err.h"

static const char *dir, *segment, *keep, *command, *top;
static bool quiet;
/* --top without a word means the first */
static const char *const tops[] = { "view", "path", "latency", "report", NULL };

static const struct opt opts[] = {
	OPT_HEADING("Output"),
	OPT_STRING('o', "output", "DIR", &dir,
		   "the folder of segments (default: segments)"),
	OPT_STRING(0, "segment", "LIMIT", &segment,
		   "end a segment after this time or this many bytes: 10s, "
		   "5m, 64M (10s)"),
	OPT_STRING(0, "keep", "LIMIT", &keep,
		   "remove the oldest segments beyond this age, or beyond this "
		   "size of all: 1h, 4G (keep all)"),
	OPT_STRING(0, "exec", "COMMAND", &command,
		   "run this for each finished segment; its path is $1"),
	OPT_CHOICE(0, "top", "[WHAT]", &top, tops,
		   "show the newest segment (2s) as 'view --live' does, and q "
		   "ends it; or print what path, latency or report says about "
		   "the last ten seconds, each second"),
	OPT_FLAG('q', "quiet", &quiet, "no summary"),
	OPT_GROUP(align_opts),
	OPT_GROUP_SENTENCE(load_opts,
			   "and those of 'backstitch help ingest' for reading: "
			   "--symfs, --kallsyms, --debuginfod, --maps, ..."),
	{ .kind = OPT_END }
};

static int follow_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct follow_opts o = {
		.load = &ask.load,
		.dir = dir ? dir : "segments",
		.command = command,
		.quiet = quiet,
		.top = top == tops[0],
		.print = top != tops[0] ? top : NULL,
	};
	bool damaged = false;

	if (argc < 1)
		return err_set(
			err, ERR_USAGE,
			"which stream? '-' is standard input, a name is "
			"a FIFO or trace_pipe, a folder is one of files: "
			"'perf record -a -g -o - | backstitch follow -'");
	if (argc > FOLLOW_INPUTS)
		return err_set(err, ERR_USAGE, "at most %d inputs at once",
			       FOLLOW_INPUTS);
	o.input = argv;
	o.n_inputs = (size_t)argc;
	if (segments_limit("segment",
			   segment	    ? segment
			   : !top	    ? "10s"
			   : top == tops[0] ? "2s"
					    : "1s",
			   &o.segment, err) ||
	    (keep && segments_limit("keep", keep, &o.keep, err)))
		return -1;
	if (follow_stream(&o, &damaged, err))
		return -1;
	return damaged ? STATUS_DAMAGED : STATUS_OK;
}

const struct command cmd_follow = {
	.name = "follow",
	.args = "[options] STREAM...",
	.summary = "turn a live stream into a folder of databases",
	.examples = { "perf record -a -g -o - | backstitch follow --keep 10m -",
		      "backstitch report segments/ --since 1m" },
	.opts = opts,
	.common = "output segment keep top exec quiet symfs kallsyms jobs",
	.run = follow_run,
};
