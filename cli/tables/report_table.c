/* report_table.c - the tables of report: functions by weight, callers and
 * callees of one function, a view. */
#include <inttypes.h>

#include "analyze/causes/wait_cause.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/names/name_find.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "analyze/waits/thread_times.h"
#include "analyze/waits/wall.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "cli/output/output.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "cli/tables/report.h"
#include "cli/args/options.h"
#include "cli/output/say.h"
#include "schema/columns.h"
#include "schema/db/rows.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "stitch/base/text_out.h"

/* Nodes with less than this part of all are left out: 0.5 %. */
#define PRUNED_OF 200

/* A line to print: a node, or those of its siblings that are left out. */
struct tree_line {
	const struct flame_node *node; /* NULL: left out */
	uint64_t weight;
	size_t n, depth;
};

/* The heaviest comes last: lines are taken from the end. */
COMPARE_FUNCTION(report_tree_compare, struct tree_line,
		 compare_numbers(x->node->weight, y->node->weight)
			 ?: compare_numbers(y->node->label, x->node->label));

/* The lines that are still to be printed, the next one last. */
struct tree_todo {
	struct tree_line *line;
	size_t n, cap;
};

/* Adds the lines of a node's children; one line is for all that are light. */
static void report_tree_add(const struct report *rp, const struct flame_tree *t,
			    const struct flame_node *at, size_t depth,
			    struct tree_todo *todo)
{
	struct tree_line rest = { .depth = depth };
	size_t rest_at = todo->n;

	*mem_add(todo->line, todo->n, todo->cap) = rest;
	size_t first = todo->n;
	for (uint32_t i = 0; i < at->n_child; i++) {
		const struct flame_node *nd = &t->node[t->child[at->child + i]];

		if (nd->weight < rp->weight / PRUNED_OF) {
			rest.weight += nd->weight;
			rest.n++;
		} else {
			*mem_add(todo->line, todo->n, todo->cap) =
				(struct tree_line){ nd, nd->weight, 1, depth };
		}
	}
	sort_items(todo->line + first, todo->n - first, report_tree_compare);
	todo->line[rest_at] = rest;
}

static void report_tree_put(const struct report *rp,
			    const struct tree_line *line)
{
	const struct flame_node *nd = line->node;

	printf("%7s  %7s  %*s", HUMAN_SHARE(line->weight, rp->weight),
	       nd && !rp->o->inverted ? HUMAN_SHARE(nd->self, rp->weight) : "",
	       (int)line->depth, "");
	if (nd) {
		const struct label *l =
			labels_get(rp->stacks->labels, nd->label);

		safe_text_put(stdout, label_shown(l), 0, 0);
		fputs(l->inlined ? " (inlined)\n" : "\n", stdout);
	} else {
		printf("[%zu more]\n", line->n);
	}
}

static void report_tree_json(const struct report *rp,
			     const struct tree_line *line, struct json *j)
{
	const struct flame_node *nd = line->node;

	json_object(j, NULL);
	json_uint(j, "depth", line->depth);
	if (nd) {
		const struct label *l =
			labels_get(rp->stacks->labels, nd->label);

		json_text(j, "symbol", l->name);
		json_text(j, "kind", label_kind_name(l->kind));
		json_text(j, "image", l->image);
		json_text(j, "short", label_shown(l));
		if (!rp->o->inverted)
			json_uint(j, "self_weight", nd->self);
	} else {
		json_uint(j, "left_out", line->n);
	}
	json_uint(j, "total_weight", line->weight);
	json_end(j);
}

/* Prints why the tree's numbers differ from those of the table above it. */
static void report_tree_tell_inlined(const struct report *rp,
				     const struct flame_tree *t)
{
	const struct labels *labels = rp->stacks->labels;

	if (rp->o->keys & KEY_INLINED || rp->o->off_cpu)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (!labels_get(labels, t->node[i].label)->inlined)
			continue;
		fputs("inlined functions have lines of their own here; the "
		      "table counts them in the\nfunctions that contain "
		      "them, unless --inline is given\n",
		      stdout);
		return;
	}
}

