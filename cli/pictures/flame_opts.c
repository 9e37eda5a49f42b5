/* flame_opts.c - the options of the flame command, and their checks. */
#include "cli/pictures/flame_opts.h"

#include <limits.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/model/diff_limit.h"
#include "cli/model/filter.h"
#include "cli/model/interpreter.h"
#include "cli/model/library.h"
#include "cli/model/matching.h"
#include "cli/model/offcpu.h"
#include "cli/model/shown_names.h"
#include "cli/model/suffix.h"
#include "cli/model/weight.h"
#include "cli/pictures/palette.h"
#include "cli/pictures/svg.h"
#include "stitch/base/err.h"

#define WIDTH 1200
#define WIDTH_OF_WINDOW LONG_MIN

struct flame_opts flame_opts = {
	.minwidth = "0.1",
	.width = WIDTH_OF_WINDOW,
	.inlined = true,
};

static const char *const diff_words[] = { "self", "total", NULL };

const struct opt flame_opt_table[] = {
	OPT_HEADING("Output"),
	OPT_STRING('o', "output", "FILE", &flame_opts.out_path,
		   "write to FILE instead of standard output"),
	OPT_FLAG(0, "from-folded", &flame_opts.from_folded,
		 "the input is folded stacks, not a capture"),
	OPT_HEADING("How to show it"),
	OPT_STRING(0, "title", "TEXT", &flame_opts.title, "above the picture"),
	OPT_STRING(0, "subtitle", "TEXT", &flame_opts.subtitle,
		   "second line above the picture"),
	OPT_NUMBER(0, "width", "PX", &flame_opts.width,
		   "of the picture (the window's; 1200 without scripts)"),
	OPT_STRING(0, "minwidth", "PX", &flame_opts.minwidth,
		   "leave out narrower frames (0.1); '0.5%' for a share"),
	OPT_CHOICE(0, "colors", "PALETTE", &flame_opts.colors, palette_names,
		   "kind (by kind of code), hot, or a color"),
	OPT_FLAG(0, "reverse", &flame_opts.reverse,
		 "merge stacks from the innermost frame"),
	OPT_FLAG(0, "collapse-recursion", &flame_opts.collapse,
		 "a function that calls itself is one frame"),
	OPT_FLAG(0, "inverted", &flame_opts.inverted,
		 "icicle: the root on top, as without it"),
	OPT_FLAG(0, "upward", &flame_opts.upward,
		 "the root below, callees above their callers"),
	OPT_FLAG(0, "by-pid", &flame_opts.by_pid,
		 "a frame for each process below the names"),
	OPT_FLAG(0, "by-thread", &flame_opts.by_thread,
		 "a frame for each thread below the names"),
	OPT_FLAG(0, "by-verdict", &flame_opts.by_verdict,
		 "a frame at the root for each verdict on user stacks"),
	OPT_FLAG(0, "no-comm", &flame_opts.no_comm,
		 "no frames for thread names"),
	OPT_HEADING("Before and after"),
	OPT_FLAG(0, "diff", &flame_opts.diff,
		 "what changed: 'flame --diff BEFORE AFTER'"),
	OPT_CHOICE(0, "diff-by", "WHAT", &flame_opts.diff_by, diff_words,
		   "color by the change of self or total (self)"),
	OPT_FLAG(0, "absolute", &flame_opts.absolute,
		 "compare weights as they are, not shares of the whole"),
	OPT_GROUP(matching_opts),
	OPT_GROUP(diff_limit_opts),
	OPT_HEADING("What to count"),
	OPT_GROUP(by_opts),
	OPT_STRING(0, "weight", "EXPR", &flame_opts.weight,
		   "widths by an SQL expression on each sample, such as "
		   "latency_ns or a field of its event"),
	OPT_GROUP(offcpu_opt_table),
	OPT_FLAG(0, "by-state", &flame_opts.by_state,
		 "with --off-cpu: a frame at the root for each state"),
	OPT_FLAG(0, "wakeups", &flame_opts.wakeups,
		 "with --off-cpu: above each stack that of the waker"),
	OPT_HEADING("Names"),
	OPT_FLAG(0, "inline", &flame_opts.inlined_rows,
		 "with --diff: judge inlined functions as well"),
	OPT_NO(0, "no-inline", &flame_opts.inlined,
	       "leave out inlined functions"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(library_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(filter_expr_opts),
	OPT_LIST(0, "include", "REGEX", &flame_opts.include,
		 "only stacks with a frame that matches; given twice, with "
		 "both"),
	OPT_LIST(0, "exclude", "REGEX", &flame_opts.exclude,
		 "no stacks with a frame that matches"),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(input_server_opts),
	{ .kind = OPT_END }
};

/* Parses "0.1" or "0.5%" into thousandths. strtod() would want "0,1" in some
 * locales. */
static int parse_minwidth(struct svg_opts *o, struct err *err)
{
	const char *s = flame_opts.minwidth;
	uint64_t v = 0;
	unsigned int places = 0;
	bool point = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
		} else if (v < 1000000000 && places < 3) {
			v = v * 10 + (uint64_t)(*s - '0');
			places += point;
		}
	}
	for (; places < 3; places++)
		v *= 10;
	o->min_percent = *s == '%';
	if (s == flame_opts.minwidth || s[o->min_percent])
		return err_set(err, ERR_USAGE,
			       "--minwidth needs a width such "
			       "as 0.1 or 0.5%%, not '%s'",
			       flame_opts.minwidth);
	o->minwidth = v;
	return 0;
}

