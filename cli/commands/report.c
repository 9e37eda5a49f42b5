/* report.c - the command that prints tables: hot functions, callers, callees,
 * changes. */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ingest/load.h"
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
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

#define LIMIT 40
#define LIMIT_MIN 10
#define AROUND 11 /* lines above and below the table on a screen */

static const char *sort_keys, *order, *callers, *callees, *weight, *field;
static long limit = NUMBER_UNSET, depth;
static bool self_only, diff, absolute, as_html, graph, inverted, sched;
static const char *out_path;
static bool inlined = true, inline_rows, with_source = true;

static const char *const order_words[] = { "self",    "total",	 "max",
					   "average", "ready",	 "run",
					   "blocked", "runs",	 "woken",
					   "moves",   "unknown", NULL };

static const struct opt opts[] = {
	OPT_GROUP(offcpu_opt_table),
	OPT_FLAG(0, "sched", &sched,
		 "what each thread did: on the CPU, ready for one, blocked"),
	OPT_GROUP(by_opts),
	OPT_STRING(0, "weight", "EXPR", &weight,
		   "weights by an SQL expression on each sample, such as a "
		   "field of its event: --weight bytes_alloc"),
	OPT_HEADING("How to show it"),
	OPT_STRING('s', "sort", "KEYS", &sort_keys,
		   "one row for each value of KEYS, a list of comm, "
		   "comm_nodigit, pid, tid, cpu, cgroup, dso, sym, srcline, "
		   "verdict, trust, or a field of an event as EVENT.FIELD "
		   "(sym,dso)"),
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "sort by self or total, largest first (self); with --sched "
		   "by max, average, ready, run, blocked, runs, woken, moves "
		   "or unknown (max)"),
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
	OPT_GROUP(filter_expr_opts),
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
	{ "cgroup", KEY_CGROUP },
	{ "sym", KEY_SYM },
	{ "symbol", KEY_SYM },
	{ "srcline", KEY_LINE },
	{ "dso", KEY_DSO },
	{ "image", KEY_DSO },
	{ "verdict", KEY_VERDICT },
	{ "trust", KEY_TRUST },
};

/* Reads EVENT.FIELD, or takes the cgroup as a field of all events. Returns its
 * key, or 0 and *err. */
static unsigned int report_take_field(const char *key, size_t len, bool cgroup,
				      struct err *err)
{
	if (field) {
		err_set(err, ERR_USAGE,
			"--sort takes one field of an event, or cgroup");
		return 0;
	}
	field = cgroup ? weight_cgroup : weight_take_field(key, len, err);
	return field ? KEY_FIELD : 0;
}