/* Prints the call tree of the event's samples, from a function on (func NULL:
 * whole stacks), or, if j is not NULL, writes it as member "tree". Returns 0,
 * or -1 and *err. */
static int report_put_tree(const struct report *whole, const struct label *func,
			   struct json *j, struct err *err)
{
	struct report part = *whole;
	const struct report *rp = &part;
	struct labels *labels = rp->stacks->labels;
	struct flame_tree *t = flame_tree_new(labels);
	struct wait_causes *waits =
		rp->o->off_cpu ? wait_causes_new(rp->stacks) : NULL;
	struct label_list l = { 0 };
	int rc = 0;

	part.weight = func ? 0 : rp->weight;
	stacks_each (g, rp->stacks, rp->event) {
		l.n = 0;
		stacks_get(rp->stacks, g, &l);
		size_t out = 0;

		while (func && out < l.n &&
		       strcmp(labels_get(labels, l.label[out])->name,
			      func->name) != 0)
			out++;
		if (func && out == l.n)
			continue;
		part.weight += func ? g->weight : 0;
		if (waits)
			wait_causes_cut(waits, &l);
		if (rp->o->inverted)
			label_list_reverse(&l, 0);
		rc = flame_tree_add(t, l.label + out, l.n - out, g->weight,
				    g->samples, err);
		if (rc)
			break;
	}
	free(l.label);
	wait_causes_free(waits);

	if (!rc) {
		flame_tree_finish(t);
		/* Each line has its depth, in JSON too: readers of JSON limit
		 * how deep arrays may be, and stacks are deeper. */
		struct tree_todo todo = { .line = NULL };

		if (j) {
			json_array(j, "tree");
			json_lines(j);
		} else {
			printf("\n%s:\n",
			       func ? "its calls, as shares of it"
			       : rp->o->off_cpu
				       ? "where threads waited, with its callers below it"
			       : rp->o->inverted
				       ? "what was hit, with its callers below it"
				       : "calls, from the outermost caller down");
			report_tree_tell_inlined(rp, t);
			printf("\n%7s  %7s  %s\n", "Total %",
			       rp->o->inverted ? "" : "Self %", "Function");
		}
		report_tree_add(rp, t, &t->node[0], 0, &todo);
		while (todo.n) {
			struct tree_line line = todo.line[--todo.n];

			if (!line.weight)
				continue;
			if (j)
				report_tree_json(rp, &line, j);
			else
				report_tree_put(rp, &line);
			if (line.node &&
			    (!rp->o->depth || line.depth + 1 < rp->o->depth))
				report_tree_add(rp, t, line.node,
						line.depth + 1, &todo);
		}
		if (j)
			json_end(j);
		free(todo.line);
	}
	flame_tree_free(t);
	return rc;
}

#define COLUMNS 28
#define SYMBOL_TITLE "Function"
#define HINTS 2	 /* names that exist, for one that does not */
#define HINT 160 /* bytes for them */
#define SEVERAL_FILES UINT32_MAX
/* Inlined functions are mentioned from this part of the weight on. */
#define INLINED_OF 100

/* The source files of rows by the last part of their path. */
struct report_files {
	struct intern base;
	uint32_t *file; /* label by id in base, or SEVERAL_FILES */
	size_t n, cap;
};

/* Fills in the columns of a symbol. Returns how many there are. */
static size_t report_symbol_columns(struct grid_column *col)
{
	col[0] = (struct grid_column){ SYMBOL_TITLE, NULL };
	col[1] = (struct grid_column){ NULL, "symbol" };
	col[2] = (struct grid_column){ NULL, "kind" };
	return 3;
}

static void report_symbol_cells(struct grid *g, const struct label *l)
{
	grid_marked(g, label_shown(l),
		    l->kind == LABEL_INLINED ? " (inlined)"
		    : l->kind == LABEL_EXEC  ? " (after exec)"
					     : NULL);
	grid_text(g, l->name);
	grid_text(g, label_kind_name(l->kind));
}

