/* report_diff.c - the table of what changed between two recordings. */
#include "cli/tables/report.h"

#include <inttypes.h>

#include "cli/args/status.h"
#include "analyze/diffs/diff_cause.h"
#include "analyze/diffs/diff_runs.h"
#include "cli/tables/diff_limit.h"
#include "cli/tables/diff_text.h"
#include "cli/tables/diff_times.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/traced.h"
#include "cli/output/grid.h"
#include "stitch/text/json.h"
#include "cli/output/output.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define COLUMNS 38

struct report_diff {
	const struct report_opts *o;
	struct compare c;
	const struct diff_rows *d, *other; /* of c: by weights or shares as
					    * asked for, and by the other of
					    * these */
	bool time;			   /* weights are ns */
	struct diff_parts *parts;	   /* NULL: there is no such sentence */
};

/* Reads and judges both sides. Returns 0, or -1 and *err. */
static int report_diff_load(struct report_diff *rp, const struct sides *s,
			    int *status, struct err *err)
{
	const struct compare_opts co = {
		.more = traced_add_to,
		.open = rp->o->open,
		.open_arg = rp->o->open_arg,
		.each = rp->parts ? diff_parts_add : NULL,
		.each_arg = rp->parts,
		.match = rp->o->match,
		.stacks = { .filter = rp->o->filter,
			    .names = rp->o->names,
			    .by_cpu = rp->o->keys & KEY_CPU,
			    .inlined =
				    rp->o->inlined && rp->o->keys & KEY_INLINED,
			    .inlined_same = true,
			    .gaps = true,
			    .bogus = true,
			    .samples = rp->o->by_samples,
			    .field = rp->o->field,
			    .summed = report_summed(rp->o) },
	};

	uint64_t weight, samples;

	int rc = compare_load(&rp->c, s, &co, status, err);

	say_lines(rp->c.note);
	if (rc)
		return -1;
	for (size_t i = 0; i < rp->c.n; i++) {
		struct compare_run *run = &rp->c.run[i];

		if (stacks_whole(run->stacks, run->event, run->path,
				 "use --by samples", &weight, &samples, err))
			return -1;
		rp->c.rows[i].rows = report_rows_new(run->stacks, run->event,
						     rp->o->keys | KEY_HITS);
	}
	rp->c.unit = stacks_unit(rp->c.run[0].stacks, rp->c.run[0].event,
				 rp->o->by_samples);
	compare_judge(&rp->c, rp->o->keys, rp->o->absolute);
	rp->d = rp->c.d;
	rp->other = rp->c.by[!rp->o->absolute];
	rp->time = !strcmp(rp->c.unit, "ns");
	if (rp->o->keys == (KEY_SYM | KEY_DSO))
		compare_find_renamed(&rp->c);
	return 0;
}

/* The columns of self or total by what is judged, shares or weights, and by the
 * other of these. */
#define DIFF_COLUMNS(shown, key)                                               \
	{                                                                      \
		{ shown " A %", key "_a_percent" },                            \
			{ shown " B %", key "_b_percent" },                    \
			{ "If same %", key "_b_expected" },                    \
			{ "Points", key "_change" },                           \
			{ "By share", key "_significant" }, { "p", key "_p" }, \
			{ shown " A", key "_a_weight" },                       \
			{ shown " B", key "_b_weight" },                       \
			{ NULL, key "_a_samples" },                            \
			{ NULL, key "_b_samples" },                            \
	}
#define DIFF_OTHER(shown, by, key)                                             \
	{                                                                      \
		{ shown, key "_change" }, { by, key "_significant" },          \
			{ NULL, key "_p" },                                    \
	}