static int parse_keys(unsigned int *keys, struct err *err)
{
	const char *p = sort_keys ? sort_keys : "sym,dso";

	*keys = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned int key = 0;

		for (size_t i = 0; i < ARRAY_SIZE(key_words); i++) {
			if (strlen(key_words[i].word) == len &&
			    !strncmp(key_words[i].word, p, len))
				key = key_words[i].key;
		}
		if (key == KEY_CGROUP || (!key && memchr(p, '.', len))) {
			unsigned int of = report_take_field(p, len, key, err);

			if (!of)
				return -1;
			key |= of;
		}
		if (!key)
			return err_set(
				err, ERR_USAGE,
				"--sort knows comm, "
				"comm_nodigit, pid, tid, cpu, cgroup, dso, sym, "
				"srcline, verdict, trust and EVENT.FIELD,"
				" not '%.*s'",
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
	if (!output_is_text(format))
		return SIZE_MAX;
	if (screen <= 0 || screen >= LIMIT || !term_is_terminal(stdout))
		return LIMIT;
	return screen > LIMIT_MIN ? (size_t)screen : LIMIT_MIN;
}

/* What was given, for the tables of what goes with what. */
enum {
	GIVEN_OFF_CPU = 1 << 0,
	GIVEN_WALL = 1 << 1,
	GIVEN_DIFF = 1 << 2,
	GIVEN_HTML = 1 << 3,
	GIVEN_CALLERS = 1 << 4,
	GIVEN_CALLEES = 1 << 5,
	GIVEN_GRAPH = 1 << 6,
	GIVEN_INVERTED = 1 << 7,
	GIVEN_DEPTH = 1 << 8,
	GIVEN_SORT = 1 << 9,
	GIVEN_LINES = 1 << 10, /* srcline, a key of it */
	GIVEN_ORDER = 1 << 11,
	GIVEN_SELF = 1 << 12,
	GIVEN_BY = 1 << 13,
	GIVEN_LIMIT = 1 << 14,
	GIVEN_ABSOLUTE = 1 << 15,
	GIVEN_FORMAT = 1 << 16,
	GIVEN_OUTPUT = 1 << 17,
	GIVEN_INLINE = 1 << 18,
	GIVEN_LIBRARY = 1 << 19,
	GIVEN_NO_INLINE = 1 << 20,
	GIVEN_SCHED = 1 << 21,
	GIVEN_EVENT = 1 << 22,
	GIVEN_TRUST = 1 << 23, /* likewise */
	GIVEN_WEIGHT = 1 << 24,
	GIVEN_FILTER = 1 << 25,
	GIVEN_FIELD = 1 << 26,	/* a key of --sort */
	GIVEN_CGROUP = 1 << 27, /* likewise */
};
#define GIVEN_AROUND (GIVEN_CALLERS | GIVEN_CALLEES)
#define GIVEN_TREE (GIVEN_GRAPH | GIVEN_INVERTED)
#define GIVEN_INLINED (GIVEN_INLINE | GIVEN_LIBRARY)
/* What makes rows of functions. */
#define GIVEN_ROWS (GIVEN_SORT | GIVEN_ORDER | GIVEN_SELF)

static const struct {
	unsigned int given;
	const char *name;
} report_names[] = {
	{ GIVEN_OFF_CPU, "--off-cpu" }, { GIVEN_WALL, "--wall" },
	{ GIVEN_DIFF, "--diff" },	{ GIVEN_HTML, "--html" },
	{ GIVEN_CALLERS, "--callers" }, { GIVEN_CALLEES, "--callees" },
	{ GIVEN_GRAPH, "-g" },		{ GIVEN_INVERTED, "-G" },
	{ GIVEN_DEPTH, "--depth" },	{ GIVEN_SORT, "--sort" },
	{ GIVEN_ORDER, "--order" },	{ GIVEN_SELF, "--no-children" },
	{ GIVEN_BY, "--by" },		{ GIVEN_WEIGHT, "--weight" },
	{ GIVEN_LIMIT, "--limit" },	{ GIVEN_FORMAT, "--format, --json" },
	{ GIVEN_INLINE, "--inline" },	{ GIVEN_LIBRARY, "--fold-library" },
	{ GIVEN_SCHED, "--sched" },	{ GIVEN_EVENT, "--event, --cgroup" },
	{ GIVEN_FILTER, "--filter" },
};

/* Options that cannot be given with some others. */
static const struct {
	unsigned int one, others;
	const char *why;
} report_apart[] = {
	{ GIVEN_SCHED,
	  GIVEN_OFF_CPU | GIVEN_WALL | GIVEN_DIFF | GIVEN_HTML | GIVEN_AROUND |
		  GIVEN_TREE | GIVEN_SORT | GIVEN_SELF | GIVEN_BY |
		  GIVEN_INLINED | GIVEN_NO_INLINE | GIVEN_EVENT,
	  "--sched has a row for each thread" },
	{ GIVEN_OFF_CPU,
	  GIVEN_DIFF | GIVEN_HTML | GIVEN_ORDER | GIVEN_SELF | GIVEN_BY |
		  GIVEN_INLINED,
	  "--off-cpu is a table of its own" },
	{ GIVEN_OFF_CPU, GIVEN_INVERTED | GIVEN_DEPTH,
	  "the tree of --off-cpu -g goes from the waits outward" },
	{ GIVEN_WALL, GIVEN_DIFF | GIVEN_BY, "--wall counts time" },
	{ GIVEN_WEIGHT,
	  GIVEN_SCHED | GIVEN_OFF_CPU | GIVEN_WALL | GIVEN_DIFF | GIVEN_HTML |
		  GIVEN_BY,
	  "--weight counts the samples of a recording its own way" },
	{ GIVEN_FILTER,
	  GIVEN_SCHED | GIVEN_OFF_CPU | GIVEN_WALL | GIVEN_DIFF | GIVEN_HTML,
	  "--filter is for tables of samples" },
	{ GIVEN_FIELD, GIVEN_WALL | GIVEN_DIFF,
	  "a field of --sort is of the samples of one recording" },
	{ GIVEN_CGROUP, GIVEN_WALL, "a wait has no cgroup" },
	{ GIVEN_HTML, GIVEN_AROUND | GIVEN_ROWS | GIVEN_LIMIT | GIVEN_FORMAT,
	  "--html writes a page and no table" },
	{ GIVEN_DIFF, GIVEN_AROUND | GIVEN_SELF,
	  "--diff is a table of its own" },
	{ GIVEN_DIFF, GIVEN_LINES,
	  "the lines of two builds are not the same code; choose other keys "
	  "for --sort" },
	{ GIVEN_DIFF, GIVEN_TRUST,
	  "--diff compares code, not what is known of stacks; choose other keys "
	  "for --sort" },
	{ GIVEN_CALLERS, GIVEN_CALLEES,
	  "--callers and --callees are two tables; ask for one at a time" },
	{ GIVEN_AROUND, GIVEN_ROWS,
	  "--callers and --callees have a row for each function, by total" },
	{ GIVEN_TREE, GIVEN_AROUND | GIVEN_DIFF | GIVEN_HTML,
	  "-g and -G are a tree below the table of functions" },
	{ GIVEN_NO_INLINE, GIVEN_INLINED,
	  "--no-inline leaves inlined functions out" },
};

/* Options that mean nothing without one of some others. */
static const struct {
	unsigned int one, needs;
	const char *why;
} report_needs[] = {
	{ GIVEN_DEPTH, GIVEN_TREE,
	  "--depth is a number of levels, for -g or -G" },
	{ GIVEN_ABSOLUTE, GIVEN_DIFF,
	  "--absolute is for --diff: add it, and a second recording" },
	{ GIVEN_OUTPUT, GIVEN_HTML,
	  "-o is where --html goes; redirect a table with '>'" },
};

static unsigned int report_given(void)
{
	const struct {
		bool is;
		unsigned int given;
	} all[] = {
		{ offcpu_opts.on, GIVEN_OFF_CPU },
		{ offcpu_opts.wall, GIVEN_WALL },
		{ diff, GIVEN_DIFF },
		{ as_html, GIVEN_HTML },
		{ callers, GIVEN_CALLERS },
		{ callees, GIVEN_CALLEES },
		{ graph, GIVEN_GRAPH },
		{ inverted, GIVEN_INVERTED },
		{ depth, GIVEN_DEPTH },
		{ sort_keys, GIVEN_SORT },
		{ sort_keys && strstr(sort_keys, "srcline"), GIVEN_LINES },
		{ sort_keys && strstr(sort_keys, "trust"), GIVEN_TRUST },
		{ order, GIVEN_ORDER },
		{ self_only, GIVEN_SELF },
		{ by_given(), GIVEN_BY },
		{ weight, GIVEN_WEIGHT },
		{ filter.expr, GIVEN_FILTER },
		{ sort_keys && strchr(sort_keys, '.'), GIVEN_FIELD },
		{ sort_keys && strstr(sort_keys, "cgroup"), GIVEN_CGROUP },
		{ limit != NUMBER_UNSET, GIVEN_LIMIT },
		{ absolute, GIVEN_ABSOLUTE },
		{ output_asked(), GIVEN_FORMAT },
		{ out_path, GIVEN_OUTPUT },
		{ inline_rows, GIVEN_INLINE },
		{ library_asked(), GIVEN_LIBRARY },
		{ !inlined, GIVEN_NO_INLINE },
		{ sched, GIVEN_SCHED },
		{ filter.event || filter.cgroup, GIVEN_EVENT },
	};
	unsigned int given = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		given |= all[i].is ? all[i].given : 0;
	return given;
}

/* Sets *err: "WHY: leave out --order, --by". Returns -1. */
static int report_leave_out(const char *why, unsigned int what, struct err *err)
{
	char list[200] = "";
	struct text_out o = { .buf = list, .size = sizeof(list) };

	for (size_t i = 0; i < ARRAY_SIZE(report_names); i++)
		if (report_names[i].given & what)
			text_out_add(&o, "%s %s", o.len ? "," : ": leave out",
				     report_names[i].name);
	return err_set(err, ERR_USAGE, "%s%s", why, list);
}

static int report_check_given(unsigned int given, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(report_apart); i++)
		if (given & report_apart[i].one &&
		    given & report_apart[i].others)
			return report_leave_out(report_apart[i].why,
						given & report_apart[i].others,
						err);
	for (size_t i = 0; i < ARRAY_SIZE(report_needs); i++)
		if (given & report_needs[i].one &&
		    !(given & report_needs[i].needs))
			return err_set(err, ERR_USAGE, "%s",
				       report_needs[i].why);
	return 0;
}

