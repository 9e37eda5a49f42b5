/* report.c - the command that prints tables: hot functions, callers, views. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/model/filter.h"
#include "cli/output/grid.h"
#include "cli/model/interpreter.h"
#include "cli/model/label.h"
#include "cli/model/offcpu.h"
#include "cli/output/human.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/pictures/page.h"
#include "cli/output/safe_text.h"
#include "cli/tables/report_diff.h"
#include "cli/tables/report_offcpu.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "cli/output/term.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define LIMIT 40
#define LIMIT_MIN 10
#define AROUND 11 /* lines around the table on a screen */
#define COLUMNS 16

static const char *sort_keys, *by, *order, *callers, *callees, *view;
static long limit = -1;
static bool self_only, diff, absolute, as_html;
static const char *out_path;
static bool inlined = true;

static const char *const by_words[] = { "weight", "samples", NULL };
static const char *const order_words[] = { "self", "total", NULL };

static const struct opt opts[] = {
	OPT_STRING('s', "sort", "KEYS", &sort_keys,
		   "one row for each comm, pid, tid, cpu, dso, sym, verdict: "
		   "a comma list (sym,dso)"),
	OPT_CHOICE(0, "order", "COLUMN", &order, order_words,
		   "largest self or total first (self)"),
	OPT_CHOICE(0, "by", "WHAT", &by, by_words,
		   "shares of weight or of samples (weight)"),
	OPT_FLAG(0, "no-children", &self_only,
		 "self only: rows that have any, without the total"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "so many rows; 0: all (one screen, 40 in a file)"),
	OPT_STRING(0, "callers", "FUNC", &callers, "who calls FUNC, by share"),
	OPT_STRING(0, "callees", "FUNC", &callees, "what FUNC calls, by share"),
	OPT_FLAG(0, "diff", &diff,
		 "what changed from one recording to another: 'report --diff "
		 "BEFORE AFTER'"),
	OPT_FLAG(0, "absolute", &absolute,
		 "with --diff: compare weights as they are, not shares"),
	OPT_GROUP(offcpu_opt_table),
	OPT_STRING(0, "view", "NAME", &view,
		   "print a view of the database instead"),
	OPT_FLAG(0, "html", &as_html,
		 "write one HTML page: flame graph, timeline and tables"),
	OPT_STRING('o', "output", "FILE", &out_path,
		   "write the page to FILE instead of standard output"),
	OPT_GROUP(output_opts),
	OPT_NO(0, "no-inline", &inlined, "leave out inlined functions"),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

static const struct {
	const char *word;
	unsigned int key;
} key_words[] = {
	{ "comm", KEY_COMM }, { "pid", KEY_PID },   { "tid", KEY_TID },
	{ "cpu", KEY_CPU },   { "sym", KEY_SYM },   { "symbol", KEY_SYM },
	{ "dso", KEY_DSO },   { "image", KEY_DSO }, { "verdict", KEY_VERDICT },
};

static int parse_keys(unsigned int *keys, struct err *err)
{
	const char *p = sort_keys ? sort_keys : diff ? "sym" : "sym,dso";

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
				       "pid, tid, cpu, dso and sym, not "
				       "'%.*s'",
				       (int)len, p);
		*keys |= key;
		p += len;
		if (!*p++)
			return 0;
	}
}

/* What is printed about. */
struct report {
	struct store *db;
	struct stacks *stacks;
	const char *path, *format;
	unsigned int keys;
	int event;
	uint64_t weight, samples;
	bool people; /* words around the table */
};

static void print_percent(FILE *out, uint64_t part, uint64_t whole)
{
	fprintf(out, "%.2f %%",
		whole ? 100.0 * (double)part / (double)whole : 0.0);
}

/* Which user halves are missing, and those that are another program's:
 * largest first, with their shares. And when much has no name, that. */
