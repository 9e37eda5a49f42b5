/* report_diff.c - the table of what changed between two recordings. */
#include "cli/output/human.h"
#include "cli/tables/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/model/diff_stats.h"
#include "cli/output/grid.h"
#include "cli/model/label.h"
#include "cli/output/safe_text.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "cli/output/term.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"

#define COLUMNS 24

/* One of the two recordings. */
struct diff_side {
	const char *path;
	struct stacks *stacks;
	struct report_rows *rows;
	int event;
	uint64_t weight, samples;
	uint64_t lost;	   /* lost records */
	bool lost_unknown; /* an unknown number of records was lost as well */
	uint64_t unjoined; /* samples without their user stack */
	uint64_t unjoined_leaf; /* those of them that were taken in user code */
};

/* A row of both recordings; a row of zeros stands for one that a side lacks. */
struct diff_pair {
	const struct report_row *row[2];
	uint32_t place; /* index in self and total of struct report_diff */
	double excess;	/* excess of B over what A predicts, as share of its
			 * weight */
	bool significant;
};

struct report_diff {
	const struct report_opts *o;
	struct diff_side side[2];
	struct diff_pair *pair;
	size_t n;
	struct diff_place *self, *total;
};

static const struct report_row no_row;

static int report_diff_take_lost(void *arg, const struct rows *r,
				 struct err *err)
{
	struct diff_side *s = arg;

	(void)err;
	s->lost = (uint64_t)rows_int(r, REPORT_LOST_ALL_N);
	s->lost_unknown = rows_int(r, REPORT_LOST_ALL_UNKNOWN) > 0;
	return 0;
}

/* Returns the index of the event called `want`, without one the event that
 * stacks_choose() takes; -2 if there is none. */
static int report_diff_choose(const struct diff_side *s, const char *want)
{
	if (!want)
		return stacks_heaviest(s->stacks) < 0
			       ? -2
			       : stacks_choose(s->stacks, "comparing");
	for (size_t i = 0; i < stacks_events(s->stacks); i++) {
		const struct stacks_event *e = stacks_event(s->stacks, i);

		if (e->samples && !strcmp(e->name, want))
			return (int)i;
	}
	return -2;
}

static int count_side(struct diff_side *s, struct err *err)
{
	for (size_t i = 0; i < stacks_count(s->stacks); i++) {
		const struct stacks_group *g = stacks_group(s->stacks, i);

		if (s->event >= 0 && g->event != (uint32_t)s->event)
			continue;
		if (__builtin_add_overflow(s->weight, g->weight, &s->weight))
			return err_set(err, ERR_LIMIT,
				       "%s: the weights sum up to more than "
				       "64 bits; use --by samples",
				       s->path);
		s->samples += g->samples;
		if (stacks_missing(g)) {
			s->unjoined += g->samples;
			s->unjoined_leaf += g->kraw ? 0 : g->samples;
		}
	}
	if (s->weight)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: all samples have weight 0; use --by samples",
		       s->path);
}

static int load_side(struct report_diff *rp, struct diff_side *s,
		     const char *want, int *status, struct err *err)
{
	struct stacks_opts so = {
		.by_cpu = rp->o->keys & KEY_CPU,
		.inlined = rp->o->inlined,
		.samples = rp->o->by_samples,
	};
	struct store *db = database_open(s->path, status, err);

	if (db &&
	    !rows_each(db, "report_lost_all", report_diff_take_lost, s, err))
		s->stacks = stacks_load(db, &so, err);
	store_close(db);
	if (!s->stacks)
		return -1;
	s->event = report_diff_choose(s, want);
	if (s->event == -2)
		return err_set(err, ERR_FORMAT, "%s: no samples%s%s%s", s->path,
			       want ? " of '" : "", want ? want : "",
			       want ? "'; choose with --event" : "");
	if (count_side(s, err))
		return -1;
	s->rows = report_rows_new(s->stacks, s->event, rp->o->keys);
	return 0;
}

/* A row with its table of labels, which differs between the recordings. */
struct keyed_row {
	const struct report_row *row;
	const struct report_rows *of;
	int side;
};

