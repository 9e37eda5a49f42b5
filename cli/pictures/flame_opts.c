/* flame_opts.c - the options of flame, and whether they make sense. */
#include "cli/pictures/flame_opts.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/model/filter.h"
#include "cli/model/interpreter.h"
#include "cli/model/offcpu.h"
#include "cli/pictures/palette.h"
#include "cli/pictures/svg.h"
#include "stitch/base/err.h"

struct flame_opts flame_opts = {
	.minwidth = "0.1",
	.fonttype = "monospace",
	.width = 1200,
	.height = 16,
	.fontsize = 12,
	.inlined = true,
};

static const char *const diff_words[] = { "self", "total", NULL };

const struct opt flame_opt_table[] = {
	{ .kind = OPT_STRING,
	  .letter = 'o',
	  .name = "output",
	  .arg = "FILE",
	  .help = "write to FILE instead of standard output",
	  .value = &flame_opts.out_path },
	{ .kind = OPT_FLAG,
	  .name = "samples",
	  .help = "widths are numbers of samples, not their weight",
	  .value = &flame_opts.count_samples },
	{ .kind = OPT_STRING,
	  .name = "weight",
	  .arg = "EXPR",
	  .help = "widths by an SQL expression on each sample, such as "
		  "latency_ns or a field of its event",
	  .value = &flame_opts.weight },
	{ .kind = OPT_FLAG,
	  .name = "folded",
	  .help = "print folded stacks, one a line, instead of a picture",
	  .value = &flame_opts.as_folded },
	{ .kind = OPT_FLAG,
	  .name = "from-folded",
	  .help = "the input is folded stacks, not a capture",
	  .value = &flame_opts.from_folded },
	{ .kind = OPT_STRING,
	  .name = "title",
	  .arg = "TEXT",
	  .help = "above the picture",
	  .value = &flame_opts.title },
	{ .kind = OPT_STRING,
	  .name = "subtitle",
	  .arg = "TEXT",
	  .help = "second line above the picture",
	  .value = &flame_opts.subtitle },
	{ .kind = OPT_NUMBER,
	  .name = "width",
	  .arg = "PX",
	  .help = "of the picture (1200)",
	  .value = &flame_opts.width },
	{ .kind = OPT_NUMBER,
	  .name = "height",
	  .arg = "PX",
	  .help = "of one frame (16)",
	  .value = &flame_opts.height },
	{ .kind = OPT_STRING,
	  .name = "minwidth",
	  .arg = "PX",
	  .help = "leave out frames narrower than this; '0.5%' for a share "
		  "(0.1)",
	  .value = &flame_opts.minwidth },
	{ .kind = OPT_CHOICE,
	  .name = "colors",
	  .arg = "PALETTE",
	  .help = "kind (by kind of code), hot, mem, io, java, js, perl, or a "
		  "color",
	  .value = &flame_opts.colors,
	  .choices = palette_names },
	{ .kind = OPT_FLAG,
	  .name = "hash",
	  .help = "colors by name; they always are",
	  .value = &flame_opts.hash },
	{ .kind = OPT_FLAG,
	  .name = "reverse",
	  .help = "merge stacks from the innermost frame",
	  .value = &flame_opts.reverse },
	{ .kind = OPT_FLAG,
	  .name = "inverted",
	  .help = "icicle: the root on top",
	  .value = &flame_opts.inverted },
	{ .kind = OPT_STRING,
	  .name = "fonttype",
	  .arg = "FONT",
	  .help = "of fixed width, or texts may not fit (monospace)",
	  .value = &flame_opts.fonttype },
	{ .kind = OPT_NUMBER,
	  .name = "fontsize",
	  .arg = "PX",
	  .help = "of all text (12)",
	  .value = &flame_opts.fontsize },
	{ .kind = OPT_STRING,
	  .name = "countname",
	  .arg = "WORD",
	  .help = "the unit to show (by the event)",
	  .value = &flame_opts.countname },
	{ .kind = OPT_NUMBER,
	  .name = "total",
	  .arg = "N",
	  .help = "what the whole width stands for (the sum)",
	  .value = &flame_opts.total },
	{ .kind = OPT_FLAG,
	  .name = "by-pid",
	  .help = "a frame for each process below the names",
	  .value = &flame_opts.by_pid },
	{ .kind = OPT_FLAG,
	  .name = "by-thread",
	  .help = "a frame for each thread below the names",
	  .value = &flame_opts.by_thread },
	{ .kind = OPT_FLAG,
	  .name = "by-verdict",
	  .help = "a frame at the root for each verdict on user stacks",
	  .value = &flame_opts.by_verdict },
	{ .kind = OPT_FLAG,
	  .name = "no-comm",
	  .help = "no frames for thread names",
	  .value = &flame_opts.no_comm },
	{ .kind = OPT_LIST,
	  .name = "include",
	  .arg = "REGEX",
	  .help = "only stacks with a frame that matches; given twice, with "
		  "both",
	  .value = &flame_opts.include },
	{ .kind = OPT_LIST,
	  .name = "exclude",
	  .arg = "REGEX",
	  .help = "no stacks with a frame that matches",
	  .value = &flame_opts.exclude },
	{ .kind = OPT_FLAG,
	  .name = "diff",
	  .help = "what changed from one recording to another: 'flame --diff "
		  "BEFORE AFTER'",
	  .value = &flame_opts.diff },
	{ .kind = OPT_CHOICE,
	  .name = "diff-by",
	  .arg = "WHAT",
	  .help = "color by the change of self or total (self)",
	  .value = &flame_opts.diff_by,
	  .choices = diff_words },
	{ .kind = OPT_FLAG,
	  .name = "absolute",
	  .help = "compare weights as they are, not shares of the whole",
	  .value = &flame_opts.absolute },
	{ .kind = OPT_GROUP, .value = (void *)offcpu_opt_table },
	{ .kind = OPT_FLAG,
	  .name = "by-state",
	  .help = "with --off-cpu: a frame at the root for each state",
	  .value = &flame_opts.by_state },
	{ .kind = OPT_FLAG,
	  .name = "wakeups",
	  .help = "with --off-cpu: above each stack that of the waker",
	  .value = &flame_opts.wakeups },
	{ .kind = OPT_NO,
	  .name = "no-inline",
	  .help = "leave out inlined functions",
	  .value = &flame_opts.inlined },
	{ .kind = OPT_GROUP, .value = (void *)interpreter_opts },
	{ .kind = OPT_GROUP, .value = (void *)filter_opts },
	{ .kind = OPT_GROUP, .value = (void *)ingest_opts },
	{ .kind = OPT_END }
};