size_t report_key_columns(unsigned int keys, struct grid_column *col)
{
	size_t n = 0;

	if (keys & KEY_COMM)
		col[n++] = (struct grid_column){ "Comm", "comm" };
	if (keys & KEY_PID)
		col[n++] = (struct grid_column){ "Pid", "pid" };
	if (keys & KEY_TID)
		col[n++] = (struct grid_column){ "Tid", "tid" };
	if (keys & KEY_CPU)
		col[n++] = (struct grid_column){ "CPU", "cpu" };
	if (keys & KEY_VERDICT)
		col[n++] = (struct grid_column){ "Verdict", "verdict" };
	if (keys & KEY_TRUST)
		col[n++] = (struct grid_column){ "User stack", "trust" };
	if (keys & KEY_FIELD)
		col[n++] = keys & KEY_CGROUP
				   ? (struct grid_column){ "Cgroup", "cgroup" }
			   : keys & KEY_PARALLEL
				   ? (struct grid_column){ "Parallelism",
							   "parallelism" }
				   : (struct grid_column){ "Field", "field" };
	return n;
}

void report_key_cells(struct grid *g, unsigned int keys,
		      const struct report_rows *of,
		      const struct report_row *row)
{
	if (keys & KEY_COMM)
		grid_text(g, report_label(of, row->comm)->name);
	if (keys & KEY_PID)
		grid_signed(g, row->pid);
	if (keys & KEY_TID)
		grid_signed(g, row->tid);
	if (keys & KEY_CPU)
		grid_signed(g, row->cpu);
	if (keys & KEY_VERDICT)
		grid_text(g, report_label(of, row->verdict)->name);
	if (keys & KEY_TRUST)
		grid_text(g, report_label(of, row->trust)->name);
	if (keys & KEY_FIELD)
		grid_text(g, report_label(of, row->field)->name);
}

/* Returns whether rows are functions with the times of their calls. */
static bool report_has_calls(const struct report *rp)
{
	return report_traced(rp) &&
	       report_traced(rp) != &rp->traced.of[TRACED_FUNCTION] &&
	       rp->o->keys == (KEY_SYM | KEY_DSO);
}

/* Fills in the columns, in a fixed order. Returns how many there are. */
static size_t report_fill_columns(const struct report *rp,
				  struct grid_column *col)
{
	unsigned int keys = rp->o->keys;
	size_t n = 0;

	col[n++] = (struct grid_column){ "Self %", "self_percent" };
	if (rp->o->by_wall) {
		bool ranged = rp->ranged > 0;

		col[n++] = (struct grid_column){ ranged ? "Least %" : NULL,
						 "self_least_percent" };
		col[n++] = (struct grid_column){ ranged ? "Most %" : NULL,
						 "self_most_percent" };
	}
	if (!rp->o->self_only)
		col[n++] = (struct grid_column){ "Total %", "total_percent" };
	col[n++] = (struct grid_column){
		!report_traced(rp)				     ? "Samples"
		: report_traced(rp) == &rp->traced.of[TRACED_SLICES] ? "Slices"
								     : "Calls",
		"self_samples"
	};
	if (report_has_calls(rp)) {
		/* the rows count calls with --by samples */
		col[n++] =
			(struct grid_column){ rp->o->by_samples ? NULL : "Self",
					      NULL };
		col[n++] = (struct grid_column){ NULL, NULL };
		col[n++] = (struct grid_column){ "Took", NULL };
		col[n++] = (struct grid_column){ NULL, "took_ns" };
		col[n++] = (struct grid_column){ "Average", NULL };
		col[n++] = (struct grid_column){ NULL, "average_ns" };
		col[n++] = (struct grid_column){ "Longest", NULL };
		col[n++] = (struct grid_column){ NULL, "longest_ns" };
	}
	if (report_has_calls(rp) && rp->traced.waits) {
		col[n++] = (struct grid_column){ "Waited", NULL };
		col[n++] = (struct grid_column){ NULL, "waited_ns" };
	}
	col[n++] = (struct grid_column){ NULL, "self_weight" };
	col[n++] = (struct grid_column){ NULL, "total_samples" };
	col[n++] = (struct grid_column){ NULL, "total_weight" };
	n += report_key_columns(keys, col + n);
	if (keys & KEY_LINE) {
		col[n++] = (struct grid_column){ "Line", NULL };
		col[n++] = (struct grid_column){ NULL, "file" };
		col[n++] = (struct grid_column){ NULL, "line" };
		if (!(keys & (KEY_SYM | KEY_DSO)))
			col[n++] = (struct grid_column){ NULL, "symbol" };
	}
	if (keys & KEY_SYM)
		n += report_symbol_columns(col + n);
	if (keys & KEY_DSO)
		col[n++] = (struct grid_column){ "Image", "image" };
	if (keys & KEY_SYM)
		col[n++] = (struct grid_column){ NULL, "short" };
	return n;
}