static int compare_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_keys(const struct keyed_row *a, const struct keyed_row *b)
{
	int d = label_compare(report_label(a->of, a->row->label),
			      report_label(b->of, b->row->label));

	if (!d)
		d = label_compare(report_label(a->of, a->row->comm),
				  report_label(b->of, b->row->comm));
	if (!d)
		d = label_compare(report_label(a->of, a->row->verdict),
				  report_label(b->of, b->row->verdict));
	if (!d)
		d = compare_i64(a->row->pid, b->row->pid);
	if (!d)
		d = compare_i64(a->row->tid, b->row->tid);
	return d ? d : compare_i64(a->row->cpu, b->row->cpu);
}

static int compare_keyed(const void *pa, const void *pb)
{
	const struct keyed_row *a = pa;
	const struct keyed_row *b = pb;
	int d = compare_keys(a, b);

	return d ? d : a->side - b->side;
}

/* Sorts the rows of both sides by key and pairs equal neighbours. */
static void pair_rows(struct report_diff *rp)
{
	size_t n = report_rows_count(rp->side[0].rows) +
		   report_rows_count(rp->side[1].rows);
	struct keyed_row *k = mem_new(n, sizeof(*k));
	size_t at = 0;

	for (int i = 0; i < 2; i++) {
		struct report_rows *r = rp->side[i].rows;

		for (size_t j = 0; j < report_rows_count(r); j++)
			k[at++] = (struct keyed_row){ report_rows_get(r, j), r,
						      i };
	}
	qsort(k, n, sizeof(*k), compare_keyed);
	rp->pair = mem_new(n, sizeof(*rp->pair));
	for (size_t i = 0; i < n; i++) {
		struct diff_pair *p = &rp->pair[rp->n];

		p->row[0] = p->row[1] = &no_row;
		p->row[k[i].side] = k[i].row;
		if (i + 1 < n && !compare_keys(&k[i], &k[i + 1])) {
			p->row[1] = k[i + 1].row;
			i++;
		}
		p->place = (uint32_t)rp->n++;
	}
	free(k);
}

static const struct label *label_of(const struct report_diff *rp,
				    const struct diff_pair *p)
{
	int i = p->row[0] == &no_row;

	return report_label(rp->side[i].rows, p->row[i]->label);
}

/* Fills in the counts of a pair. A kernel function has all its samples, with or
 * without a user stack; samples without a user stack may be of any user
 * function. */
static void fill_place(struct report_diff *rp, const struct diff_pair *p)
{
	const struct label *l = label_of(rp, p);
	bool code = rp->o->keys & (KEY_SYM | KEY_DSO);
	bool user = code && !l->kernel && l->kind != LABEL_GROUP;
	struct diff_place *self = &rp->self[p->place];
	struct diff_place *total = &rp->total[p->place];
	uint64_t may[2][2];

	for (int i = 0; i < 2; i++) {
		const struct diff_side *s = &rp->side[i];

		may[i][0] =
			saturating_add(user ? s->unjoined_leaf : 0, s->lost);
		may[i][1] = saturating_add(user ? s->unjoined : 0, s->lost);
	}
	*self = (struct diff_place){
		.a = p->row[0]->n_self,
		.b = p->row[1]->n_self,
		.may_a = may[0][0],
		.may_b = may[1][0],
		.skip = l->kind == LABEL_MISSING,
	};
	*total = (struct diff_place){
		.a = p->row[0]->n_total,
		.b = p->row[1]->n_total,
		.may_a = may[0][1],
		.may_b = may[1][1],
		.skip = l->kind == LABEL_MISSING,
	};
}

static double report_diff_share(const struct report_diff *rp, int side,
				double weight)
{
	return rp->o->absolute ? weight
			       : 100 * weight / (double)rp->side[side].weight;
}