/* Fills in the columns of self or total. Returns how many there are. */
static size_t add_columns(const struct report_diff *rp, struct grid_column *col,
			  bool total)
{
	static const struct grid_column spread[2][2] = {
		{ { "SD A", "self_a_deviation" },
		  { "SD B", "self_b_deviation" } },
		{ { "SD A", "total_a_deviation" },
		  { "SD B", "total_b_deviation" } },
	};
	static const struct grid_column column[2][10] = {
		DIFF_COLUMNS("Self", "self"), DIFF_COLUMNS("Total", "total")
	};
	static const struct grid_column other[2][2][3] = {
		{ DIFF_OTHER("Weight", "By weight", "self_weight"),
		  DIFF_OTHER("Points", "By share", "self_share") },
		{ DIFF_OTHER("Weight", "By weight", "total_weight"),
		  DIFF_OTHER("Points", "By share", "total_share") },
	};
	/* columns of percents, or else of weights */
	size_t hidden = rp->o->absolute ? 0 : 6;
	size_t n = ARRAY_SIZE(column[total]);

	memcpy(col, column[total], sizeof(column[total]));
	col[hidden].title = NULL;
	col[hidden + 1].title = NULL;
	if (rp->o->absolute) {
		col[2].title = NULL;
		col[3].title = "Change";
		col[4].title = "By weight";
	}
	memcpy(col + n, other[total][rp->o->absolute], sizeof(other[total][0]));
	n += ARRAY_SIZE(other[total][0]);
	if (!rp->d->whole.run)
		return n;
	/* the change is that of the means of runs */
	if (rp->o->absolute) {
		col[6].title = total ? "Total A, all runs" : "Self A, all runs";
		col[7].title = total ? "Total B, all runs" : "Self B, all runs";
	}
	memcpy(col + n, spread[total], sizeof(spread[total]));
	return n + 2;
}

/* Fills in all columns. Returns how many there are. */
static size_t report_diff_fill_columns(const struct report_diff *rp,
				       struct grid_column *col)
{
	unsigned int keys = rp->o->keys;
	size_t n = add_columns(rp, col, rp->o->by_total);
	size_t rest = n;

	n += add_columns(rp, col + n, !rp->o->by_total);
	/* the text form shows only self, or only total */
	for (; rest < n; rest++)
		col[rest].title = NULL;
	n += report_key_columns(keys, col + n);
	if (keys & (KEY_SYM | KEY_DSO))
		col[n++] = (struct grid_column){
			keys & KEY_SYM ? "Function" : "Image",
			keys & KEY_SYM ? "symbol" : "image"
		};
	if (keys & KEY_SYM)
		col[n++] = (struct grid_column){ NULL, "kind" };
	if (keys & KEY_SYM && keys & KEY_DSO)
		col[n++] = (struct grid_column){ "Image", "image" };
	if (keys & KEY_SYM)
		col[n++] = (struct grid_column){ NULL, "code" };
	return n;
}

/* Marks the last number as a time, if it is a weight in ns. */
static void fill_unit(const struct report_diff *rp, struct grid *g, bool weight)
{
	if (weight && rp->time)
		grid_is_time(g);
}

/* Adds the cells of self or total of a row. */
static void fill_counts(const struct report_diff *rp, struct grid *g,
			size_t row, bool total)
{
	const struct diff_rows *d = rp->d;
	const struct diff_place *p = &d->place[total][row];
	const struct diff_place *also = &rp->other->place[total][row];
	uint64_t in[2];

	for (int i = 0; i < 2; i++) {
		in[i] = d->row[row].weight[i][total];
		grid_percent(g, in[i], d->side[i].weight);
	}
	/* what B would have if the row had changed as little as the others */
	grid_real(g, diff_rows_size(d, 1, d->scale * (double)in[0]),
		  d->absolute);
	grid_change(g, diff_rows_excess_of(d, row, total), d->absolute);
	fill_unit(rp, g, d->absolute);
	grid_text(g, diff_rows_word(p));
	grid_chance(g, p->p);
	for (int i = 0; i < 2; i++) {
		grid_number(g, in[i]);
		fill_unit(rp, g, true);
	}
	grid_number(g, p->a);
	grid_number(g, p->b);
	grid_change(g, diff_rows_excess_of(rp->other, row, total),
		    !d->absolute);
	fill_unit(rp, g, !d->absolute);
	grid_text(g, diff_rows_word(also));
	grid_chance(g, also->p);
	for (int i = 0; d->whole.run && i < 2; i++) {
		double mean, deviation;

		diff_spread(p, &d->whole, i, &mean, &deviation);
		grid_real(g, d->absolute ? deviation : 100 * deviation,
			  d->absolute);
	}
}