/* Returns the base name of an image in the text form, in which only --sort dso
 * shows paths. */
static const char *report_short_image(const struct report *rp, const char *path)
{
	return rp->people && path[0] == '/' ? path_base(path) : path;
}

/* Adds the cells of the source line of a row. */
static void report_line_cells(const struct report *rp, struct grid *g,
			      struct report_files *f,
			      const struct report_rows *r,
			      const struct report_row *row)
{
	bool alone = !(rp->o->keys & (KEY_SYM | KEY_DSO));
	const struct label *l = report_label(r, row->label);
	const char *file = report_label(r, row->file)->name;
	bool code = l->kind != LABEL_MISSING && l->kind != LABEL_GROUP;

	if (file[0]) {
		const char *base = path_base(file);
		const char *shown =
			f->file[intern_add(&f->base, base)] == SEVERAL_FILES
				? file
				: base;
		char *place OWNED = mem_printf("%s:%" PRIu32, shown, row->line);

		grid_text(g, place);
	} else if (alone) {
		grid_marked(g, label_shown(l), code ? " [no line]" : NULL);
	} else {
		grid_text(g, code ? "[no line]" : "");
	}
	grid_text(g, file);
	grid_number(g, row->line);
	if (alone)
		grid_text(g, l->name);
}

/* What --limit left out. */
struct report_rest {
	size_t rows;
	uint64_t weight, whole;
	const char *what; /* text after the share of the weight */
};

/* Writes the rows, what was left out, and the call tree if it is wanted. func:
 * whose callers or callees the rows are, all of rest->whole; NULL: the rows are
 * functions. Returns 0, or -1 and *err. */
static int report_write(const struct report *rp, const struct grid *g,
			const struct report_rest *rest,
			const struct label *func, struct err *err)
{
	struct term_lines l;
	struct json j;
	FILE *out;

	if (!strcmp(rp->o->format, "json")) {
		json_answer(&j, stdout, JSON_COMPACT);
		if (report_head_json(rp, &j, err))
			return -1;
		if (func) {
			json_text(&j, "function", func->name);
			json_uint(&j, "function_weight", rest->whole);
		}
		grid_json(g, &j, "rows");
		json_uint(&j, "rows_left_out", rest->rows);
		json_uint(&j, "weight_left_out", rest->weight);
		if (rp->o->graph && report_put_tree(rp, func, &j, err))
			return -1;
		json_finish(&j);
		return 0;
	}
	grid_write(g, rp->o->format, stdout);
	if (rp->people && rest->rows && !rp->o->top) {
		out = term_lines_begin(&l, stdout);
		fprintf(out,
			"\n%zu more row%s with %s%s not shown; --limit 0 shows "
			"all%s\n",
			rest->rows, rest->rows == 1 ? "" : "s",
			HUMAN_PERCENT(rest->weight, rest->whole), rest->what,
			!func && rp->o->keys == (KEY_SYM | KEY_DSO)
				? ", --sort dso sums up by library"
				: "");
		term_lines_end(&l);
	}
	return rp->o->graph ? report_put_tree(rp, func, NULL, err) : 0;
}