/* Checks the values that not every option goes with. */
static int report_check_options(struct err *err)
{
	unsigned int given = report_given();
	bool orders_rows =
		order && (!strcmp(order, "self") || !strcmp(order, "total"));

	if (report_check_given(given, err) || offcpu_check(err) ||
	    output_check(err))
		return -1;
	if (as_html && !out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a page is no text for a terminal; add "
			       "'-o report.html'");
	if (order && sched == orders_rows)
		return err_set(err, ERR_USAGE,
			       sched ? "--order %s is for functions; threads "
				       "have max, average, ready, run, "
				       "blocked, runs, woken, moves, unknown"
				     : "--order %s is for --sched; functions "
				       "have self and total",
			       order);
	if (offcpu_opts.on && sort_keys && strcmp(sort_keys, "comm") != 0)
		return err_set(err, ERR_USAGE,
			       "--off-cpu has a row for each cause and place, "
			       "or with --sort comm for each thread; it has no "
			       "rows for '%s'",
			       sort_keys);
	if (given & GIVEN_TREE && strcmp(output_chosen()->name, "table") &&
	    strcmp(output_chosen()->name, "json"))
		return err_set(err, ERR_USAGE,
			       "the tree of -g and -G is text, or a part of "
			       "--json; leave out --format");
	if ((output_is_markdown(output_chosen()->name) ||
	     !strcmp(output_chosen()->name, "sql")) &&
	    given & (GIVEN_AROUND | GIVEN_OFF_CPU | GIVEN_WALL | GIVEN_SCHED))
		return err_set(err, ERR_USAGE,
			       "--format %s is for the table of functions "
			       "and --diff; leave out --format",
			       output_chosen()->name);
	if (depth < 0 || number_is_bad(limit))
		return err_set(err, ERR_USAGE, "%s must be 0 or more",
			       depth < 0 ? "--depth" : "--limit");
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
	if (sched)
		return report_sched(db, path, o, err);
	if (offcpu_opts.on && !o->callers && !o->callees)
		return report_offcpu(db, path, o, err);
	return report_table(db, path, o, err);
}