static void print_missing(FILE *out, const struct report *rp)
{
	struct report_rows *r = report_rows_new(rp->stacks, rp->event, KEY_SYM);
	const char *before = "user half missing: ";
	uint64_t exec = 0;
	uint64_t unnamed = 0;

	report_rows_sort(r, true);
	for (size_t i = 0; i < report_rows_count(r); i++) {
		const struct report_row *row = report_rows_get(r, i);
		const struct label *l = report_label(r, row->label);

		if (l->kind == LABEL_UNNAMED && strcmp(l->name, "[no stack]"))
			unnamed += row->self;
		if (l->kind != LABEL_MISSING)
			continue;
		if (!strcmp(l->name, STACKS_AFTER_EXEC)) {
			exec = row->total;
			continue;
		}
		fprintf(out, "%s%s ", before, l->name);
		print_percent(out, row->total, rp->weight);
		before = ", ";
	}
	fputs(before[0] == ',' ? " ('backstitch help verdicts')\n"
			       : "user half missing: none\n",
	      out);
	if (exec) {
		fputs("user half of another program, taken after exec: ", out);
		print_percent(out, exec, rp->weight);
		putc('\n', out);
	}
	if (unnamed > rp->weight / 10) {
		fputs("code without a name: ", out);
		print_percent(out, unnamed, rp->weight);
		fputs("; 'backstitch info ", out);
		safe_text_put(out, rp->path, 0, 0);
		fputs("' says why\n", out);
	}
	report_rows_free(r);
}

static int print_capture(void *arg, const struct rows *r, struct err *err)
{
	FILE *out = arg;

	(void)err;
	fputs("capture: ", out);
	safe_text_put(out, rows_text(r, 0), 0, 0);
	if (rows_text(r, 2)[0]) {
		fputs(" of ", out);
		safe_text_put(out, rows_text(r, 2), 0, 0);
	}
	fputs(rows_value(r, 4).kind != VALUE_NULL && !rows_int(r, 4)
		      ? ", not complete\n"
		      : "\n",
	      out);
	return 0;
}

static int print_lost(FILE *out, const struct report *rp, struct err *err)
{
	struct rows *r =
		rows_open(rp->db, store_sql("report_lost"), NULL, 0, err);
	int rc = r ? rows_next(r, err) : -1;

	if (rc > 0) {
		fputs("lost records: ", out);
		human_put_grouped(out, (uint64_t)rows_int(r, 0));
		putc('\n', out);
		rc = 0;
	}
	rows_close(r);
	return rc;
}

/* The event is named beside it; any other filter has to be said. */
static bool narrowed(void)
{
	return filter.time || filter.cpu || filter.pid || filter.tid ||
	       filter.comm;
}

static void print_event(FILE *out, const struct report *rp)
{
	fputs("event: ", out);
	safe_text_put(
		out,
		rp->event < 0
			? "several, added up"
			: stacks_event(rp->stacks, (size_t)rp->event)->name,
		0, 0);
	fprintf(out, "%s, ", narrowed() ? " (filtered)" : "");
	human_put_grouped(out, rp->samples);
	fputs(rp->samples == 1 ? " sample" : " samples", out);
	/* an event that counts itself says the same number twice */
	if ((!by || strcmp(by, "samples")) && rp->weight != rp->samples) {
		fputs(", ", out);
		human_put_grouped(out, rp->weight);
		putc(' ', out);
		safe_text_put(out, stacks_unit(rp->stacks, rp->event, false), 0,
			      0);
	}
	putc('\n', out);
}

static int print_head(const struct report *rp, struct err *err)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);
	int rc = rows_each(rp->db, "report_captures", print_capture, out, err);

	if (!rc) {
		print_event(out, rp);
		rc = print_lost(out, rp, err);
	}
	if (!rc)
		print_missing(out, rp);
	term_lines_end(&l);
	if (!rc)
		putchar('\n');
	return rc;
}

/* A name, and what is special about it. */
static void symbol_cell(struct grid *g, const struct label *l, bool people)
{
	const char *mark = l->kind == LABEL_INLINED ? " (inlined)"
			   : l->kind == LABEL_EXEC  ? " (after exec)"
						    : "";
	size_t size = strlen(l->name) + 16;
	char *text = mem_new(size, 1);

	snprintf(text, size, "%s%s", l->name, people ? mark : "");
	grid_text(g, text);
	free(text);
	grid_text(g, label_kind_name(l->kind));
}

/* The columns for the keys, in a fixed order. */
static size_t fill_columns(const struct report *rp, struct grid_column *col)
{
	size_t n = 0;

	col[n++] = (struct grid_column){ "Self %", "self_percent" };
	if (!self_only)
		col[n++] = (struct grid_column){ "Total %", "total_percent" };
	col[n++] = (struct grid_column){ "Samples", "self_samples" };
	col[n++] = (struct grid_column){ NULL, "self_weight" };
	col[n++] = (struct grid_column){ NULL, "total_samples" };
	col[n++] = (struct grid_column){ NULL, "total_weight" };
	if (rp->keys & KEY_COMM)
		col[n++] = (struct grid_column){ "Comm", "comm" };
	if (rp->keys & KEY_PID)
		col[n++] = (struct grid_column){ "Pid", "pid" };
	if (rp->keys & KEY_TID)
		col[n++] = (struct grid_column){ "Tid", "tid" };
	if (rp->keys & KEY_CPU)
		col[n++] = (struct grid_column){ "CPU", "cpu" };
	if (rp->keys & KEY_VERDICT)
		col[n++] = (struct grid_column){ "Verdict", "verdict" };
	if (rp->keys & KEY_SYM) {
		col[n++] = (struct grid_column){ "Symbol", "symbol" };
		col[n++] = (struct grid_column){ NULL, "kind" };
	}
	if (rp->keys & KEY_DSO)
		col[n++] = (struct grid_column){ "Image", "image" };
	return n;
}

