/* flame.c - the command that draws flame graphs. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/ingest/load.h"
#include "cli/input.h"
#include "cli/model/filter.h"
#include "cli/model/sides.h"
#include "cli/options.h"
#include "cli/pictures/flame_diff.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame_offcpu.h"
#include "cli/pictures/flame_opts.h"
#include "cli/model/label.h"
#include "cli/model/offcpu.h"
#include "cli/output/out.h"
#include "cli/pictures/svg.h"
#include "cli/server/server.h"
#include "stitch/base/err.h"

static int flame_answer(FILE *out, void *arg, struct err *err)
{
	struct drawing *d = arg;

	return svg_write(out, d->tree, &d->o, NULL, err);
}

static int flame_draw_one(int argc, char **argv, const struct svg_opts *o,
			  struct err *err)
{
	struct labels *labels = labels_new();
	struct drawing d = { .o = *o };
	const char *path = input_path(argc, argv, err);
	int status = STATUS_OK;
	int rc = -1;

	if (path && !input_apart(path, flame_opts.out_path, err) &&
	    !drawing_init(&d, labels, err))
		rc = offcpu_opts.on ? flame_offcpu(&d, path, &status, err)
				    : drawing_read(&d, path, &status, err);
	labels_shorten(labels);
	if (!rc)
		rc = out_write(flame_opts.out_path, flame_answer, &d, err);
	drawing_release(&d);
	labels_free(labels);
	return rc ? -1 : status;
}

static int flame_draw_diff(int argc, char **argv, const struct svg_opts *o,
			   struct err *err)
{
	struct sides s = { 0 };
	int ret = sides_take(&s, argc, argv, options_before, err)
			  ? -1
			  : flame_diff(&s, o, err);

	sides_release(&s);
	return ret;
}

static int flame_run(int argc, char **argv, struct err *err)
{
	struct svg_opts o = { 0 };

	if (flame_opts_check(&o, err))
		return -1;
	if (flame_opts.weight || filter.expr)
		load_want_fields(filter.event);
	if (!offcpu_opts.on && !offcpu_opts.wall && !flame_opts.weight &&
	    !filter.expr)
		input_take_server(
			(flame_opts.by_pid || flame_opts.by_thread
				 ? SERVER_THREADS
				 : 0) |
			(flame_opts.by_verdict ? SERVER_VERDICTS : 0));
	if (flame_opts.diff)
		return flame_draw_diff(argc, argv, &o, err);
	return flame_draw_one(argc, argv, &o, err);
}

static const char *const examples[] = {
	"backstitch flame perf.db > flame.svg",
	"backstitch flame --event cycles --comm nginx -o nginx.svg perf.data",
	"backstitch flame --diff before.db after.db > diff.svg",
	"backstitch flame --off-cpu --wakeups --comm nginx perf.db > wait.svg",
	"backstitch flame --weight bytes_req perf.db > kmalloc.svg",
	NULL
};

extern const struct command cmd_flame;
const struct command cmd_flame = {
	.name = "flame",
	.args = "[options] [DB | CAPTURE | URL] | --diff A... [--] B...",
	.summary = "draw a flame graph",
	.examples = examples,
	.opts = flame_opt_table,
	.common =
		"output by include exclude reverse off-cpu wall diff by-thread by-verdict comm time event pid",
	.run = flame_run,
};
