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
#include "cli/model/diff_limit.h"
#include "cli/model/diff_stats.h"
#include "cli/output/grid.h"
#include "cli/model/label.h"
#include "cli/output/safe_text.h"
#include "cli/model/report_rows.h"
#include "cli/model/sides.h"
#include "cli/model/stacks.h"
#include "cli/output/term.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"

#define COLUMNS 28

/* One of the recordings. */
struct diff_run_rows {
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

/* The sums of one side. */
struct diff_side {
	const char *name;
	size_t runs;
	uint64_t weight, samples, lost, unjoined;
	bool lost_unknown;
};

/* A row of all recordings, as one of them has it, with the sums of both sides,
 * which are 0 where no run has it. */
struct diff_pair {
	const struct report_row *row;
	const struct report_rows *of;
	struct report_row sum[2];
	uint32_t place; /* index in self and total of struct report_diff */
	double excess;	/* excess of B over what A predicts, as share of its
			 * weight; < 0: less, also where more samples weigh less
			 */
	bool significant;
};

struct report_diff {
	const struct report_opts *o;
	struct diff_run_rows *run; /* those of A first */
	size_t n_run;
	struct diff_side side[2];
	struct diff_pair *pair;
	size_t n;
	struct diff_place *self, *total;
	struct diff_count *count[2]; /* of each pair in each run: self, total */
	struct diff_whole whole;
};

static int report_diff_take_lost(void *arg, const struct rows *r,
				 struct err *err)
{
	struct diff_run_rows *s = arg;