/* Returns whether a row of A may have another name in B. */
static bool report_diff_is_renamed(const struct report_diff *rp, uint32_t row)
{
	return rp->c.renamed && rp->c.renamed[row] != REPORT_NONE &&
	       rp->d->place[1][row].a;
}

/* Writes what the change comes from; null if nothing changed. */
static void report_diff_json_cause(const struct report_diff *rp, struct json *j)
{
	const struct diff_rows *d = compare_cause(&rp->c);
	const struct diff_cause *c = d ? &d->cause : NULL;

	if (!c) {
		json_null(j, "cause");
		return;
	}
	double factor = diff_cause_factor(d);

	json_object(j, "cause");
	json_shown(j, "symbol", diff_rows_label(d, c->row)->name);
	json_shown(j, "image", diff_rows_label(d, c->row)->image);
	json_text(j, "by", d->absolute ? "weight" : "share");
	json_text(j, "change", c->sign > 0 ? "more" : "less");
	json_real(j, "excess", c->excess);
	json_real(j, "times", c->times);
	json_real(j, "times_low", c->times / factor);
	json_real(j, "times_high", c->times * factor);
	if (c->instead == REPORT_NONE)
		json_null(j, "instead");
	else
		json_shown(j, "instead", diff_rows_label(d, c->instead)->name);
	json_bool(j, "moved", c->moved);
	json_array(j, "in");
	for (size_t i = 0; i < c->n_part; i++) {
		json_object(j, NULL);
		json_shown(j, "symbol",
			   diff_rows_label(d, c->part[i].row)->name);
		json_real(j, "excess", c->part[i].excess);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "others", c->others);
	json_end(j);
}

/* Writes what the rows are measured against; null: all rows. */
static void report_diff_json_reference(const struct diff_rows *d,
				       struct json *j)
{
	if (!d->part) {
		json_null(j, "reference");
		return;
	}
	json_object(j, "reference");
	json_uint(j, "functions", d->n_kept);
	json_uint(j, "a_weight", d->kept[0]);
	json_uint(j, "b_weight", d->kept[1]);
	json_real(j, "p", d->kept_p);
	json_end(j);
}

/* Writes the comparison as JSON; g NULL: without rows. */
static void report_diff_json(const struct report_diff *rp, const struct grid *g,
			     size_t left_out, FILE *to)
{
	char *moved OWNED = diff_sentence(&rp->c, diff_tell_moved, 0);
	char *alone OWNED = diff_sentence(&rp->c, diff_tell_alone, 0);
	struct diff_counts n = diff_rows_changed(rp->d, rp->o->by_total);
	struct json j;

	json_answer(&j, to, JSON_COMPACT);
	diff_put_sides(&rp->c, &j);
	json_text(&j, "not_comparable", *alone ? alone : NULL);
	json_text(&j, "says", moved);
	report_diff_json_cause(rp, &j);
	report_diff_json_reference(rp->d, &j);
	json_text(&j, "unit", rp->c.unit);
	json_array(&j, "matched");
	for (size_t i = 0; i < rp->c.n_renames; i++) {
		const struct compare_rename *r = &rp->c.renames[i];

		json_object(&j, NULL);
		json_shown(&j, "from", r->from);
		json_shown(&j, "to", r->to);
		json_real(&j, "percent", 100 * r->agrees);
		json_bool(&j, "taken", r->taken);
		json_end(&j);
	}
	json_end(&j);
	json_uint(&j, "significant_more", n.more);
	json_uint(&j, "significant_less", n.less);
	json_uint(&j, "new", n.appeared);
	json_uint(&j, "gone", n.gone);
	json_array(&j, "renamed");
	for (uint32_t i = 0; i < rp->d->n; i++) {
		if (!report_diff_is_renamed(rp, i))
			continue;
		json_object(&j, NULL);
		json_shown(&j, "from", diff_rows_label(rp->d, i)->name);
		json_shown(&j, "to",
			   diff_rows_label(rp->d, rp->c.renamed[i])->name);
		json_end(&j);
	}
	json_end(&j);
	if (g) {
		json_break(&j);
		grid_json(g, &j, "rows");
	}
	json_uint(&j, "rows_left_out", left_out);
	json_finish(&j);
}