/* Prints how much is in inlined functions, if the rows have none of them.
 * Returns 0, or -1 and *err. */
static int report_tell_inlined(const struct report *rp, struct err *err)
{
	enum {
		ROW,
		FRAME,
		COLUMN_COUNT
	};
	static const char *const column[COLUMN_COUNT] = { "rowid", "frame" };
	const struct known_code *c = rp->stacks->code;
	struct rows *r =
		rows_ints_of(rp->db, "inline_frame", column, COLUMN_COUNT, err);
	bool *has OWNED = mem_new(c->n_frame, sizeof(*has));
	struct int_row row;
	uint64_t in = 0;

	while (rows_step_ints(r, &row))
		if (row.v[FRAME] > 0 && (uint64_t)row.v[FRAME] < c->n_frame)
			has[row.v[FRAME]] = true;
	stacks_each (g, rp->stacks, rp->event) {
		const struct code_chain *leaf =
			code_chain_at(c, g->kraw ? g->kraw : g->uraw);

		if (has[c->stack[leaf->stack].frame])
			in = saturating_add(in, g->weight);
	}
	if (in && in >= rp->weight / INLINED_OF) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);

		fprintf(out,
			"\n%s is in functions that were inlined, and counts "
			"here for those that contain them; --inline shows "
			"them\n",
			HUMAN_PERCENT(in, rp->weight));
		term_lines_end(&l);
	}
	return rows_end(r, err);
}

/* Prints the table of rows. Returns 0, or -1 and *err. */
static int report_print_rows(const struct report *rp, struct err *err)
{
	unsigned int keys = rp->o->keys;
	struct report_rows *own =
		rp->rows ? NULL
			 : report_rows_classed(rp->stacks, rp->event, keys,
					       rp->trust);
	struct report_rows *r = own ? own : rp->rows;
	struct grid_column col[COLUMNS];
	struct grid *g OWNED_GRID = grid_new(col, report_fill_columns(rp, col));
	struct report_files files = { .file = NULL };
	struct report_rest rest = { 0, 0, rp->weight, " self" };
	size_t shown = 0;

	grid_names(g, SYMBOL_TITLE, !rp->o->names.full);
	if (keys & KEY_LINE) {
		/* Stores by the id of a file's last part the label of that
		 * file, or SEVERAL_FILES. */
		for (size_t i = 0; i < r->n; i++) {
			uint32_t file = r->row[i].file;
			uint32_t id = intern_add(
				&files.base,
				path_base(report_label(r, file)->name));

			if (id == files.n)
				*mem_add(files.file, files.n, files.cap) = file;
			else if (files.file[id] != file)
				files.file[id] = SEVERAL_FILES;
		}
	}
	report_rows_sort(r, rp->o->by_total);
	for (size_t i = 0; i < r->n; i++) {
		const struct report_row *row = &r->row[i];
		const struct label *l = report_label(r, row->label);

		if (rp->o->self_only && !row->self)
			continue;
		/* people always read why stacks are missing; scripts get
		 * the rows that they asked for */
		if (shown >= rp->o->limit &&
		    !(rp->people && l->kind == LABEL_MISSING)) {
			rest.rows++;
			rest.weight += row->self;
			continue;
		}
		shown++;
		grid_percent(g, row->self, rp->weight);
		if (rp->o->by_wall) {
			/* the others at their most, and at their least */
			grid_percent(g, row->least,
				     row->least + (rp->weight - row->self));
			grid_percent(g, row->self,
				     row->self + (rp->least - row->least));
		}
		if (!rp->o->self_only)
			grid_percent(g, row->total, rp->weight);
		grid_number(g, row->n_self);
		if (report_has_calls(rp)) {
			uint32_t label = labels_add(rp->stacks->labels, l);
			struct traced_function f = { 0 };

			if (label < rp->traced.n)
				f = rp->traced.function[label];

			grid_ns(g, row->self);
			grid_ns(g, f.ns);
			grid_ns(g, f.calls ? f.ns / f.calls : 0);
			grid_ns(g, (uint64_t)f.longest);
			if (rp->traced.waits)
				grid_ns(g, f.waited);
		}
		grid_number(g, row->self);
		grid_number(g, row->n_total);
		grid_number(g, row->total);
		report_key_cells(g, keys, r, row);
		if (keys & KEY_LINE)
			report_line_cells(rp, g, &files, r, row);
		if (keys & KEY_SYM)
			report_symbol_cells(g, l);
		if (keys & KEY_DSO)
			/* without the key sym, the name is an image */
			grid_text(g, keys & KEY_SYM
					     ? report_short_image(rp, l->image)
					     : l->name);
		if (keys & KEY_SYM)
			grid_text(g, label_shown(l));
	}
	int rc = report_write(rp, g, &rest, NULL, err);
	if (!rc && rp->people && !rp->o->top && !rp->o->graph &&
	    rp->o->inlined && (keys & (KEY_SYM | KEY_INLINED)) == KEY_SYM)
		rc = report_tell_inlined(rp, err);
	intern_release(&files.base);
	free(files.file);
	report_rows_free(own);
	return rc;
}