static void report_diff_judge(struct report_diff *rp)
{
	const struct diff_side *a = &rp->side[0];
	const struct diff_side *b = &rp->side[1];
	struct diff_whole w = {
		.a = a->samples,
		.b = b->samples,
		.lost_a = a->lost,
		.lost_b = b->lost,
		.absolute = rp->o->absolute,
		.unit_a = (double)a->weight / (double)a->samples,
		.unit_b = (double)b->weight / (double)b->samples,
	};
	struct diff_whole left;
	double scale;

	rp->self = mem_new(rp->n, sizeof(*rp->self));
	rp->total = mem_new(rp->n, sizeof(*rp->total));
	for (size_t i = 0; i < rp->n; i++)
		fill_place(rp, &rp->pair[i]);
	diff_judge(rp->self, rp->n, &w, &left);
	diff_judge_nested(rp->total, rp->n, &left);
	scale = diff_scale(&left);
	for (size_t i = 0; i < rp->n; i++) {
		struct diff_pair *p = &rp->pair[i];
		bool total = rp->o->by_total;
		double in_a =
			(double)(total ? p->row[0]->total : p->row[0]->self);
		double in_b =
			(double)(total ? p->row[1]->total : p->row[1]->self);

		p->excess = fabs(report_diff_share(rp, 1, in_b - in_a * scale));
		p->significant =
			(total ? rp->total : rp->self)[p->place].change;
	}
}

/* Significant ones first, the largest change first; then by name. */
static int compare_pairs(const void *pa, const void *pb)
{
	const struct diff_pair *a = pa;
	const struct diff_pair *b = pb;

	if (a->significant != b->significant)
		return a->significant ? -1 : 1;
	if (a->excess > b->excess || a->excess < b->excess)
		return a->excess > b->excess ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

static const char *report_diff_word(const struct diff_place *p)
{
	return p->skip	       ? "unknown"
	       : p->change > 0 ? "more"
	       : p->change < 0 ? "less"
			       : "";
}

/* Fills in the columns of self or total. Returns how many there are. */
static size_t add_columns(struct grid_column *col, bool total, bool absolute)
{
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
	size_t hidden = absolute ? 0 : 5; /* percents, else weights */

	memcpy(col, column[total], sizeof(column[total]));
	col[hidden].title = NULL;
	col[hidden + 1].title = NULL;
	return sizeof(column[total]) / sizeof(column[total][0]);
}

static size_t report_diff_fill_columns(const struct report_diff *rp,
				       struct grid_column *col)
{
	unsigned int keys = rp->o->keys;
	size_t n = add_columns(col, rp->o->by_total, rp->o->absolute);
	size_t rest = n;

	n += add_columns(col + n, !rp->o->by_total, rp->o->absolute);
	/* the text form shows only the chosen kind */
	for (; rest < n; rest++)
		col[rest].title = NULL;
	n += report_key_columns(keys, col + n);
	if (keys & (KEY_SYM | KEY_DSO))
		col[n++] = (struct grid_column){
			keys & KEY_SYM ? "Symbol" : "Image",
			keys & KEY_SYM ? "symbol" : "image"
		};
	if (keys & KEY_SYM)
		col[n++] = (struct grid_column){ NULL, "kind" };
	if (keys & KEY_SYM && keys & KEY_DSO)
		col[n++] = (struct grid_column){ "Image", "image" };
	return n;
}

static void fill_counts(const struct report_diff *rp, struct grid *g,
			const struct diff_pair *p, bool total)
{
	const struct diff_place *d =
		total ? &rp->total[p->place] : &rp->self[p->place];
	uint64_t in[2];

	for (int i = 0; i < 2; i++) {
		in[i] = total ? p->row[i]->total : p->row[i]->self;
		grid_percent(g, in[i], rp->side[i].weight);
	}
	grid_change(g, report_diff_share(rp, 1, (double)in[1]) -
			       report_diff_share(rp, 0, (double)in[0]));
	grid_text(g, report_diff_word(d));
	grid_chance(g, d->p);
	grid_number(g, in[0]);
	grid_number(g, in[1]);
	grid_number(g, d->a);
	grid_number(g, d->b);
}

static void report_diff_fill_row(const struct report_diff *rp, struct grid *g,
				 const struct diff_pair *p)
{
	const struct label *l = label_of(rp, p);
	unsigned int keys = rp->o->keys;
	int i = p->row[0] == &no_row;
	const struct report_row *row = p->row[i];
	const struct report_rows *of = rp->side[i].rows;

	fill_counts(rp, g, p, rp->o->by_total);
	fill_counts(rp, g, p, !rp->o->by_total);
	report_key_cells(g, keys, of, row);
	if (keys & (KEY_SYM | KEY_DSO))
		grid_text(g, l->name);
	if (keys & KEY_SYM)
		grid_text(g, label_kind_name(l->kind));
	if (keys & KEY_SYM && keys & KEY_DSO)
		grid_text(g, l->image);
}

static void print_side(FILE *out, const struct diff_side *s, char name)
{
	fprintf(out, "%c: ", name);
	safe_text_put(out, s->path, 0, 0);
	fputs(", ", out);
	safe_text_put(out,
		      s->event < 0
			      ? "several events"
			      : stacks_event(s->stacks, (size_t)s->event)->name,
		      0, 0);
	fputs(", ", out);
	human_put_grouped(out, s->samples);
	fputs(s->samples == 1 ? " sample" : " samples", out);
	if (s->unjoined) {
		fputs(", ", out);
		human_put_grouped(out, s->unjoined);
		fputs(" without user half", out);
	}
	if (s->lost || s->lost_unknown) {
		fputs(", ", out);
		human_put_grouped(out, s->lost);
		fprintf(out, " records lost%s",
			s->lost_unknown ? " and an unknown number more" : "");
	}
	putc('\n', out);
}

static void report_diff_print_head(const struct report_diff *rp)
{
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);
	size_t n[2] = { 0, 0 };

	for (size_t i = 0; i < rp->n; i++) {
		int change = (rp->o->by_total ? rp->total : rp->self)[i].change;

		n[0] += change > 0;
		n[1] += change < 0;
	}
	print_side(out, &rp->side[0], 'A');
	print_side(out, &rp->side[1], 'B');
	fprintf(out,
		"significant: %zu more in B, %zu less, by %s; false-"
		"positive rate per table: at most 1 %%\n",
		n[0], n[1], rp->o->absolute ? "numbers" : "shares");
	term_lines_end(&l);
	putchar('\n');
}