/* Drops rows without weight of the chosen kind. Returns how many are left. */
static size_t report_diff_drop_empty(const struct report_diff *rp,
				     uint32_t *order)
{
	bool total = rp->o->by_total;
	size_t n = 0;

	for (size_t i = 0; i < rp->d->n; i++) {
		const struct diff_row *row = &rp->d->row[order[i]];

		if (row->weight[0][total] || row->weight[1][total])
			order[n++] = order[i];
	}
	return n;
}

/* Prints the comparison, in the chosen format. */
static void report_diff_print_rows(struct report_diff *rp)
{
	bool people = output_is_text(rp->o->format);
	bool fenced = output_is_markdown(rp->o->format);
	struct grid_column col[COLUMNS + 8];
	struct grid *g OWNED_GRID =
		grid_new(col, report_diff_fill_columns(rp, col));
	uint32_t *order OWNED =
		diff_rows_order(rp->d, rp->o->by_total, rp->other);
	unsigned int keys = rp->o->keys;
	size_t all = people ? report_diff_drop_empty(rp, order) : rp->d->n;
	size_t n = all < rp->o->limit ? all : rp->o->limit;

	grid_spare(g, "p");
	if (fenced)
		markdown_fence(stdout, true);
	if (people) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);
		char *images OWNED = diff_sentence(&rp->c, diff_tell_images, 0);
		char *alone OWNED = diff_sentence(&rp->c, diff_tell_alone, 0);
		char *parts OWNED =
			rp->parts ? diff_parts_sentence(rp->parts) : NULL;

		if (parts)
			fprintf(out, "%s\n", parts);
		diff_tell_moved(&rp->c, 0, out);
		putc('\n', out);
		fprintf(out, "%s%s", images, *images ? "\n" : "");
		fprintf(out, "%s%s", alone, *alone ? "\n" : "");
		for (int side = 0; side < 2; side++) {
			diff_tell_side(&rp->c, side, out);
			putc('\n', out);
			diff_tell_trust(&rp->c, side, out);
			putc('\n', out);
		}
		diff_tell_result(&rp->c, rp->o->by_total, out);
		putc('\n', out);
		for (uint32_t i = 0; i < rp->d->n; i++) {
			if (!report_diff_is_renamed(rp, i))
				continue;
			diff_tell_renamed(&rp->c, i, out);
			putc('\n', out);
		}
		term_lines_end(&l);
		if (!output_is_markdown(rp->o->format))
			putchar('\n');
	}
	if (fenced)
		markdown_fence(stdout, false);
	/* people see all significant changes, scripts as many as they want */
	for (size_t i = n; people && i < all; i++) {
		uint32_t row = order[i];
		bool total = rp->o->by_total;
		if (!rp->d->place[total][row].only &&
		    (rp->d->place[total][row].change ||
		     rp->other->place[total][row].change))
			n = i + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct label *l = diff_rows_label(rp->d, order[i]);
		const struct diff_row *of = &rp->d->row[order[i]];

		fill_counts(rp, g, order[i], rp->o->by_total);
		fill_counts(rp, g, order[i], !rp->o->by_total);
		report_key_cells(g, keys, of->of, of->row);
		if (keys & (KEY_SYM | KEY_DSO))
			grid_text(g, l->name);
		if (keys & KEY_SYM)
			grid_text(g, label_kind_name(l->kind));
		if (keys & KEY_SYM && keys & KEY_DSO)
			grid_text(g, l->image);
		if (keys & KEY_SYM)
			grid_text(g, diff_rows_code_word(rp->d, order[i]));
	}
	if (!strcmp(rp->o->format, "json"))
		report_diff_json(rp, g, all - n, stdout);
	else if (!strcmp(rp->o->format, "sql")) {
		/* Writes a table `result_head` too, with the rest of the
		 * JSON. */
		char *head OWNED = NULL;
		FILE *out = mem_stream(&head, NULL);

		report_diff_json(rp, NULL, all - n, out);
		mem_stream_end(out);
		fputs("DROP TABLE IF EXISTS result_head;\n"
		      "CREATE TABLE result_head(json);\n"
		      "INSERT INTO result_head VALUES(",
		      stdout);
		sql_put_text(stdout, head, strcspn(head, "\n"));
		fputs(");\n", stdout);
		grid_write(g, "sql", stdout);
		diff_changed_view(rp->o->absolute ? "self_weight_significant, "
						    "total_weight_significant"
						  : "self_significant, "
						    "total_significant");
	} else
		grid_write(g, rp->o->format, stdout);
	if (people) {
		/* Prints why rows are "unknown", of the first n of `order`. */
		const char *last = NULL;

		for (size_t i = 0; i < n; i++) {
			const char *why = rp->d->row[order[i]].unknown;

			if (!why || (last && !strcmp(why, last)))
				continue;
			printf("%sunknown: %s", last ? "; " : "\n", why);
			last = why;
		}
		if (last)
			putchar('\n');
	}
	if (people && n < all)
		printf("\n%zu more row%s without significant change not "
		       "shown; --limit 0 shows all\n",
		       all - n, all - n == 1 ? "" : "s");
}