/* Sets *err, with the nearest name as a hint, or else the heaviest ones, and
 * with why a function that ran may have no frame. inlined: inlined functions
 * were searched as far as debug info was read. Returns -1. */
static int report_no_such_function(const struct report_rows *r,
				   const char *func, bool inlined,
				   struct err *err)
{
	struct nearest near = { .typed = func };
	char have[HINT] = "";
	struct text_out o = { .buf = have, .size = sizeof(have) };

	for (size_t i = 0; i < r->n; i++)
		nearest_offer(&near,
			      label_shown(report_label(r, r->row[i].label)));
	for (size_t i = 0; i < r->n && i < HINTS; i++) {
		const char *name =
			label_shown(report_label(r, r->row[i].label));
		char clean[HINT / HINTS - 4];

		if (near.best)
			name = near.best;
		safe_text_clean_buf(clean, sizeof(clean), name, strlen(name),
				    NULL);
		text_out_add(&o, "%s'%s'", o.len ? ", " : "", clean);
		if (near.best)
			break;
	}
	return err_set(err, ERR_USAGE,
		       "no frame is called '%.80s'; %s %s%s it has none if it "
		       "was not hit, was inlined (%s) or jumped to what it "
		       "called last (a tail call): a build with -g "
		       "-fno-optimize-sibling-calls shows it",
		       func, near.best ? "did you mean" : "there is", have,
		       near.best ? "?" : ";",
		       inlined ? "no debug info that was read says so"
			       : "--no-inline leaves out where");
}

/* The functions that a user may mean, heaviest first. */
struct report_found {
	const struct label *label[NAME_LISTED];
	size_t more; /* others are left out */
};

/* Finds the functions that the user may call `func`. Returns how many, 0 if
 * there is none. A table for programs is of one function only: if there are
 * several, it returns -1 and *err. */
static int report_find(const struct report *rp, const struct report_rows *r,
		       const char *func, struct report_found *found,
		       struct err *err)
{
	size_t n = r->n;
	struct name_choice *c OWNED = mem_new(n, sizeof(*c));
	size_t at[NAME_LISTED];
	int rc;

	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->row[i];
		const struct label *l = report_label(r, row->label);

		c[i] = (struct name_choice){ .full = l->name,
					     .shown = label_shown(l),
					     .weight = row->total };
	}
	rc = rp->people ? (int)name_find_several(c, n, func, at, &found->more)
			: name_find(c, n, func, rp->weight, at, err);
	for (int i = 0; i < rc; i++)
		found->label[i] = report_label(r, r->row[at[i]].label);
	return rc;
}