/* People know a file by its name; --sort dso shows the paths. */
static const char *short_image(const struct report *rp, const char *path)
{
	const char *slash = strrchr(path, '/');

	return rp->people && path[0] == '/' && slash[1] ? slash + 1 : path;
}

/* With dso as the only key for code, the name is the image's path. */
static const char *image_of(const struct report *rp, const struct label *l)
{
	return rp->keys & KEY_SYM ? short_image(rp, l->image) : l->name;
}

static void fill_row(const struct report *rp, struct grid *g,
		     const struct report_rows *r, const struct report_row *row)
{
	const struct label *l = report_label(r, row->label);

	grid_percent(g, row->self, rp->weight);
	if (!self_only)
		grid_percent(g, row->total, rp->weight);
	grid_number(g, row->n_self);
	grid_number(g, row->self);
	grid_number(g, row->n_total);
	grid_number(g, row->total);
	if (rp->keys & KEY_COMM)
		grid_text(g, report_label(r, row->comm)->name);
	if (rp->keys & KEY_PID)
		grid_signed(g, row->pid);
	if (rp->keys & KEY_TID)
		grid_signed(g, row->tid);
	if (rp->keys & KEY_CPU)
		grid_signed(g, row->cpu);
	if (rp->keys & KEY_VERDICT)
		grid_text(g, report_label(r, row->verdict)->name);
	if (rp->keys & KEY_SYM)
		symbol_cell(g, l, rp->people);
	if (rp->keys & KEY_DSO)
		grid_text(g, image_of(rp, l));
}

/* What was cut off, so that nobody takes the table for all there is. */
static void print_rest(size_t rows, uint64_t rest, uint64_t whole,
		       const char *what)
{
	if (!rows)
		return;
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);

	fprintf(out, "\n%zu more row%s with ", rows, rows == 1 ? "" : "s");
	print_percent(out, rest, whole);
	fprintf(out, "%s not shown; --limit 0 shows all\n", what);
	term_lines_end(&l);
}

static void print_rows(const struct report *rp, size_t max)
{
	struct report_rows *r =
		report_rows_new(rp->stacks, rp->event, rp->keys);
	struct grid_column col[COLUMNS];
	struct grid *g = grid_new(col, fill_columns(rp, col));
	size_t shown = 0, rest = 0;
	uint64_t rest_self = 0;

	report_rows_sort(r, order && !strcmp(order, "total"));
	for (size_t i = 0; i < report_rows_count(r); i++) {
		const struct report_row *row = report_rows_get(r, i);

		if (self_only && !row->self)
			continue;
		/* who looks for a reason must not need the whole table */
		if (shown >= max &&
		    report_label(r, row->label)->kind != LABEL_MISSING) {
			rest++;
			rest_self += row->self;
			continue;
		}
		shown++;
		fill_row(rp, g, r, row);
	}
	grid_write(g, rp->format, stdout);
	if (rp->people)
		print_rest(rest, rest_self, rp->weight, " self");
	grid_free(g);
	report_rows_free(r);
}

/* A name that contains what was asked for, for the error message. */
static int no_such_function(const struct report *rp, const char *func,
			    struct err *err)
{
	const struct labels *labels = stacks_labels(rp->stacks);

	for (uint32_t i = 0; i < labels_count(labels); i++) {
		const char *name = labels_get(labels, i)->name;

		if (strstr(name, func))
			return err_set(err, ERR_USAGE,
				       "no frame is called "
				       "'%s'; there is '%s'",
				       func, name);
	}
	return err_set(err, ERR_USAGE, "no frame is called '%s'", func);
}

static void print_subject(const struct report *rp, const char *func,
			  uint64_t weight)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);

	fprintf(out, "%s ", callers ? "callers of" : "called by");
	safe_text_put(out, func, 0, 0);
	fputs(", which is in ", out);
	print_percent(out, weight, rp->weight);
	fputs(" of all:\n", out);
	term_lines_end(&l);
	putchar('\n');
}