int flame_opts_check(struct svg_opts *o, struct err *err)
{
	o->fluid = flame_opts.width == WIDTH_OF_WINDOW;
	if (o->fluid)
		flame_opts.width = WIDTH;
	if (flame_opts.width < 100 || flame_opts.width > 100000)
		return err_set(err, ERR_USAGE,
			       "--width must be from 100 to 100000");
	if (parse_minwidth(o, err) || offcpu_check(err))
		return -1;
	if ((flame_opts.wakeups || flame_opts.by_state) && !offcpu_opts.on)
		return err_set(err, ERR_USAGE,
			       "--wakeups and --by-state need --off-cpu");
	if ((offcpu_opts.on || offcpu_opts.wall) &&
	    (flame_opts.diff || flame_opts.from_folded || by_samples() ||
	     flame_opts.by_verdict))
		return err_set(err, ERR_USAGE,
			       "--%s is a picture of its own: leave out "
			       "--diff, --from-folded, --by samples and "
			       "--by-verdict",
			       offcpu_opts.on ? "off-cpu" : "wall");
	if (flame_opts.weight && (offcpu_opts.on || offcpu_opts.wall ||
				  flame_opts.from_folded || by_samples()))
		return err_set(err, ERR_USAGE,
			       "--weight, --by samples, --off-cpu, --wall and "
			       "--from-folded are different widths; choose "
			       "one");
	if (flame_opts.inverted && flame_opts.upward)
		return err_set(err, ERR_USAGE,
			       "--inverted and --upward are opposites; choose "
			       "one");
	if (filter.expr &&
	    (offcpu_opts.on || offcpu_opts.wall || flame_opts.from_folded))
		return err_set(err, ERR_USAGE,
			       "--filter is about samples: leave out "
			       "--off-cpu, --wall and --from-folded");
	if ((flame_opts.diff_by || flame_opts.absolute) && !flame_opts.diff)
		return err_set(err, ERR_USAGE,
			       "--diff-by and --absolute need --diff");
	if (flame_opts.inlined_rows &&
	    (!flame_opts.inlined || flame_opts.from_folded || !flame_opts.diff))
		return err_set(
			err, ERR_USAGE,
			"--inline is about --diff: add it, and leave out "
			"--no-inline and --from-folded");
	if (library_asked() && (!flame_opts.inlined || flame_opts.from_folded))
		return err_set(err, ERR_USAGE,
			       "--fold-library is about inlined functions: "
			       "leave out --no-inline and --from-folded");
	if (matching_allowed(flame_opts.diff, err) ||
	    diff_limit_check(flame_opts.diff, err))
		return -1;
	o->title = flame_opts.title	 ? flame_opts.title
		   : flame_opts.inverted ? "Icicle graph"
					 : "Flame graph";
	o->subtitle = flame_opts.subtitle;
	o->colors = palette_find(flame_opts.colors ? flame_opts.colors
						   : palette_names[0]);
	o->width = (unsigned int)flame_opts.width;
	o->upward = flame_opts.upward;
	if (!flame_opts.out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a picture is not text for a "
			       "terminal; add '> flame.svg' or '-o "
			       "flame.svg'");
	return 0;
}