/* Prints the callers or callees of a function. Returns 0, or -1 and *err. */
static int report_print_neighbours(const struct report *rp,
				   const struct label *func, bool callers,
				   bool head, struct err *err)
{
	struct grid_column col[COLUMNS] = {
		{ "Share %", "share_percent" },
		{ "Total %", "total_percent" },
		{ "Samples", "samples" },
		{ NULL, "weight" },
	};
	size_t n_col = 4 + report_symbol_columns(col + 4);

	col[n_col++] = (struct grid_column){ "Image", "image" };
	col[n_col++] = (struct grid_column){ NULL, "short" };
	struct report_rows *r = report_around_new(
		rp->stacks, rp->event, func->name, callers,
		func->inlined ? KEY_INLINED : rp->o->keys & KEY_INLINED);
	struct report_rest rest = { 0, 0, r->weight, "" };
	size_t n = r->n;
	int rc = 0;

	struct grid *g OWNED_GRID = grid_new(col, n_col);
	grid_names(g, SYMBOL_TITLE, !rp->o->names.full);
	report_rows_sort(r, true);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->row[i];
		const struct label *l = report_label(r, row->label);

		if (i >= rp->o->limit) {
			rest.rows++;
			rest.weight += row->total;
			continue;
		}
		grid_percent(g, row->total, r->weight);
		grid_percent(g, row->total, rp->weight);
		grid_number(g, row->n_total);
		grid_number(g, row->total);
		report_symbol_cells(g, l);
		grid_text(g, report_short_image(rp, l->image));
		grid_text(g, label_shown(l));
	}
	if (head)
		rc = report_print_head(rp, err);
	if (!rc && rp->people) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);

		fprintf(out, "%s ", callers ? "callers of" : "called by");
		safe_text_put(out, label_shown(func), 0, 0);
		fprintf(out, ", which is in %s of all:\n",
			HUMAN_PERCENT(r->weight, rp->weight));
		term_lines_end(&l);
		putchar('\n');
	}
	if (!rc)
		rc = report_write(rp, g, &rest, func, err);
	report_rows_free(r);
	return rc;
}

/* Prints the callers or callees of all functions that `func` may mean. */
static int report_print_around(const struct report *rp, const char *func,
			       bool callers, bool head, struct err *err)
{
	unsigned int keys = KEY_SYM | KEY_GAPS | (rp->o->keys & KEY_INLINED);
	struct report_rows *r = report_rows_new(rp->stacks, rp->event, keys);
	struct report_found f = { .more = 0 };

	report_rows_sort(r, false);
	int found = report_find(rp, r, func, &f, err);
	if (!found && rp->o->inlined && !(keys & KEY_INLINED)) {
		/* a name that only inlined functions have */
		report_rows_free(r);
		r = report_rows_new(rp->stacks, rp->event, keys | KEY_INLINED);
		report_rows_sort(r, false);
		found = report_find(rp, r, func, &f, err);
	}
	int rc = found > 0 ? 0 : -1;

	if (!found)
		report_no_such_function(r, func, rp->o->inlined, err);
	for (int i = 0; i < found && !rc; i++) {
		if (i)
			putchar('\n');
		rc = report_print_neighbours(rp, f.label[i], callers,
					     head && !i, err);
	}
	if (!rc && f.more) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);

		safe_text_say(out,
			      "\nless of the samples are in others that have '",
			      func, "' in their names\n");
		term_lines_end(&l);
	}
	report_rows_free(r);
	return rc;
}