static int print_around(const struct report *rp, size_t max, struct err *err)
{
	static const struct grid_column col[] = {
		{ "Share %", "share_percent" }, { "Total %", "total_percent" },
		{ "Samples", "samples" },	{ NULL, "weight" },
		{ "Symbol", "symbol" },		{ NULL, "kind" },
		{ "Image", "image" },
	};
	const char *func = callers ? callers : callees;
	struct report_rows *r =
		report_around_new(rp->stacks, rp->event, func, callers != NULL);
	struct grid *g;
	size_t n = report_rows_count(r);
	uint64_t rest = 0;

	if (!n) {
		report_rows_free(r);
		return no_such_function(rp, func, err);
	}
	g = grid_new(col, sizeof(col) / sizeof(*col));
	report_rows_sort(r, true);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = report_rows_get(r, i);
		const struct label *l = report_label(r, row->label);

		if (i >= max) {
			rest += row->total;
			continue;
		}
		grid_percent(g, row->total, report_weight(r));
		grid_percent(g, row->total, rp->weight);
		grid_number(g, row->n_total);
		grid_number(g, row->total);
		symbol_cell(g, l, rp->people);
		grid_text(g, short_image(rp, l->image));
	}
	if (rp->people && print_head(rp, err)) {
		grid_free(g);
		report_rows_free(r);
		return -1;
	}
	if (rp->people)
		print_subject(rp, func, report_weight(r));
	grid_write(g, rp->format, stdout);
	if (rp->people && n > max)
		print_rest(n - max, rest, report_weight(r), "");
	grid_free(g);
	report_rows_free(r);
	return 0;
}

/* The statement that reads all of the view; NULL and *err when there is no
 * such view. Names are compared with the views there are, so what is printed
 * into SQL here is one of our own names. */
static char *view_sql(struct store *db, const char *path, struct err *err)
{
	struct value name = { .kind = VALUE_TEXT,
			      .text = view,
			      .len = strlen(view) };
	struct rows *r = rows_open(db, store_sql("report_view"), &name, 1, err);
	int rc = r ? rows_next(r, err) : -1;
	size_t size = strlen(view) + 128;
	char *sql = NULL;

	if (rc > 0 && !strchr(view, '"')) {
		sql = mem_new(size, 1);
		snprintf(sql, size, "%s \"%s\" LIMIT ?",
			 store_sql("report_view_rows"), view);
	} else if (rc >= 0) {
		err_set(err, ERR_USAGE,
			"there is no view '%s'; 'backstitch query --views "
			"%s' lists them",
			view, path);
	}
	rows_close(r);
	return sql;
}

static int print_view(struct store *db, const char *path,
		      const struct output *o, struct err *err)
{
	struct value max = { .kind = VALUE_INT, .num = limit > 0 ? limit : -1 };
	char *sql = view_sql(db, path, err);
	struct rows *r = sql ? rows_open(db, sql, &max, 1, err) : NULL;
	int rc = r ? o->write(stdout, r, err) : -1;

	rows_close(r);
	free(sql);
	return rc;
}

/* A table for people fills one screen; its top is what counts. */
static size_t row_limit(const struct report *rp)
{
	int screen = term_rows(stdout) - AROUND;

	if (limit >= 0)
		return limit ? (size_t)limit : SIZE_MAX;
	if (!rp->people)
		return SIZE_MAX;
	if (screen <= 0 || screen >= LIMIT || !term_is_terminal(stdout))
		return LIMIT;
	return screen > LIMIT_MIN ? (size_t)screen : LIMIT_MIN;
}

static int print_report(struct report *rp, struct err *err)
{
	size_t max = row_limit(rp);

	rp->event = stacks_choose(rp->stacks, "counting");
	if (stacks_heaviest(rp->stacks) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", rp->path,
			       filter_given() ? " that the filters let through"
					      : "");
	for (size_t i = 0; i < stacks_events(rp->stacks); i++) {
		const struct stacks_event *e = stacks_event(rp->stacks, i);

		if (rp->event >= 0 && i != (size_t)rp->event)
			continue;
		rp->samples += e->samples;
		if (__builtin_add_overflow(rp->weight, e->weight,
					   &rp->weight) ||
		    rp->weight == UINT64_MAX)
			return err_set(err, ERR_LIMIT,
				       "the weights sum up to "
				       "more than 64 bits; use --by samples");
	}
	if (!rp->weight)
		return err_set(
			err, ERR_FORMAT,
			"%s: all samples have weight 0; use --by samples",
			rp->path);
	if (callers || callees)
		return print_around(rp, max, err);
	if (rp->people && print_head(rp, err))
		return -1;
	print_rows(rp, max);
	return 0;
}