	(void)err;
	s->lost = (uint64_t)rows_int(r, REPORT_LOST_ALL_N);
	s->lost_unknown = rows_int(r, REPORT_LOST_ALL_UNKNOWN) > 0;
	return 0;
}

/* Returns the index of the event called `want`, without one the event that
 * stacks_choose() takes; -2 if there is none. */
static int report_diff_choose(const struct diff_run_rows *s, const char *want)
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

static int count_side(struct diff_run_rows *s, struct err *err)
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

static int load_side(struct report_diff *rp, struct diff_run_rows *s,
		     const char *want, int *status, struct err *err)
{
	struct stacks_opts so = {
		.by_cpu = rp->o->keys & KEY_CPU,
		.inlined = rp->o->inlined,
		.samples = rp->o->by_samples,
		.summed = report_summed(rp->o),
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
	size_t run;
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

	return d ? d : compare_i64((int64_t)a->run, (int64_t)b->run);
}

static struct diff_count *report_diff_count(const struct report_diff *rp,
					    bool total, uint32_t place,
					    size_t run)
{
	return &rp->count[total][(size_t)place * rp->n_run + run];
}

static void pair_add(struct report_diff *rp, struct diff_pair *p,
		     const struct keyed_row *k)
{
	struct report_row *sum = &p->sum[k->run >= rp->side[0].runs];

	sum->self += k->row->self;
	sum->total += k->row->total;
	report_diff_count(rp, false, p->place, k->run)->n = k->row->n_self;
	report_diff_count(rp, true, p->place, k->run)->n = k->row->n_total;
}

/* Sorts the rows of all runs by key and adds up equal neighbours. */
static void pair_rows(struct report_diff *rp)
{
	struct keyed_row *k;
	size_t n = 0;
	size_t at = 0;

	for (size_t i = 0; i < rp->n_run; i++)
		n += report_rows_count(rp->run[i].rows);
	k = mem_new(n, sizeof(*k));
	for (size_t i = 0; i < rp->n_run; i++) {
		struct report_rows *r = rp->run[i].rows;

		for (size_t j = 0; j < report_rows_count(r); j++)
			k[at++] = (struct keyed_row){ report_rows_get(r, j), r,
						      i };
	}
	qsort(k, n, sizeof(*k), compare_keyed);
	for (size_t i = 0; i < n; i++)
		rp->n += !i || compare_keys(&k[i - 1], &k[i]);
	rp->pair = mem_new(rp->n, sizeof(*rp->pair));
	for (int i = 0; i < 2; i++)
		rp->count[i] =
			mem_new(rp->n * rp->n_run, sizeof(*rp->count[i]));
	for (size_t i = 0, next = 0; i < n; i++) {
		if (!i || compare_keys(&k[i - 1], &k[i])) {
			rp->pair[next].row = k[i].row;
			rp->pair[next].of = k[i].of;
			rp->pair[next].place = (uint32_t)next;
			next++;
		}
		pair_add(rp, &rp->pair[next - 1], &k[i]);
	}
	free(k);
}

static const struct label *label_of(const struct diff_pair *p)
{
	return report_label(p->of, p->row->label);
}

/* Fills in the counts of a pair. A kernel function has all its samples, with or
 * without a user stack; samples without a user stack may be of any user
 * function. */
static void fill_place(struct report_diff *rp, const struct diff_pair *p)
{
	const struct label *l = label_of(p);
	bool code = rp->o->keys & (KEY_SYM | KEY_DSO);
	bool user = code && !l->kernel && l->kind != LABEL_GROUP;
	struct diff_place *place[2] = { &rp->self[p->place],
					&rp->total[p->place] };

	for (size_t i = 0; i < rp->n_run; i++) {
		const struct diff_run_rows *s = &rp->run[i];

		report_diff_count(rp, false, p->place, i)->may =
			saturating_add(user ? s->unjoined_leaf : 0, s->lost);
		report_diff_count(rp, true, p->place, i)->may =
			saturating_add(user ? s->unjoined : 0, s->lost);
	}
	for (int i = 0; i < 2; i++) {
		diff_place_add_up(place[i],
				  report_diff_count(rp, i, p->place, 0),
				  rp->n_run, rp->side[0].runs);
		place[i]->skip = l->kind == LABEL_MISSING;
	}
}

static double report_diff_share(const struct report_diff *rp, int side,
				double weight)
{
	return rp->o->absolute ? weight / (double)rp->side[side].runs
			       : 100 * weight / (double)rp->side[side].weight;
}

static double report_diff_unit(uint64_t weight, uint64_t samples)
{
	return (double)weight / (double)samples;
}

static void report_diff_set_whole(struct report_diff *rp)
{
	const struct diff_side *a = &rp->side[0];
	const struct diff_side *b = &rp->side[1];
	struct diff_whole *w = &rp->whole;

	*w = (struct diff_whole){
		.a = a->samples,
		.b = b->samples,
		.lost_a = a->lost,
		.lost_b = b->lost,
		.absolute = rp->o->absolute,
		.unit_a = report_diff_unit(a->weight, a->samples),
		.unit_b = report_diff_unit(b->weight, b->samples),
		.runs_a = a->runs,
		.runs_b = b->runs,
	};
	if (rp->n_run == 2)
		return;
	w->run = mem_new(rp->n_run, sizeof(*w->run));
	for (size_t i = 0; i < rp->n_run; i++)
		w->run[i] = (struct diff_run){
			rp->run[i].samples, rp->run[i].lost,
			report_diff_unit(rp->run[i].weight, rp->run[i].samples)
		};
}

static void report_diff_judge(struct report_diff *rp)
{
	struct diff_whole left;
	double scale;

	rp->self = mem_new(rp->n, sizeof(*rp->self));
	rp->total = mem_new(rp->n, sizeof(*rp->total));
	for (size_t i = 0; i < rp->n; i++)
		fill_place(rp, &rp->pair[i]);
	report_diff_set_whole(rp);
	diff_judge(rp->self, rp->n, &rp->whole, &left);
	diff_judge_nested(rp->total, rp->n, &left);
	scale = diff_scale(&left);
	free(left.run);
	for (size_t i = 0; i < rp->n; i++) {
		struct diff_pair *p = &rp->pair[i];
		bool total = rp->o->by_total;
		double in_a =
			(double)(total ? p->sum[0].total : p->sum[0].self);
		double in_b =
			(double)(total ? p->sum[1].total : p->sum[1].self);

		p->excess = report_diff_share(rp, 1, in_b - in_a * scale);
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
	if (fabs(a->excess) != fabs(b->excess))
		return fabs(a->excess) > fabs(b->excess) ? -1 : 1;
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
	if (!rp->whole.run)
		return n;
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
		in[i] = total ? p->sum[i].total : p->sum[i].self;
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
	for (int i = 0; rp->whole.run && i < 2; i++) {
		double mean, deviation;

		diff_spread(d, &rp->whole, i, &mean, &deviation);
		grid_real(g, rp->o->absolute ? deviation : 100 * deviation);
	}
}

static void report_diff_fill_row(const struct report_diff *rp, struct grid *g,
				 const struct diff_pair *p)
{
	const struct label *l = label_of(p);
	unsigned int keys = rp->o->keys;

	fill_counts(rp, g, p, rp->o->by_total);
	fill_counts(rp, g, p, !rp->o->by_total);
	report_key_cells(g, keys, p->of, p->row);
	if (keys & (KEY_SYM | KEY_DSO))
		grid_text(g, l->name);
	if (keys & KEY_SYM)
		grid_text(g, label_kind_name(l->kind));
	if (keys & KEY_SYM && keys & KEY_DSO)
		grid_text(g, l->image);
}

static void print_side(FILE *out, const struct report_diff *rp, int side)
{
	const struct diff_side *s = &rp->side[side];
	const struct diff_run_rows *first =
		&rp->run[side ? rp->side[0].runs : 0];

	fprintf(out, "%c: ", side ? 'B' : 'A');
	safe_text_put(out, s->name, 0, 0);
	fputs(", ", out);
	safe_text_put(out,
		      first->event < 0 ? "several events"
				       : stacks_event(first->stacks,
						      (size_t)first->event)
						 ->name,
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
	print_side(out, rp, 0);
	print_side(out, rp, 1);
	fprintf(out,
		"significant: %zu more in B, %zu less, by %s%s; false-"
		"positive rate per table: at most 1 %%\n",
		n[0], n[1], rp->o->absolute ? "numbers" : "shares",
		rp->whole.run ? " and how they differ between runs" : "");
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
static char *report_diff_name(const struct report_diff *rp,
			      const struct diff_pair *p)
{
	const struct report_row *row = p->row;
	unsigned int keys = rp->o->keys;
	char *name;
	size_t len;
	struct key_text t = { mem_stream(&name, &len), false };

	key_text_add(&t, keys & KEY_COMM, report_label(p->of, row->comm)->name);
	key_text_number(&t, keys & KEY_PID, "pid", row->pid);
	key_text_number(&t, keys & KEY_TID, "tid", row->tid);
	key_text_number(&t, keys & KEY_CPU, "cpu", row->cpu);
	key_text_add(&t, keys & KEY_VERDICT,
		     report_label(p->of, row->verdict)->name);
	key_text_add(&t, keys & (KEY_SYM | KEY_DSO), label_of(p)->name);
	key_text_add(&t, keys & KEY_SYM && keys & KEY_DSO, label_of(p)->image);
	mem_stream_end(t.out);
	return name;
}

/* Says what grew by more than is allowed. Returns an enum status. */
static int report_diff_check_limit(const struct report_diff *rp, int status)
{
	struct diff_limit l = { NULL, 0, 0 };
	double whole = rp->o->absolute ? (double)rp->side[0].weight /
						 (double)rp->side[0].runs / 100
				       : 1;

	for (size_t i = 0; i < rp->n; i++) {
		const struct diff_pair *p = &rp->pair[i];
		const struct diff_place *d =
			&(rp->o->by_total ? rp->total : rp->self)[p->place];

		if (d->change > 0) {
			char *name = report_diff_name(rp, p);

			diff_limit_add(&l, name, p->excess / whole, d->p);
			free(name);
		}
	}
	return diff_limit_end(&l, status);
}

static void report_diff_sum_side(struct diff_side *s,
				 const struct diff_run_rows *run)
{
	s->runs++;
	s->weight = saturating_add(s->weight, run->weight);
	s->samples += run->samples;
	s->lost = saturating_add(s->lost, run->lost);
	s->lost_unknown |= run->lost_unknown;
	s->unjoined += run->unjoined;
}

static int report_diff_load(struct report_diff *rp, const struct sides *s,
			    int *status, struct err *err)
{
	rp->run = mem_new(s->side[0].n + s->side[1].n, sizeof(*rp->run));
	for (int i = 0; i < 2; i++) {
		rp->side[i].name = s->side[i].name;
		for (size_t k = 0; k < s->side[i].n; k++) {
			struct diff_run_rows *run = &rp->run[rp->n_run];
			const struct diff_run_rows *a = &rp->run[0];
			const char *want = NULL;

			run->path = s->side[i].path[k];
			if (rp->n_run++ && a->event >= 0)
				want = stacks_event(a->stacks, (size_t)a->event)
					       ->name;
			if (load_side(rp, run, want, status, err))
				return -1;
			report_diff_sum_side(&rp->side[i], run);
		}
	}
	return 0;
}

int report_diff(const struct sides *s, const struct report_opts *o,
		struct err *err)
{
	struct report_diff rp = { .o = o };
	int status = STATUS_OK;
	int rc = report_diff_load(&rp, s, &status, err);

	if (!rc) {
		pair_rows(&rp);
		report_diff_judge(&rp);
		report_diff_print_rows(&rp);
		status = report_diff_check_limit(&rp, status);
	}
	for (size_t i = 0; i < rp.n_run; i++) {
		report_rows_free(rp.run[i].rows);
		stacks_free(rp.run[i].stacks);
	}
	for (int i = 0; i < 2; i++)
		free(rp.count[i]);
	free(rp.whole.run);
	free(rp.run);
	free(rp.pair);
	free(rp.self);
	free(rp.total);
	return rc ? -1 : status;
}