/* A text that grows; `any`: it is not empty. */
struct key_text {
	FILE *out;
	bool any;
};

static void key_text_add(struct key_text *t, bool has, const char *s)
{
	if (!has || !*s)
		return;
	fprintf(t->out, "%s%s", t->any ? ", " : "", s);
	t->any = true;
}

static void key_text_number(struct key_text *t, bool has, const char *key,
			    int64_t n)
{
	char s[40];

	snprintf(s, sizeof(s), "%s %" PRId64, key, n);
	key_text_add(t, has, s);
}

/* Returns the keys of a row as one text, to be freed. */
static char *report_diff_name(const void *arg, uint32_t at)
{
	const struct report_diff *rp = arg;
	const struct report_row *row = rp->d->row[at].row;
	const struct report_rows *of = rp->d->row[at].of;
	const struct label *l = diff_rows_label(rp->d, at);
	unsigned int keys = rp->o->keys;
	char *name;
	struct key_text t = { mem_stream(&name, NULL), false };

	key_text_add(&t, keys & KEY_COMM, report_label(of, row->comm)->name);
	key_text_number(&t, keys & KEY_PID, "pid", row->pid);
	key_text_number(&t, keys & KEY_TID, "tid", row->tid);
	key_text_number(&t, keys & KEY_CPU, "cpu", row->cpu);
	key_text_add(&t, keys & KEY_FIELD, report_label(of, row->field)->name);
	key_text_add(&t, keys & KEY_VERDICT,
		     report_label(of, row->verdict)->name);
	key_text_add(&t, keys & (KEY_SYM | KEY_DSO), l->name);
	key_text_add(&t, keys & KEY_SYM && keys & KEY_DSO, l->image);
	mem_stream_end(t.out);
	return name;
}

int report_diff(const struct sides *s, const struct report_opts *o,
		struct err *err)
{
	bool whole = output_is_text(o->format) && !filter_given(o->filter);
	struct report_diff rp = {
		.o = o,
		.parts = whole ? diff_parts_new(o->filter, o->names) : NULL
	};
	int status = STATUS_OK;
	int rc = report_diff_load(&rp, s, &status, err);

	if (!rc) {
		report_diff_print_rows(&rp);
		status = diff_limit_rows(rp.o->fail, &rp.c, rp.o->by_total,
					 report_diff_name, &rp, status);
	}
	compare_release(&rp.c);
	diff_parts_free(rp.parts);
	return rc ? -1 : status;
}
