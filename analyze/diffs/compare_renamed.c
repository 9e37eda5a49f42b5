/* compare_renamed.c - pairs of functions, one on each side only, that may be
 * one function under two names. */
#include "analyze/diffs/compare.h"

#include <math.h>

#include "analyze/diffs/diff_cause.h"
#include "analyze/stacks/label.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* The heaviest of each side are looked at, if they have so much of it, in
 * percent, and so many samples. */
#define LONELY_MAX 32
#define LONELY_PERCENT 0.5
#define LONELY_SAMPLES 10
/* Weights are alike if the smaller one is so much of the larger one, and
 * callers if so much of the weight is by the same ones: far less than the noise
 * of a recording, far more than two functions that have nothing in common. */
#define ALIKE 0.7
#define CALLERS_ALIKE 0.5

/* A function that is on one side only. */
struct lonely {
	uint32_t row;
	double total; /* share of its side, in percent */
	double *by; /* weight by the row of its caller; d->n: by another lonely
		     * one, or none */
	double called; /* their sum */
	bool paired;
};

struct lonely_list {
	struct lonely item[LONELY_MAX];
	size_t n;
};

static double lonely_share(const struct compare *c, uint32_t row, bool total)
{
	const struct diff_row *r = &c->d->row[row];
	int side = !r->weight[0][1];

	return 100 * (double)r->weight[side][total] /
	       (double)c->d->side[side].weight;
}

COMPARE_LARGEST_BY(lonely_compare, struct lonely, total, row);

/* Lists the functions of a side; in_both: by row, the other side's program has
 * it too. */
static void lonely_find(const struct compare *c, int side, const bool *in_both,
			struct lonely_list *out)
{
	struct lonely *all = mem_new(c->d->n + 1, sizeof(*all));
	size_t n = 0;

	for (uint32_t i = 0; i < c->d->n; i++) {
		const struct diff_place *p = &c->d->place[1][i];
		enum label_kind kind = diff_rows_label(c->d, i)->kind;

		if (!(side ? p->a : p->b) && !p->skip && !in_both[i] &&
		    (side ? p->b : p->a) >= LONELY_SAMPLES &&
		    (kind == LABEL_USER || kind == LABEL_KERNEL) &&
		    lonely_share(c, i, true) >= LONELY_PERCENT)
			all[n++] = (struct lonely){
				.row = i, .total = lonely_share(c, i, true)
			};
	}
	sort_items(all, n, lonely_compare);
	for (out->n = 0; out->n < n && out->n < LONELY_MAX; out->n++) {
		out->item[out->n] = all[out->n];
		out->item[out->n].by = mem_new(c->d->n + 1, sizeof(*all->by));
	}
	free(all);
}

/* Adds up the callers of one run's functions; which: by row, index + 1. */
static void lonely_add_callers(const struct compare *c, size_t run,
			       const uint32_t *which, struct lonely_list *l)
{
	const struct report_rows *rows = c->rows[run].rows;
	const struct report_stack *st = rows->stack;
	const struct report_hit *hit = rows->hit;
	size_t k = 0;

	for (size_t i = 0; i < rows->n_stack; i++) {
		uint32_t caller = (uint32_t)c->d->n;

		for (; k < st[i].end; k++) {
			uint32_t row = c->d->of_row[run][hit[k].row];

			if (hit[k].self)
				continue;
			if (which[row]) {
				struct lonely *of = &l->item[which[row] - 1];

				of->by[caller] += (double)st[i].weight;
				of->called += (double)st[i].weight;
			}
			caller = which[row] ? (uint32_t)c->d->n : row;
		}
	}
}

static bool lonely_alike(double a, double b)
{
	return fmin(a, b) >= ALIKE * fmax(a, b) || fmax(a, b) < LONELY_PERCENT;
}

/* Returns how much of the calls of two functions are by the same callers, 0 to
 * 1; 0 if their weights or images differ. */
static double lonely_same(const struct compare *c, const struct lonely *a,
			  const struct lonely *b)
{
	const struct label *of[2] = { diff_rows_label(c->d, a->row),
				      diff_rows_label(c->d, b->row) };
	double same = 0;

	if (of[0]->kind != of[1]->kind || strcmp(of[0]->image, of[1]->image))
		return 0;
	for (int total = 0; total < 2; total++)
		if (!lonely_alike(lonely_share(c, a->row, total),
				  lonely_share(c, b->row, total)))
			return 0;
	for (size_t i = 0; i <= c->d->n; i++)
		same += fmin(a->by[i] / a->called, b->by[i] / b->called);
	return same;
}

void compare_find_renamed(struct compare *c)
{
	struct lonely_list list[2];
	bool *in_both = mem_new(c->d->n, sizeof(*in_both));

	c->renamed = mem_new(c->d->n, sizeof(*c->renamed));
	for (size_t i = 0; i < c->d->n; i++)
		c->renamed[i] = REPORT_NONE;
	for (uint32_t i = 0; i < c->n_only; i++) {
		uint32_t row = c->only[i] == IN_BOTH
				       ? diff_rows_of_label(c->d, i)
				       : REPORT_NONE;

		if (row != REPORT_NONE)
			in_both[row] = true;
	}
	for (int side = 0; side < 2; side++)
		lonely_find(c, side, in_both, &list[side]);
	for (int side = 0; list[0].n && list[1].n && side < 2; side++) {
		struct lonely_list *l = &list[side];
		uint32_t *which = mem_new(c->d->n, sizeof(*which));

		for (size_t i = 0; i < l->n; i++)
			which[l->item[i].row] = (uint32_t)i + 1;
		for (size_t i = 0; i < c->n; i++)
			if (compare_side(c, i) == side)
				lonely_add_callers(c, i, which, l);
		free(which);
	}
	for (size_t i = 0; list[1].n && i < list[0].n; i++) {
		const struct lonely *a = &list[0].item[i];
		struct lonely *best = NULL;
		double most = CALLERS_ALIKE;

		for (size_t k = 0; k < list[1].n; k++) {
			struct lonely *b = &list[1].item[k];
			double same = b->paired ? 0 : lonely_same(c, a, b);

			if (same > most) {
				most = same;
				best = b;
			}
		}
		if (!best)
			continue;
		best->paired = true;
		c->renamed[a->row] = best->row;
		c->renamed[best->row] = a->row;
		for (int by = 0; by < 2; by++) {
			c->by[by]->row[a->row].renamed = true;
			c->by[by]->row[best->row].renamed = true;
		}
	}
	for (int by = 0; by < 2; by++)
		diff_cause_find(c->by[by]);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < list[side].n; i++)
			free(list[side].item[i].by);
	free(in_both);
}