static void report_diff_print_rows(struct report_diff *rp)
{
	bool people = !strcmp(rp->o->format, "table");
	struct grid_column col[COLUMNS + 8];
	struct grid *g = grid_new(col, report_diff_fill_columns(rp, col));
	size_t n = rp->n < rp->o->limit ? rp->n : rp->o->limit;

	if (people)
		report_diff_print_head(rp);
	qsort(rp->pair, rp->n, sizeof(*rp->pair), compare_pairs);
	/* people see all significant changes, scripts as many as they want */
	while (people && n < rp->n && rp->pair[n].significant)
		n++;
	for (size_t i = 0; i < n; i++)
		report_diff_fill_row(rp, g, &rp->pair[i]);
	grid_write(g, rp->o->format, stdout);
	if (people && n < rp->n)
		printf("\n%zu more row%s without significant change not "
		       "shown; --limit 0 shows all\n",
		       rp->n - n, rp->n - n == 1 ? "" : "s");
	grid_free(g);
}

int report_diff(int argc, char **argv, const struct report_opts *o,
		struct err *err)
{
	struct report_diff rp = { .o = o };
	int status = STATUS_OK;
	int rc = 0;

	if (argc != 2)
		return err_set(err, ERR_USAGE,
			       "--diff compares two databases or captures: "
			       "'--diff BEFORE AFTER'");
	for (int i = 0; !rc && i < 2; i++) {
		const struct diff_side *a = &rp.side[0];
		const char *want = NULL;

		rp.side[i].path = argv[i];
		if (i && a->event >= 0)
			want = stacks_event(a->stacks, (size_t)a->event)->name;
		rc = load_side(&rp, &rp.side[i], want, &status, err);
	}
	if (!rc) {
		pair_rows(&rp);
		report_diff_judge(&rp);
		report_diff_print_rows(&rp);
	}
	for (int i = 0; i < 2; i++) {
		report_rows_free(rp.side[i].rows);
		stacks_free(rp.side[i].stacks);
	}
	free(rp.pair);
	free(rp.self);
	free(rp.total);
	return rc ? -1 : status;
}
