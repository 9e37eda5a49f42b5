/* report_diff.c - the table of what changed between two recordings. */
#include "cli/tables/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/model/diff_alone.h"
#include "cli/model/diff_limit.h"
#include "cli/model/label.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "cli/output/grid.h"
#include "cli/output/json.h"
#include "cli/output/term.h"
#include "cli/tables/compare.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define COLUMNS 28

struct report_diff {
	const struct report_opts *o;
	struct compare c;
	const struct diff_rows *d; /* of c */
};

static int report_diff_check_weight(const struct compare_run *run,
				    struct err *err)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < stacks_count(run->stacks); i++) {
		const struct stacks_group *g = stacks_group(run->stacks, i);

		if ((run->event < 0 || g->event == (uint32_t)run->event) &&
		    __builtin_add_overflow(weight, g->weight, &weight))
			return err_set(err, ERR_LIMIT,
				       "%s: the weights sum up to more than "
				       "64 bits; use --by samples",
				       run->path);
	}
	if (weight)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: all samples have weight 0; use --by samples",
		       run->path);
}

static int report_diff_load(struct report_diff *rp, const struct sides *s,
			    int *status, struct err *err)
{
	const struct compare_opts co = {
		.stacks = { .by_cpu = rp->o->keys & KEY_CPU,
			    .inlined =
				    rp->o->inlined && rp->o->keys & KEY_INLINED,
			    .inlined_same = true,
			    .samples = rp->o->by_samples,
			    .summed = report_summed(rp->o) },
	};

	if (compare_load(&rp->c, s, &co, status, err))
		return -1;
	for (size_t i = 0; i < rp->c.n; i++) {
		struct compare_run *run = &rp->c.run[i];

		if (report_diff_check_weight(run, err))
			return -1;
		rp->c.rows[i].rows = report_rows_new(run->stacks, run->event,
						     rp->o->keys | KEY_HITS);
	}
	compare_judge(&rp->c, rp->o->keys, rp->o->absolute);
	rp->d = rp->c.d;
	return 0;
}

static const char *report_diff_word(const struct diff_place *p)
{
	return p->skip	       ? "unknown"
	       : p->change > 0 ? "more"
	       : p->change < 0 ? "less"
			       : "";
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
	static const struct grid_column column[2][9] = {
		{ { "Self A", "self_a_percent" },
		  { "Self B", "self_b_percent" },
		  { "Change", "self_change" },
		  { "Significant", "self_significant" },
		  { "p", "self_p" },
		  { "Self A", "self_a_weight" },
		  { "Self B", "self_b_weight" },
		  { NULL, "self_a_samples" },
		  { NULL, "self_b_samples" } },
		{ { "Total A", "total_a_percent" },
		  { "Total B", "total_b_percent" },
		  { "Change", "total_change" },
		  { "Significant", "total_significant" },
		  { "p", "total_p" },
		  { "Total A", "total_a_weight" },
		  { "Total B", "total_b_weight" },
		  { NULL, "total_a_samples" },
		  { NULL, "total_b_samples" } },
	};
	/* percents, else weights */
	size_t hidden = rp->o->absolute ? 0 : 5;
	size_t n = sizeof(column[total]) / sizeof(column[total][0]);

	memcpy(col, column[total], sizeof(column[total]));
	col[hidden].title = NULL;
	col[hidden + 1].title = NULL;
	if (!rp->d->whole.run)
		return n;
	/* while the change is that of their means */
	if (rp->o->absolute) {
		col[5].title = total ? "Total A, all runs" : "Self A, all runs";
		col[6].title = total ? "Total B, all runs" : "Self B, all runs";
	}
	memcpy(col + n, spread[total], sizeof(spread[total]));
	return n + 2;
}

static size_t report_diff_fill_columns(const struct report_diff *rp,
				       struct grid_column *col)
{
	unsigned int keys = rp->o->keys;
	size_t n = add_columns(rp, col, rp->o->by_total);
	size_t rest = n;

	n += add_columns(rp, col + n, !rp->o->by_total);
	/* the text form shows only the chosen kind */
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
	return n;
}

static void fill_counts(const struct report_diff *rp, struct grid *g,
			size_t row, bool total)
{
	const struct diff_rows *d = rp->d;
	const struct diff_place *p = &d->place[total][row];
	uint64_t in[2];

	for (int i = 0; i < 2; i++) {
		in[i] = d->row[row].weight[i][total];
		grid_percent(g, in[i], d->side[i].weight);
	}
	grid_change(g,
		    diff_rows_size(d, 1, (double)in[1]) -
			    diff_rows_size(d, 0, (double)in[0]),
		    d->absolute);
	grid_text(g, report_diff_word(p));
	grid_chance(g, p->p);
	grid_number(g, in[0]);
	grid_number(g, in[1]);
	grid_number(g, p->a);
	grid_number(g, p->b);
	for (int i = 0; d->whole.run && i < 2; i++) {
		double mean, deviation;

		diff_spread(p, &d->whole, i, &mean, &deviation);
		grid_real(g, d->absolute ? deviation : 100 * deviation,
			  d->absolute);
	}
}

