/* page.c - the command that writes one page of a recording, or of what changed
 * since another one. */
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "analyze/diffs/sides.h"
#include "cli/args/options.h"
#include "cli/output/out.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame.h"
#include "cli/page/page.h"
#include "cli/page/page_sides.h"
#include "analyze/stacks/report_rows.h"
#include "cli/tables/report.h"
#include "cli/server/server.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *out_path;
static bool diff, absolute;
static bool with_source = true;

static const struct opt opts[] = {
	OPT_STRING('o', "output", "FILE", &out_path,
		   "write the page to FILE instead of standard output"),
	OPT_NO(0, "no-source", &with_source,
	       "no code and source lines of the hot functions"),
	OPT_HEADING("Before and after"),
	OPT_FLAG(0, "diff", &diff,
		 "also what changed: 'page --diff BEFORE AFTER'"),
	OPT_FLAG(0, "absolute", &absolute,
		 "with --diff: compare weights as they are, not shares"),
	OPT_GROUP(matching_opts),
	OPT_HEADING("What to count"),
	OPT_GROUP(wall_opt_table),
	OPT_GROUP(by_opts),
	OPT_GROUP(report_names_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(source_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Writes the page of db, and closes db. Returns 0, or -1 and *err; if db is
 * NULL, who opened it has set *err. */
static int page_write(const struct open_ask *ask, struct store *db,
		      const char *path, const struct report_opts *o,
		      const struct diff_model *changes,
		      struct page_sides *sides, struct err *err)
{
	const struct page_opts what = {
		.filter = &filter,
		.inlined = o->inlined,
		.inlined_rows = o->keys & KEY_INLINED,
		.samples = by_samples(),
		.wall = offcpu_opts.wall,
		.names = chosen_names,
		.source = with_source,
		.source_dir = source_dirs.item,
		.n_source_dir = source_dirs.n,
		.files = &ask->load.name,
		.diff = changes,
		.sides = sides,
	};
	struct html_page *p = db ? html_page_new(db, path, &what, err) : NULL;
	int rc = p ? out_write(out_path, html_page_write, p, err) : -1;

	html_page_free(p);
	store_close(db);
	return rc;
}

/* Writes the page of the second recording, with what changed since the first.
 * Returns an enum status, or -1 and *err. */
static int page_compare(const struct open_ask *ask, const struct sides *s,
			const struct report_opts *o, struct err *err)
{
	struct page_sides *sides = page_sides_new(&filter, chosen_names);
	const struct flame_opts what = {
		.each = page_sides_add,
		.each_arg = sides,
		.open = ask,
		.filter = &filter,
		.inlined = o->inlined,
		.inlined_rows = o->keys & KEY_INLINED,
		.absolute = absolute,
		.wall = offcpu_opts.wall,
		.samples = by_samples(),
		.names = chosen_names,
		.match = match_opts(),
	};
	const struct side *b = &s->side[1];
	const struct svg_opts none = { .title = NULL };
	struct diff_model m RELEASED_BY(diff_model_release) = { .all = NULL };
	int status = STATUS_OK;
	int rc = 0;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; !rc && k < s->side[i].n; k++)
			rc = input_apart(s->side[i].path[k], out_path, err);
	if (!rc)
		rc = diff_model_read(&m, s, &what, &none, &status, err);
	const char *path = rc ? NULL : input_path(ask, (int)b->n, b->path, err);
	rc = path ? page_write(ask, database_open(ask, path, &status, err),
			       path, o, &m, sides, err)
		  : -1;
	page_sides_free(sides);
	return rc ? -1 : status;
}

static int page_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct report_opts o = { .keys = 0 };
	struct sides s RELEASED_BY(sides_release) = { 0 };
	int status = STATUS_OK;
	const char *path;

	if (offcpu_opts.wall && by_given())
		return err_set(err, ERR_USAGE,
			       "--wall counts time: leave out --by");
	if (absolute && !diff)
		return err_set(err, ERR_USAGE,
			       "--absolute is for --diff: add it, and a second "
			       "recording");
	if (offcpu_check(err))
		return -1;
	if (!out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a page is no text for a terminal; add "
			       "'-o report.html'");
	if (diff_opts_check(diff, err))
		return -1;
	if (report_take_inlined(&o, err))
		return -1;
	ask.filter = offcpu_opts.wall ? NULL : &filter;
	ask.detail = SERVER_CPUS | SERVER_VERDICTS;
	if (diff)
		return sides_take(&s, argc, argv, options_before, err)
			       ?: page_compare(&ask, &s, &o, err);
	struct store *db = database_from_args(&ask, argc, argv, out_path, &path,
					      &status, err);
	return page_write(&ask, db, path, &o, NULL, NULL, err) ? -1 : status;
}

const struct command cmd_page = {
	.name = "page",
	.args = "[options] [DB | CAPTURE | URL] | --diff A... [--] B...",
	.summary = "write one HTML page: flame graph, timeline and tables",
	.examples = { "backstitch page -o report.html perf.db",
		      "backstitch page --diff -o report.html before.db after.db" },
	.opts = opts,
	.common =
		"output no-source source-dir diff absolute wall by comm time event pid",
	.run = page_run,
};