/* Prints what the options ask for. Returns 0, or -1 and *err. */
static int report_print(struct report *rp, struct err *err)
{
	if (!rp->waits)
		rp->event = say_choice(rp->stacks, "counting");
	if (stacks_whole(rp->stacks, rp->event, rp->path, "use --by samples",
			 &rp->weight, &rp->samples, err))
		return -1;
	if (rp->o->by_wall && rp->weight / 100 < rp->samples)
		return err_set(err, ERR_FORMAT,
			       "%s: the samples of '%s' weigh too little to be "
			       "divided; record a clock, -e cpu-clock",
			       rp->path,
			       stacks_event_name(rp->stacks, rp->event));
	if (report_load_head(rp, err))
		return -1;
	stacks_each (g, rp->stacks, rp->event) {
		rp->least += g->least;
		rp->ranged += g->least < g->weight ? g->weight : 0;
	}
	if (rp->o->callers)
		return report_print_around(rp, rp->o->callers, true, rp->people,
					   err);
	if (rp->o->callees)
		return report_print_around(rp, rp->o->callees, false,
					   rp->people, err);
	if (rp->o->below)
		return report_put_tree(rp, NULL, rp->o->json, err);
	if (rp->o->keys == (KEY_SYM | KEY_DSO))
		rp->rows = report_rows_new(rp->stacks, rp->event, rp->o->keys);
	if (rp->people && report_print_head(rp, err))
		return -1;
	return report_print_rows(rp, err);
}

bool report_summed(const struct report_opts *o)
{
	return !(o->keys & (KEY_PID | KEY_TID | KEY_CPU | KEY_VERDICT |
			    KEY_TRUST | KEY_FIELD));
}

/* Divides the weight of a sample by how many threads ran. CPU idle: false. */
static bool report_divide(void *arg, const struct event_row *e, int64_t tid,
			  struct stacks_group *g, char field[32])
{
	const struct parallel *ran = arg;
	struct parallel_range r = { 1, ran->cpus > 0 ? ran->cpus : 1 };

	if (e->timed)
		r = parallel_at(ran, e->time);
	g->least = g->weight / (uint64_t)r.most;
	g->weight /= (uint64_t)r.least;
	if (r.least == r.most)
		snprintf(field, 32, "%" PRId32, r.least);
	else
		snprintf(field, 32, "%" PRId32 "-%" PRId32, r.least, r.most);
	return tid != 0;
}

int report_table(struct store *db, const char *path,
		 const struct report_opts *o, struct err *err)
{
	struct report rp = {
		.db = db,
		.path = path,
		.o = o,
		.people = output_is_text(o->format),
	};
	struct stacks_opts so = {
		.filter = o->filter,
		.names = o->names,
		.gaps = o->callers || o->callees || o->graph,
		.by_cpu = o->keys & KEY_CPU,
		.inlined = o->inlined && (o->keys & KEY_INLINED || o->callers ||
					  o->callees || o->graph),
		.samples = o->by_samples,
		.weight = o->weight,
		.field = o->field,
		.summed = report_summed(o) && !o->wall,
		.no_groups = o->off_cpu,
		.code = o->keys & KEY_LINE ? REPORT_LINE_PARTS : 0,
	};
	struct offcpu_sums waits;
	struct parallel ran = { .step = NULL };
	int rc = -1;

	if (o->by_wall) {
		so.weigh = report_divide;
		so.arg = &ran;
		so.summed = false;
	}
	if (!o->by_wall || !parallel_load(db, path, &ran, err))
		rp.stacks = stacks_load(db, &so, err);
	if (rp.stacks && (o->wall || o->off_cpu)) {
		rp.event = (o->off_cpu ? wall_load_waits : wall_load)(
			db, path, o->filter, rp.stacks, 0, &waits, err);
		rp.waits = &waits;
	}
	if (rp.stacks && !rp.waits &&
	    traced_load(db, path, o->filter, rp.stacks, &rp.traced, err))
		rp.event = -1;
	if (rp.stacks)
		labels_shorten(rp.stacks->labels, &o->names);
	if (rp.stacks && rp.event >= 0)
		rc = report_print(&rp, err);
	report_rows_free(rp.rows);
	traced_release(&rp.traced);
	parallel_release(&ran);
	trust_free(rp.trust);
	stacks_free(rp.stacks);
	return rc;
}