static void report_diff_print_head(const struct report_diff *rp)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);

	if (diff_alone_tell(rp->d, out))
		putc('\n', out);
	for (int side = 0; side < 2; side++) {
		compare_tell_side(&rp->c, side, out);
		putc('\n', out);
		compare_tell_trust(&rp->c, side, out);
		putc('\n', out);
	}
	compare_tell_result(&rp->c, rp->o->by_total, out);
	putc('\n', out);
	term_lines_end(&l);
	putchar('\n');
}

static void report_diff_json(const struct report_diff *rp, const struct grid *g,
			     size_t left_out)
{
	char *alone;
	size_t more, less, len;
	FILE *out = mem_stream(&alone, &len);
	bool is = diff_alone_tell(rp->d, out);
	struct json j;

	mem_stream_end(out);
	diff_rows_changed(rp->d, rp->o->by_total, &more, &less);
	json_answer(&j, stdout, JSON_COMPACT);
	compare_put_json(&rp->c, &j);
	json_text(&j, "not_comparable", is ? alone : NULL);
	json_uint(&j, "significant_more", more);
	json_uint(&j, "significant_less", less);
	json_break(&j);
	grid_json(g, &j, "rows");
	json_uint(&j, "rows_left_out", left_out);
	json_end(&j);
	json_newline(&j);
	free(alone);
}

static void report_diff_print_rows(struct report_diff *rp)
{
	bool people = !strcmp(rp->o->format, "table");
	struct grid_column col[COLUMNS + 8];
	struct grid *g = grid_new(col, report_diff_fill_columns(rp, col));
	uint32_t *order = diff_rows_order(rp->d, rp->o->by_total);
	const struct diff_place *place = rp->d->place[rp->o->by_total];
	unsigned int keys = rp->o->keys;
	size_t all = rp->d->n;
	size_t n = all < rp->o->limit ? all : rp->o->limit;

	if (people)
		report_diff_print_head(rp);
	/* people see all significant changes, scripts as many as they want */
	while (people && n < all && place[order[n]].change)
		n++;
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
	}
	if (!strcmp(rp->o->format, "json"))
		report_diff_json(rp, g, all - n);
	else
		grid_write(g, rp->o->format, stdout);
	if (people && n < all)
		printf("\n%zu more row%s without significant change not "
		       "shown; --limit 0 shows all\n",
		       all - n, all - n == 1 ? "" : "s");
	grid_free(g);
	free(order);
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
static char *report_diff_name(const struct report_diff *rp, size_t at)
{
	const struct report_row *row = rp->d->row[at].row;
	const struct report_rows *of = rp->d->row[at].of;
	const struct label *l = diff_rows_label(rp->d, at);
	unsigned int keys = rp->o->keys;
	char *name;
	size_t len;
	struct key_text t = { mem_stream(&name, &len), false };

	key_text_add(&t, keys & KEY_COMM, report_label(of, row->comm)->name);
	key_text_number(&t, keys & KEY_PID, "pid", row->pid);
	key_text_number(&t, keys & KEY_TID, "tid", row->tid);
	key_text_number(&t, keys & KEY_CPU, "cpu", row->cpu);
	key_text_add(&t, keys & KEY_VERDICT,
		     report_label(of, row->verdict)->name);
	key_text_add(&t, keys & (KEY_SYM | KEY_DSO), l->name);
	key_text_add(&t, keys & KEY_SYM && keys & KEY_DSO, l->image);
	mem_stream_end(t.out);
	return name;
}

/* Says what grew by more than is allowed. Returns an enum status. */
static int report_diff_check_limit(const struct report_diff *rp, int status)
{
	struct diff_limit l = { NULL, 0, 0 };
	bool total = rp->o->by_total;

	for (size_t i = 0; i < rp->d->n; i++) {
		const struct diff_place *p = &rp->d->place[total][i];

		if (p->change > 0) {
			char *name = report_diff_name(rp, i);

			diff_limit_add(&l, name,
				       diff_rows_growth(rp->d, i, total), p->p);
			free(name);
		}
	}
	return diff_limit_end(&l, status);
}

int report_diff(const struct sides *s, const struct report_opts *o,
		struct err *err)
{
	struct report_diff rp = { .o = o };
	int status = STATUS_OK;
	int rc = report_diff_load(&rp, s, &status, err);

	if (!rc) {
		report_diff_print_rows(&rp);
		status = report_diff_check_limit(&rp, status);
	}
	compare_release(&rp.c);
	return rc ? -1 : status;
}