/* The page has them all, so that none of them can be asked for with it. */
static int check_html(struct err *err)
{
	if (!as_html && out_path)
		return err_set(err, ERR_USAGE,
			       "-o is where --html goes; redirect a table with "
			       "'>'");
	if (as_html && (callers || callees || view || output_asked()))
		return err_set(err, ERR_USAGE,
			       "--html writes a page and no table; leave out "
			       "--callers, --callees, --view, --format and "
			       "--json");
	if (as_html && !out_path && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a page is no text for a terminal; add "
			       "'-o report.html'");
	return 0;
}

static int check_options(struct report *rp, struct err *err)
{
	if (check_html(err))
		return -1;
	if (callers && callees)
		return err_set(err, ERR_USAGE,
			       "--callers and --callees are "
			       "two tables; ask for one at a time");
	if (offcpu_check(err))
		return -1;
	if (offcpu_opts.on && (diff || view || callers || callees))
		return err_set(err, ERR_USAGE,
			       "--off-cpu is a table of its own: leave out "
			       "--diff, --view, --callers and --callees");
	if (view && (callers || callees || filter_given()))
		return err_set(err, ERR_USAGE,
			       "--view prints a view as it "
			       "is; for a part of it use 'backstitch query'");
	if (limit < -1)
		return err_set(err, ERR_USAGE, "--limit must be 0 or more");
	return parse_keys(&rp->keys, err);
}

static int run_diff(int argc, char **argv, const struct report *rp,
		    struct err *err)
{
	struct report_diff_opts o = {
		.keys = rp->keys,
		.format = rp->format,
		.limit = row_limit(rp),
		.by_samples = by && !strcmp(by, "samples"),
		.by_total = order && !strcmp(order, "total"),
		.absolute = absolute,
		.inlined = inlined,
	};

	if (view || callers || callees || self_only)
		return err_set(
			err, ERR_USAGE,
			"--diff is a table of its own: leave out --view, "
			"--callers, --callees and --no-children");
	return report_diff(argc, argv, &o, err);
}

static int write_html(const struct report *rp, struct err *err)
{
	struct html_page *p = html_page_new(rp->db, rp->path, inlined,
					    by && !strcmp(by, "samples"), err);
	int rc = p ? out_write(out_path, html_page_write, p, err) : -1;

	html_page_free(p);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct report rp = { .event = -1 };
	const struct output *o = output_chosen();
	int status = STATUS_OK;
	int rc = -1;

	if (check_options(&rp, err))
		return -1;
	rp.format = o->name;
	rp.people = !strcmp(o->name, "table");
	if (diff)
		return run_diff(argc, argv, &rp, err);
	rp.path = input_path(argc, argv, err);
	if (!rp.path || input_apart(rp.path, out_path, err) ||
	    !(rp.db = database_open(rp.path, &status, err)))
		return -1;

	struct stacks_opts so = {
		.by_cpu = rp.keys & KEY_CPU,
		.inlined = inlined,
		.samples = by && !strcmp(by, "samples"),
	};

	if (as_html) {
		rc = write_html(&rp, err);
	} else if (offcpu_opts.on) {
		rc = report_offcpu(rp.db, rp.path, rp.format, row_limit(&rp),
				   inlined, err);
	} else if (view) {
		rc = print_view(rp.db, rp.path, o, err);
	} else {
		rp.stacks = stacks_load(rp.db, &so, err);
		if (rp.stacks)
			rc = print_report(&rp, err);
	}
	stacks_free(rp.stacks);
	store_close(rp.db);
	return rc ? -1 : status;
}

static const char *const examples[] = {
	"backstitch report perf.db",
	"backstitch report --sort comm,dso --by samples perf.data",
	"backstitch report --callers vfs_read perf.db",
	"backstitch report --view verdicts --format csv perf.db",
	"backstitch report --diff before.db after.db",
	"backstitch report --off-cpu perf.db",
	"backstitch report --html -o report.html perf.db",
	NULL
};

extern const struct command cmd_report;
const struct command cmd_report = {
	.name = "report",
	.args = "[options] [DB | CAPTURE] | --diff BEFORE AFTER",
	.summary = "print tables: hot functions, callers, views",
	.examples = examples,
	.opts = opts,
	.pages = true,
	.run = run,
};