/* Writes the page of the second recording, with what changed since the
 * first. */
static int report_html_diff(const struct sides *s, const struct report_opts *o,
			    struct err *err)
{
	const struct page_diff_opts what = {
		.inlined = o->inlined,
		.inlined_rows = o->keys & KEY_INLINED,
		.absolute = o->absolute,
	};
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

/* Returns whether the table is made of sums of samples, by function: whatever
 * does not say so here reads more of a database. */
static bool report_needs_sums(const struct report_opts *o)
{
	const unsigned int same = GIVEN_SORT | GIVEN_ORDER | GIVEN_SELF |
				  GIVEN_LIMIT | GIVEN_FORMAT | GIVEN_NO_INLINE;

	return !(report_given() & ~same) && report_summed(o) && !filter_given();
}

static int report_run(int argc, char **argv, struct err *err)
{
	const char *format = output_chosen()->name;
	struct report_opts o = {
		.format = format,
		.limit = row_limit(format),
		.by_samples = by_samples(),
		.weight = weight,
		.by_total = order && !strcmp(order, "total"),
		.self_only = self_only,
		.absolute = absolute,
		.inlined = inlined,
		.graph = graph || inverted,
		.inverted = inverted,
		.depth = (size_t)depth,
		.callers = callers,
		.callees = callees,
		.order = order,
	};
	int status = STATUS_OK;
	const char *path;
	struct store *db;
	int rc;

	if (report_check_options(err) || parse_keys(&o.keys, err))
		return -1;
	if (diff_limit_of_functions() && !(o.keys & KEY_SYM))
		return err_set(err, ERR_USAGE,
			       "--function needs rows of functions: --sort "
			       "with sym");
	o.keys |= inline_rows || library_asked() ? KEY_INLINED : 0;
	o.field = field;
	if (weight || field || filter.expr)
		load_want_fields(filter.event);
	else if (!offcpu_opts.on && !offcpu_opts.wall && !sched &&
		 !(o.keys & KEY_TRUST))
		input_take_server(report_detail(o.keys));
	if (report_needs_sums(&o))
		input_take_sums();
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
	"backstitch report --sort kmem:kmalloc.gfp_flags perf.data",
	"backstitch report --callers vfs_read perf.db",
	"backstitch report --limit 0 --format csv perf.db",
	"backstitch report --diff 'before/*.db' -- 'after/*.db'",
	"backstitch report --off-cpu perf.db",
	"backstitch report --sched --comm server perf.db",
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
