/* report.c - the command that prints tables: hot functions, callers, callees,
 * changes. */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/model/diff_limit.h"
#include "cli/model/filter.h"
#include "cli/model/interpreter.h"
#include "cli/model/library.h"
#include "cli/model/matching.h"
#include "cli/model/offcpu.h"
#include "cli/model/report_rows.h"
#include "cli/model/shown_names.h"
#include "cli/model/sides.h"
#include "cli/model/source_text.h"
#include "cli/model/suffix.h"
#include "cli/model/weight.h"
#include "cli/options.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/term.h"
#include "cli/pictures/page.h"
#include "cli/pictures/page_diff.h"
#include "cli/tables/report.h"
#include "schema/store.h"
#include "cli/server/server.h"
#include "stitch/base/err.h"

#define LIMIT 40
#define LIMIT_MIN 10
#define AROUND 11 /* lines above and below the table on a screen */

static const char *sort_keys, *order, *callers, *callees;
static long limit = -1, depth;
static bool self_only, diff, absolute, as_html, graph, inverted;
static const char *out_path;
static bool inlined = true, inline_rows, with_source = true;

static const char *const order_words[] = { "self", "total", NULL };

static const struct opt opts[] = {
	OPT_GROUP(offcpu_opt_table),
	OPT_GROUP(by_opts),
	OPT_HEADING("How to show it"),
	OPT_STRING('s', "sort", "KEYS", &sort_keys,
		   "one row for each value of KEYS, a list of comm, "
		   "comm_nodigit, pid, tid, cpu, dso, sym, srcline, verdict "
		   "(sym,dso)"),
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
	OPT_HEADING("Before and after"),
	OPT_FLAG(0, "diff", &diff,
		 "compare two recordings: 'report --diff BEFORE AFTER'"),
	OPT_FLAG(0, "absolute", &absolute,
		 "with --diff: compare weights as they are, not shares"),
	OPT_GROUP(matching_opts),
	OPT_GROUP(diff_limit_opts),
	OPT_HEADING("Output"),
	OPT_FLAG(0, "html", &as_html,
		 "write one HTML page: flame graph, timeline and tables"),
	OPT_STRING('o', "output", "FILE", &out_path,
		   "write the page to FILE instead of standard output"),
	OPT_NO(0, "no-source", &with_source,
	       "with --html: no code and source lines of the hot functions"),
	OPT_GROUP(output_opts),
	OPT_HEADING("Names"),
	OPT_FLAG(0, "inline", &inline_rows,
		 "rows for inlined functions as well"),
	OPT_NO(0, "no-inline", &inlined, "no inlined functions at all"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(library_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(source_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(input_server_opts),
	{ .kind = OPT_END }
};

static const struct {
	const char *word;
	unsigned int key;
} key_words[] = {
	{ "comm_nodigit", KEY_COMM | KEY_NODIGIT },
	{ "comm", KEY_COMM },
	{ "pid", KEY_PID },
	{ "tid", KEY_TID },
	{ "cpu", KEY_CPU },
	{ "sym", KEY_SYM },
	{ "symbol", KEY_SYM },
	{ "srcline", KEY_LINE },
	{ "dso", KEY_DSO },
	{ "image", KEY_DSO },
	{ "verdict", KEY_VERDICT },
};

static int parse_keys(unsigned int *keys, struct err *err)
{
	const char *p = sort_keys ? sort_keys : "sym,dso";

	*keys = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned int key = 0;

		for (size_t i = 0; i < sizeof(key_words) / sizeof(*key_words);
		     i++) {
			if (strlen(key_words[i].word) == len &&
			    !strncmp(key_words[i].word, p, len))
				key = key_words[i].key;
		}
		if (!key)
			return err_set(err, ERR_USAGE,
				       "--sort knows comm, "
				       "comm_nodigit, pid, tid, cpu, dso, sym, "
				       "srcline and verdict, not "
				       "'%.*s'",
				       (int)len, p);
		*keys |= key;
		p += len;
		if (!*p++)
			return 0;
	}
}

/* Returns --limit; by default a table on a terminal fills one screen. */
static size_t row_limit(const char *format)
{
	int screen = term_rows(stdout) - AROUND;

	if (limit >= 0)
		return limit ? (size_t)limit : SIZE_MAX;
	if (strcmp(format, "table") != 0)
		return SIZE_MAX;
	if (screen <= 0 || screen >= LIMIT || !term_is_terminal(stdout))
		return LIMIT;
	return screen > LIMIT_MIN ? (size_t)screen : LIMIT_MIN;
}

/* Returns whether inlined functions have rows. */
static bool row_of_inlined(void)
{
	return inline_rows || library_asked();
}

/* Checks the options of --html, which excludes those of tables. */
static int check_html(struct err *err)
{
	if (!as_html && out_path)
		return err_set(err, ERR_USAGE,
			       "-o is where --html goes; redirect a table with "
			       "'>'");
	if (as_html && (callers || callees || output_asked()))
		return err_set(err, ERR_USAGE,
			       "--html writes a page and no table; leave out "
			       "--callers, --callees, --format and --json");
	if (as_html && !out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a page is no text for a terminal; add "
			       "'-o report.html'");
	return 0;
}

/* Checks the options that --off-cpu has no use for. */
static int report_check_offcpu(struct err *err)
{
	if (offcpu_opts.on &&
	    (diff || as_html || order || self_only || by_samples()))
		return err_set(err, ERR_USAGE,
			       "--off-cpu is a table of its own: leave out "
			       "--diff, --html, --order, --no-children and "
			       "--by");
	if (offcpu_opts.on && sort_keys && strcmp(sort_keys, "comm") != 0)
		return err_set(err, ERR_USAGE,
			       "--off-cpu has a row for each cause and place, "
			       "or with --sort comm for each thread; it has no "
			       "rows for '%s'",
			       sort_keys);
	return offcpu_check(err);
}

/* Checks the options about inlined functions. */
static int check_inline(struct err *err)
{
	if (row_of_inlined() && !inlined)
		return err_set(err, ERR_USAGE,
			       "--inline and --fold-library show inlined "
			       "functions, and --no-inline leaves them out");
	if (row_of_inlined() && offcpu_opts.on)
		return err_set(err, ERR_USAGE,
			       "--inline and --fold-library are for the table "
			       "of functions: leave out --off-cpu");
	return 0;
}

/* Checks the options of the tree. */
static int check_tree(struct err *err)
{
	bool tree = graph || inverted;

	if (tree &&
	    (callers || callees || diff || as_html ||
	     (!offcpu_opts.on && strcmp(output_chosen()->name, "table") != 0)))
		return err_set(err, ERR_USAGE,
			       "-g and -G are text below the table of "
			       "functions: leave out --callers, --callees, "
			       "--diff, --html, --json and --format");
	if ((inverted || depth) && offcpu_opts.on)
		return err_set(err, ERR_USAGE,
			       "-G and --depth are about the tree of calls: "
			       "leave out --off-cpu");
	if (depth < 0 || (depth && !tree))
		return err_set(err, ERR_USAGE,
			       "--depth is a number of levels, for -g or -G");
	return 0;
}

static int report_check_options(struct err *err)
{
	if (check_html(err) || check_inline(err) || check_tree(err))
		return -1;
	if (callers && callees)
		return err_set(err, ERR_USAGE,
			       "--callers and --callees are "
			       "two tables; ask for one at a time");
	if (report_check_offcpu(err))
		return -1;
	if (offcpu_opts.wall && (diff || by_samples()))
		return err_set(err, ERR_USAGE,
			       "--wall counts time: leave out --diff and "
			       "--by samples");
	if (absolute && !diff)
		return err_set(err, ERR_USAGE,
			       "--absolute is for --diff: add it, and a second "
			       "recording");
	if (limit < -1)
		return err_set(err, ERR_USAGE, "--limit must be 0 or more");
	if (diff && sort_keys && strstr(sort_keys, "srcline"))
		return err_set(
			err, ERR_USAGE,
			"lines of two builds are not the same code: leave "
			"out --diff or --sort srcline");
	if (diff && (callers || callees || self_only))
		return err_set(err, ERR_USAGE,
			       "--diff is a table of its own: leave out "
			       "--callers, --callees and "
			       "--no-children");
	return matching_allowed(diff, err) ||
			       diff_limit_check(diff && !as_html, err)
		       ? -1
		       : 0;
}

static int report_write_html(struct store *db, const char *path,
			     const struct report_opts *o,
			     const struct page_diff *changes, struct err *err)
{
	const struct page_opts what = {
		.inlined = o->inlined,
		.inlined_rows = o->keys & KEY_INLINED,
		.samples = o->by_samples,
	};
	struct html_page *p = html_page_new(db, path, &what, err);
	int rc = p ? 0 : -1;

	if (!rc)
		html_page_add_diff(p, changes);
	if (!rc && with_source)
		rc = html_page_add_source(p, err);
	if (!rc)
		rc = out_write(out_path, html_page_write, p, err);
	html_page_free(p);
	return rc;
}

static int report_answer(struct store *db, const char *path,
			 const struct report_opts *o, struct err *err)
{
	if (as_html)
		return report_write_html(db, path, o, NULL, err);
	if (offcpu_opts.on && !o->callers && !o->callees)
		return report_offcpu(db, path, o, err);
	return report_table(db, path, o, err);
}

/* Writes the page of the second recording, with what changed since the
 * first. */
static int report_html_diff(const struct sides *s, const struct report_opts *o,
			    struct err *err)
{
	const struct page_diff_opts what = { .inlined = o->inlined,
					     .absolute = o->absolute };
	const struct side *b = &s->side[1];
	const char *path = NULL;
	struct store *db = NULL;
	struct page_diff *p;
	int status = STATUS_OK;
	int rc = 0;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; !rc && k < s->side[i].n; k++)
			rc = input_apart(s->side[i].path[k], out_path, err);
	if (!rc && o->absolute && s->side[0].n + s->side[1].n > 2)
		rc = err_set(err, ERR_USAGE,
			     "--html compares the numbers of two recordings; "
			     "leave out --absolute for several runs");
	p = rc ? NULL : page_diff_new(s, &what, &status, err);
	if (p)
		path = input_path((int)b->n, b->path, err);
	if (path)
		db = database_open(path, &status, err);
	rc = db ? report_write_html(db, path, o, p, err) : -1;
	store_close(db);
	page_diff_free(p);
	return rc ? -1 : status;
}

static int report_compare(int argc, char **argv, const struct report_opts *o,
			  struct err *err)
{
	struct sides s = { 0 };
	int ret = sides_take(&s, argc, argv, options_before, err);

	if (!ret)
		ret = as_html ? report_html_diff(&s, o, err)
			      : report_diff(&s, o, err);
	sides_release(&s);
	return ret;
}

/* Returns what the groups of a server have to tell apart. */
static unsigned int report_detail(unsigned int keys)
{
	if (as_html)
		return SERVER_CPUS | SERVER_VERDICTS;
	return (keys & (KEY_PID | KEY_TID) ? SERVER_THREADS : 0) |
	       (keys & KEY_CPU ? SERVER_CPUS : 0) |
	       (keys & KEY_VERDICT ? SERVER_VERDICTS : 0);
}

static int report_run(int argc, char **argv, struct err *err)
{
	const char *format = output_chosen()->name;
	struct report_opts o = {
		.format = format,
		.limit = row_limit(format),
		.by_samples = by_samples(),
		.by_total = order && !strcmp(order, "total"),
		.self_only = self_only,
		.absolute = absolute,
		.inlined = inlined,
		.graph = graph || inverted,
		.inverted = inverted,
		.depth = (size_t)depth,
		.callers = callers,
		.callees = callees,
	};
	int status = STATUS_OK;
	const char *path;
	struct store *db;
	int rc;

	if (report_check_options(err) || parse_keys(&o.keys, err))
		return -1;
	o.keys |= row_of_inlined() ? KEY_INLINED : 0;
	if (!offcpu_opts.on && !offcpu_opts.wall)
		input_take_server(report_detail(o.keys));
	if (diff)
		return report_compare(argc, argv, &o, err);
	db = database_from_args(argc, argv, out_path, &path, &status, err);
	if (!db)
		return -1;
	rc = report_answer(db, path, &o, err);
	store_close(db);
	return rc ? -1 : status;
}

static const char *const examples[] = {
	"backstitch report perf.db",
	"backstitch report --sort comm,dso --by samples perf.data",
	"backstitch report --callers vfs_read perf.db",
	"backstitch report --limit 0 --format csv perf.db",
	"backstitch report --diff 'before/*.db' -- 'after/*.db'",
	"backstitch report --off-cpu perf.db",
	"backstitch report --html -o report.html perf.db",
	"backstitch report --html --diff -o report.html before.db after.db",
	NULL
};

extern const struct command cmd_report;
const struct command cmd_report = {
	.name = "report",
	.args = "[options] [DB | CAPTURE | URL] | --diff A... [--] B...",
	.summary = "print tables: hot functions, callers, changes",
	.examples = examples,
	.opts = opts,
	.common =
		"sort limit callers callees call-graph html output diff off-cpu by json comm time event",
	.pages = true,
	.run = report_run,
};
