/* flame.c - the command that draws flame graphs. */
#include <stdio.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "analyze/diffs/sides.h"
#include "cli/args/options.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame.h"
#include "analyze/stacks/label.h"
#include "analyze/names/library.h"
#include "analyze/path/latency_sched.h"
#include "cli/output/out.h"
#include "cli/pictures/svg.h"
#include "cli/server/server.h"
#include "stitch/text/parse_number.h"
#include "stitch/base/err.h"

#define WIDTH 1200
#define WIDTH_OF_WINDOW NUMBER_UNSET

static struct opt_list include, exclude;
static struct flame_opts opts = {
	.filter = &filter,
	.minwidth = "0.1",
	.width = WIDTH_OF_WINDOW,
	.inlined = true,
};

static const char *const diff_words[] = { "self", "total", NULL };

static const struct opt flame_opt_table[] = {
	OPT_HEADING("Output"),
	OPT_STRING('o', "output", "FILE", &opts.out_path,
		   "write to FILE instead of standard output"),
	OPT_FLAG(0, "from-folded", &opts.from_folded,
		 "the input is folded stacks, not a capture"),
	OPT_HEADING("How to show it"),
	OPT_STRING(0, "title", "TEXT", &opts.title, "above the picture"),
	OPT_STRING(0, "subtitle", "TEXT", &opts.subtitle,
		   "second line above the picture"),
	OPT_NUMBER(0, "width", "PX", &opts.width,
		   "of the picture (the window's; 1200 without scripts)"),
	OPT_STRING(0, "minwidth", "PX", &opts.minwidth,
		   "leave out narrower frames (0.1); '0.5%' for a share"),
	OPT_CHOICE(0, "colors", "PALETTE", &opts.colors, palette_names,
		   "kind (by kind of code), hot, or a color"),
	OPT_FLAG(0, "reverse", &opts.reverse,
		 "merge stacks from the innermost frame"),
	OPT_FLAG(0, "collapse-recursion", &opts.collapse,
		 "a function that calls itself is one frame"),
	OPT_FLAG(0, "upward", &opts.upward,
		 "the root below, callees above their callers"),
	OPT_FLAG(0, "by-pid", &opts.by_pid,
		 "a frame for each process below the names"),
	OPT_FLAG(0, "by-thread", &opts.by_thread,
		 "a frame for each thread below the names"),
	OPT_FLAG(0, "by-verdict", &opts.by_verdict,
		 "a frame at the root for each verdict on user stacks"),
	OPT_FLAG(0, "no-comm", &opts.no_comm, "no frames for thread names"),
	OPT_HEADING("Before and after"),
	OPT_FLAG(0, "diff", &opts.diff,
		 "what changed: 'flame --diff BEFORE AFTER'"),
	OPT_CHOICE(0, "diff-by", "WHAT", &opts.diff_by, diff_words,
		   "color by the change of self or total (self)"),
	OPT_FLAG(0, "absolute", &opts.absolute,
		 "compare weights as they are, not shares of the whole"),
	OPT_GROUP(matching_opts),
	OPT_GROUP(diff_limit_opts),
	OPT_HEADING("What to count"),
	OPT_GROUP(by_opts),
	OPT_STRING(0, "weight", "EXPR", &opts.weight,
		   "widths by an SQL expression on each sample, such as "
		   "latency_ns or a field of its event"),
	OPT_GROUP(offcpu_opt_table),
	OPT_GROUP(wall_opt_table),
	OPT_STRING(0, "latency", "KIND", &opts.latency,
		   "the time between two events that belong together, as "
		   "'latency' has it: syscall, lock, block, ..., or an own "
		   "pair: BEGIN,END[,FIELD...]"),
	OPT_FLAG(0, "by-state", &opts.by_state,
		 "with --off-cpu: a frame at the root for each state"),
	OPT_FLAG(0, "wakeups", &opts.wakeups,
		 "with --off-cpu: above each stack that of the waker"),
	OPT_HEADING("Names"),
	OPT_FLAG(0, "inline", &opts.inlined_rows,
		 "with --diff: judge inlined functions as well"),
	OPT_NO(0, "no-inline", &opts.inlined, "leave out inlined functions"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(library_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(filter_expr_opts),
	OPT_LIST(0, "include", "REGEX", &include,
		 "only stacks with a frame that matches; given twice, with "
		 "both"),
	OPT_LIST(0, "exclude", "REGEX", &exclude,
		 "no stacks with a frame that matches"),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Returns the option by which widths are times, not samples; or NULL. */
static const char *flame_of_times(void)
{
	return offcpu_opts.on	  ? "off-cpu"
	       : offcpu_opts.wall ? "wall"
	       : opts.latency	  ? "latency"
				  : NULL;
}

/* Checks options, and sets *o by them. Returns 0, or -1 and *err. */
static int flame_check(struct svg_opts *o, struct err *err)
{
	o->fluid = opts.width == WIDTH_OF_WINDOW;
	if (o->fluid)
		opts.width = WIDTH;
	if (opts.width < 100 || opts.width > 100000)
		return err_set(err, ERR_USAGE,
			       "--width must be from 100 to 100000");
	/* Parse "0.1" or "0.5%" into thousandths of a pixel or percent. */
	const char *s = opts.minwidth;
	int64_t v;

	if (parse_decimal(&s, 3, &v) || s[*s == '%'])
		return err_set(err, ERR_USAGE,
			       "--minwidth needs a width such "
			       "as 0.1 or 0.5%%, not '%s'",
			       opts.minwidth);
	o->min_percent = *s == '%';
	o->minwidth = (uint64_t)v;
	if (offcpu_check(err))
		return -1;
	if ((opts.wakeups || opts.by_state) && !offcpu_opts.on)
		return err_set(err, ERR_USAGE,
			       "--wakeups and --by-state need --off-cpu");
	if (flame_of_times() &&
	    (opts.from_folded || by_samples() || opts.by_verdict))
		return err_set(err, ERR_USAGE,
			       "--%s is a picture of its own: leave out "
			       "--from-folded, --by samples and --by-verdict",
			       flame_of_times());
	if (opts.diff && (opts.wakeups || opts.by_state ||
			  (opts.latency && !strcmp(opts.latency, "call"))))
		return err_set(err, ERR_USAGE,
			       "--diff compares samples, --off-cpu, --wall or "
			       "pairs of events: leave out --wakeups, "
			       "--by-state and '--latency call'");
	if (opts.latency && latency_sched_has(opts.latency))
		return err_set(err, ERR_USAGE,
			       "'--latency %s' is time off the CPU: ask for "
			       "--off-cpu instead",
			       opts.latency);
	if (opts.latency && (offcpu_opts.on || offcpu_opts.wall))
		return err_set(err, ERR_USAGE,
			       "--latency, --off-cpu and --wall are different "
			       "times; choose one");
	if (opts.weight &&
	    (flame_of_times() || opts.from_folded || by_samples()))
		return err_set(err, ERR_USAGE,
			       "--weight, --by samples, --off-cpu, --wall, "
			       "--latency and --from-folded are different "
			       "widths; choose one");
	if (filter.expr && (flame_of_times() || opts.from_folded))
		return err_set(err, ERR_USAGE,
			       "--filter is about samples: leave out "
			       "--off-cpu, --wall, --latency and "
			       "--from-folded");
	if (opts.from_folded &&
	    (filter_given(&filter) || opts.by_pid || opts.by_thread ||
	     opts.by_verdict || opts.no_comm || !opts.inlined))
		return err_set(
			err, ERR_USAGE,
			"--from-folded: a text has stacks only: leave out "
			"filters, --by-pid, --by-thread, --by-verdict, "
			"--no-comm and --no-inline");
	if ((opts.diff_by || opts.absolute) && !opts.diff)
		return err_set(err, ERR_USAGE,
			       "--diff-by and --absolute need --diff");
	if (opts.inlined_rows &&
	    (!opts.inlined || opts.from_folded || !opts.diff))
		return err_set(
			err, ERR_USAGE,
			"--inline is about --diff: add it, and leave out "
			"--no-inline and --from-folded");
	if (library_folds(&chosen_names) && (!opts.inlined || opts.from_folded))
		return err_set(err, ERR_USAGE,
			       "--fold-library is about inlined functions: "
			       "leave out --no-inline and --from-folded");
	if (diff_opts_check(opts.diff, err))
		return -1;
	o->title = opts.title ? opts.title : "Flame graph";
	o->subtitle = opts.subtitle;
	o->colors = palette_find(opts.colors ? opts.colors : palette_names[0]);
	o->width = (unsigned int)opts.width;
	o->upward = opts.upward;
	/* no program shows an SVG that has such a name */
	static const char *const others[] = {
		".png",	 ".jpg", ".jpeg", ".gif",
		".webp", ".pdf", ".html", ".json"
	};
	const char *end = opts.out_path ? strrchr(opts.out_path, '.') : NULL;

	if (end && any_where(ARRAY_SIZE(others), i, !strcmp(end, others[i])))
		return err_set(err, ERR_USAGE,
			       "%s: a flame graph is an SVG, which browsers "
			       "show: name it .svg ('page' makes HTML, "
			       "'export' other forms)",
			       opts.out_path);
	if (!opts.out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a picture is not text for a "
			       "terminal; add '> flame.svg' or '-o "
			       "flame.svg'");
	return 0;
}

static int flame_answer(FILE *out, void *arg, struct err *err)
{
	struct drawing *d = arg;

	return svg_write(out, d->tree, &d->o, err);
}

/* Draws one recording. Returns an enum status, or -1 and *err. */
static int flame_draw_one(int argc, char **argv, const struct svg_opts *o,
			  struct err *err)
{
	struct labels *labels = labels_new();
	struct drawing d = { .o = *o };
	const char *path = input_path(opts.open, argc, argv, err);
	int status = STATUS_OK;
	int rc = -1;

	if (path && !input_apart(path, opts.out_path, err) &&
	    !drawing_init(&d, &opts, labels, err))
		rc = offcpu_opts.on ? flame_offcpu(&d, path, &status, err)
				    : drawing_read(&d, path, &status, err);
	labels_shorten(labels, &chosen_names);
	if (!rc)
		rc = out_write(opts.out_path, flame_answer, &d, err);
	drawing_release(&d);
	labels_free(labels);
	return rc ? -1 : status;
}

static int flame_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct svg_opts o = { 0 };

	opts.open = &ask;
	opts.pick = (struct pick_opts){ include.item, exclude.item, include.n,
					exclude.n };
	opts.off_cpu = offcpu_opts.on;
	opts.wall = offcpu_opts.wall;
	opts.samples = by_samples();
	opts.names = chosen_names;
	opts.match = match_opts();
	opts.fail = &diff_limit;
	if (flame_check(&o, err))
		return -1;
	if (opts.weight || filter.expr)
		ask.load.fields = filter.event ?: "all";
	if (!flame_of_times() && !opts.weight && !filter.expr)
		ask.filter = &filter;
	ask.detail = (opts.by_pid || opts.by_thread ? SERVER_THREADS : 0) |
		     (opts.by_verdict ? SERVER_VERDICTS : 0);
	if (!opts.diff)
		return flame_draw_one(argc, argv, &o, err);
	struct sides s RELEASED_BY(sides_release) = { 0 };

	return sides_take(&s, argc, argv, options_before, err)
		       ? -1
		       : flame_diff(&s, &opts, &o, err);
}

const struct command cmd_flame = {
	.name = "flame",
	.args = "[options] [DB | CAPTURE | URL] | --diff A... [--] B...",
	.summary = "draw a flame graph",
	.examples = { "backstitch flame perf.db > flame.svg",
		      "backstitch flame --event cycles --comm nginx -o nginx.svg perf.data",
		      "backstitch flame --diff before.db after.db > diff.svg",
		      "backstitch flame --off-cpu --wakeups --comm nginx perf.db > wait.svg",
		      "backstitch flame --latency syscall perf.db > calls.svg",
		      "backstitch flame --weight bytes_req perf.db > kmalloc.svg" },
	.opts = flame_opt_table,
	.common =
		"output by include exclude reverse off-cpu wall diff by-thread by-verdict comm time event pid",
	.run = flame_run,
};