/* "0.1" or "0.5%" into thousandths; no strtod(): "0,1" in some locales. */
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

static int check_range(const char *name, long v, long min, long max,
		       struct err *err)
{
	if (v >= min && v <= max)
		return 0;
	return err_set(err, ERR_USAGE, "--%s must be from %ld to %ld", name,
		       min, max);
}

static int check_kind(struct err *err)
{
	if (offcpu_check(err))
		return -1;
	if ((flame_opts.wakeups || flame_opts.by_state) && !offcpu_opts.on)
		return err_set(err, ERR_USAGE,
			       "--wakeups and --by-state need --off-cpu");
	if (offcpu_opts.on &&
	    (flame_opts.diff || flame_opts.from_folded ||
	     flame_opts.count_samples || flame_opts.by_verdict))
		return err_set(err, ERR_USAGE,
			       "--off-cpu is a picture of its own: leave out "
			       "--diff, --from-folded, --samples and "
			       "--by-verdict");
	if (flame_opts.weight && (offcpu_opts.on || flame_opts.from_folded ||
				  flame_opts.count_samples))
		return err_set(err, ERR_USAGE,
			       "--weight, --samples, --off-cpu and "
			       "--from-folded are different widths; choose "
			       "one");
	if ((flame_opts.diff_by || flame_opts.absolute) && !flame_opts.diff)
		return err_set(err, ERR_USAGE,
			       "--diff-by and --absolute need --diff");
	return 0;
}

int flame_opts_check(struct svg_opts *o, struct err *err)
{
	if (check_range("width", flame_opts.width, 100, 100000, err) ||
	    check_range("fontsize", flame_opts.fontsize, 4, 72, err) ||
	    check_range("height", flame_opts.height, 4, 200, err) ||
	    check_range("total", flame_opts.total, 0, LONG_MAX, err) ||
	    parse_minwidth(o, err) || check_kind(err))
		return -1;
	o->title = flame_opts.title	 ? flame_opts.title
		   : flame_opts.inverted ? "Icicle graph"
					 : "Flame graph";
	o->subtitle = flame_opts.subtitle;
	o->colors = palette_find(flame_opts.colors ? flame_opts.colors
						   : palette_names[0]);
	o->fonttype = flame_opts.fonttype;
	o->width = (unsigned int)flame_opts.width;
	o->height = (unsigned int)flame_opts.height;
	o->fontsize = (unsigned int)flame_opts.fontsize;
	o->inverted = flame_opts.inverted;
	o->total = (uint64_t)flame_opts.total;
	if (!flame_opts.out_path && !flame_opts.as_folded && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a picture is no text for a "
			       "terminal; add '> flame.svg' or '-o "
			       "flame.svg'");
	return 0;
}
