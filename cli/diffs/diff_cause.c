/* diff_cause.c - the function that a change comes from. */
#include "cli/diffs/diff_cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diffs/diff_hidden.h"
#include "cli/diffs/diff_rows.h"
#include "cli/stacks/label.h"
#include "stitch/base/mem.h"

/* A function has a change in it if it has so much of it. */
#define MOST 0.75
/* What changed as called by one caller is by that, if in A others call it too,
 * for so much of it, and what they call has at most so much of the change that
 * it would have if all of it had changed. */
#define ELSEWHERE 0.25
#define ELSEWHERE_CHANGED 0.5
/* So few samples elsewhere tell nothing. */
#define TELLING 10
/* A part of a change that is worth its name, and how much may be left over
 * where one function took over what another did. */
#define PART 0.1
#define LEFT_OVER 0.4
/* A function in another one is nearer if it has so much of its change, and the
 * rest of that is within so much of what it would be without a change: twice
 * what two runs differ by. */
#define INNER 0.5
#define REST (2 * 1.42 * DIFF_BETWEEN)
/* The caller is not known if it is missing in so much of a function. */
#define BLIND 0.5
/* So much of a change is one of the functions in it, and not only moved there,
 * or all of it; so many rows are looked at. */
#define REAL 0.5
#define REAL_ALL 0.9
#define MOVED_MAX 32

/* Weights of each row, by side, in stacks with one function. */
struct cause_stacks {
	double *self[2];  /* of the row itself */
	double *above[2]; /* with the row as a caller of the function */
	double lacks[2];  /* whose leaf it is, and lacks its callers */
	double hole[2];	  /* whose leaf lacks its caller, and it is the next one
			   */
	struct diff_count *count; /* of self, by run; NULL: not wanted */
};

static void cause_stacks_release(struct cause_stacks *s)
{
	for (int side = 0; side < 2; side++) {
		free(s->self[side]);
		free(s->above[side]);
	}
}

static void cause_add_run(struct cause_stacks *s, const struct diff_rows *d,
			  size_t run, uint32_t row)
{
	int side = run >= d->side[0].runs;
	size_t n, n_hit, first = 0;
	const struct report_stack *st =
		report_rows_stacks(d->run[run].rows, &n);
	const struct report_hit *hit =
		report_rows_hits(d->run[run].rows, &n_hit);
	const uint32_t *of_row = d->of_row[run];

	for (size_t i = 0; i < n; first = st[i++].end) {
		uint32_t leaf = of_row[hit[st[i].end - 1].row];
		size_t at = first;

		while (at < st[i].end && of_row[hit[at].row] != row)
			at++;
		if (at == st[i].end)
			continue;
		s->self[side][leaf] += (double)st[i].weight;
		if (st[i].lacks && st[i].leaf == hit[at].row)
			s->lacks[side] += (double)st[i].weight;
		if (st[i].lacks && !hit[at + 1].self &&
		    st[i].leaf == hit[at + 1].row)
			s->hole[side] += (double)st[i].weight;
		if (s->count)
			s->count[leaf * d->n_run + run].n += st[i].samples;
		for (size_t k = first; k < at; k++)
			s->above[side][of_row[hit[k].row]] +=
				(double)st[i].weight;
	}
}

static void cause_stacks_add_up(struct cause_stacks *s,
				const struct diff_rows *d, uint32_t row)
{
	for (int side = 0; side < 2; side++) {
		s->self[side] = mem_new(d->n, sizeof(*s->self[side]));
		s->above[side] = mem_new(d->n, sizeof(*s->above[side]));
	}
	for (size_t i = 0; i < d->n_run; i++)
		cause_add_run(s, d, i, row);
}

/* Counts the samples of each row itself, for each run, in stacks with the
 * cause; to be freed. */
static struct diff_count *cause_under(const struct diff_rows *d, uint32_t row)
{
	struct cause_stacks s = {
		.count = mem_new(d->n * d->n_run, sizeof(*s.count)),
	};

	cause_stacks_add_up(&s, d, row);
	cause_stacks_release(&s);
	return s.count;
}

/* Returns the size of a row in B, if nothing changed, with what it has. */
static double cause_size(const struct diff_rows *d, size_t row)
{
	return d->scale * (double)d->row[row].weight[0][1] +
	       (double)d->row[row].weight[1][1];
}

static bool cause_may_be(const struct diff_rows *d, size_t row)
{
	enum label_kind kind = diff_rows_label(d, row)->kind;

	return !d->row[row].unknown && !d->row[row].renamed &&
	       d->row[row].real >= REAL && kind != LABEL_GROUP &&
	       kind != LABEL_MISSING && kind != LABEL_WAIT;
}

/* Returns the change of a row's total without what only moved, as far as that
 * is known. */
static double cause_excess(const struct diff_rows *d, size_t row)
{
	return d->row[row].real * diff_rows_excess_of(d, row, true);
}

/* Returns the largest change in a direction. */
static double cause_largest(const struct diff_rows *d, int sign)
{
	double most = 0;

	for (size_t i = 0; i < d->n; i++) {
		double v = sign * cause_excess(d, i);

		if (cause_may_be(d, i) && v > most &&
		    (d->place[1][i].change == sign ||
		     d->place[0][i].change == sign))
			most = v;
	}
	return most;
}

/* Returns whether a caller of a function calls it more often: it has most of
 * the function's change, and either the function's code is the same, but not
 * the caller's, or what others call did not change as much. s: of the
 * function. */
static bool cause_is_caller(const struct diff_rows *d, uint32_t row,
			    uint32_t caller, const struct cause_stacks *s,
			    const int8_t *build)
{
	double all = diff_rows_excess_of(d, row, true);
	double part =
		diff_rows_excess(d, s->above[0][caller], s->above[1][caller]);
	/* what changed in its callees is in no stack that it ends */
	double ends = d->place[0][row].change ? 0 : s->lacks[0];
	double elsewhere = 1 - (s->above[0][caller] + ends) /
				       (double)d->row[row].weight[0][1];

	if (caller == row || part / all < MOST)
		return false;
	if (build && build[row] == DIFF_SAME_BUILD)
		return build[caller] == DIFF_OTHER_BUILD;
	return elsewhere >= ELSEWHERE &&
	       elsewhere * (double)d->place[1][row].a >= TELLING &&
	       1 - part / all <= ELSEWHERE_CHANGED * elsewhere;
}

/* Returns whether a row is nearer to the change than another one: of that a
 * part only moved; or it has more of the change beside what it has in all; of
 * those that have the same, as one does nothing but call the other, that which
 * has more of it itself. */
static bool cause_is_inner(const struct diff_rows *d, int sign, uint32_t row,
			   uint32_t than)
{
	double a = cause_excess(d, row);
	double b = cause_excess(d, than);
	double more = a * a * cause_size(d, than) - b * b * cause_size(d, row);

	if ((d->row[row].real < 1) != (d->row[than].real < 1))
		return d->row[than].real < 1;
	return more > 0 ||
	       (!(more < 0) && sign * (diff_rows_excess_of(d, row, false) -
				       diff_rows_excess_of(d, than, false)) >
				       0);
}

/* Returns the function that is nearest to the change and has most of it; of: of
 * those that call this one more often; REPORT_NONE: of all that changed. */
static uint32_t cause_nearest(const struct diff_rows *d, int sign, double most,
			      uint32_t of, const struct cause_stacks *s,
			      const int8_t *build)
{
	uint32_t best = REPORT_NONE;

	for (uint32_t i = 0; i < d->n; i++) {
		double v = sign * cause_excess(d, i);

		if (!cause_may_be(d, i) || v < MOST * most)
			continue;
		if (of == REPORT_NONE ? d->place[1][i].change != sign &&
						d->place[0][i].change != sign
				      : !cause_is_caller(d, of, i, s, build))
			continue;
		if (best == REPORT_NONE || cause_is_inner(d, sign, i, best))
			best = i;
	}
	return best;
}

/* Goes from a function that is called more often to the one that does so. */
static uint32_t cause_caller(const struct diff_rows *d, int sign, double most,
			     uint32_t row, const int8_t *build)
{
	struct cause_stacks s = { .count = NULL };
	uint32_t caller;

	cause_stacks_add_up(&s, d, row);
	caller = cause_nearest(d, sign, most, row, &s, build);
	cause_stacks_release(&s);
	return caller;
}

/* Finds what else changed by as much in the other direction, in stacks with the
 * cause on the other side, while its total did not: it was inlined there. */
static uint32_t cause_instead(const struct diff_rows *d, uint32_t row)
{
	struct cause_stacks s = { .count = NULL };
	double moved = diff_rows_excess_of(d, row, false);
	uint32_t best = REPORT_NONE;

	cause_stacks_add_up(&s, d, row);
	for (uint32_t i = 0; i < d->n; i++) {
		double v = diff_rows_excess_of(d, i, false);

		if (i != row && cause_may_be(d, i) && d->place[0][i].change &&
		    v * moved < 0 &&
		    fabs(v + moved) <= LEFT_OVER * fabs(moved) &&
		    fabs(diff_rows_excess_of(d, i, true)) <=
			    LEFT_OVER * fabs(moved) &&
		    s.above[moved > 0][i] > 0)
			best = i;
	}
	cause_stacks_release(&s);
	return best;
}

/* Adds a part, if it is one of the largest. */
static void cause_add_part(struct diff_cause *c, uint32_t row, double excess)
{
	size_t at = c->n_part;

	while (at && fabs(excess) > fabs(c->part[at - 1].excess))
		at--;
	if (at == DIFF_PARTS)
		return;
	c->n_part += c->n_part < DIFF_PARTS;
	memmove(&c->part[at + 1], &c->part[at],
		(c->n_part - 1 - at) * sizeof(*c->part));
	c->part[at] = (struct diff_part){ row, excess };
}

/* Says where in the cause the change is, and what changed elsewhere. */
static void cause_divide(struct diff_cause *c, const struct diff_rows *d)
{
	struct cause_stacks s = { .count = NULL };

	cause_stacks_add_up(&s, d, c->row);
	for (uint32_t i = 0; i < d->n; i++) {
		double here = diff_rows_excess(d, s.self[0][i], s.self[1][i]);
		double all = diff_rows_excess_of(d, i, false);

		if (cause_may_be(d, i) &&
		    here * c->sign >= PART * fabs(c->excess))
			cause_add_part(c, i, here);
		c->others += i != c->instead && d->place[0][i].change != 0 &&
			     fabs(all - here) > LEFT_OVER * fabs(all);
	}
	cause_stacks_release(&s);
	if (c->n_part == 1 && c->part[0].row == c->row)
		c->n_part = 0;
}

/* Finds how much of a row's change is one of the functions in its stacks, and
 * did not only move there. Returns false if it is not most of it. */
static bool cause_find_real(struct diff_rows *d, uint32_t row, int sign)
{
	struct cause_stacks s = { .count = NULL };
	double all = sign * diff_rows_excess_of(d, row, true);
	double real = 0;

	cause_stacks_add_up(&s, d, row);
	for (uint32_t i = 0; i < d->n; i++) {
		double here =
			sign * diff_rows_excess(d, s.self[0][i], s.self[1][i]);
		double most = sign * diff_rows_excess_of(d, i, false);

		real += here > 0 && most > 0 ? fmin(here, most) : 0;
	}
	cause_stacks_release(&s);
	d->row[row].real = real < REAL_ALL * all ? real / all : 1;
	return d->row[row].real >= REAL;
}

/* Returns the function in `row` that has most of its change, if nothing is left
 * of that without it, be it proved by itself or not; else `row`. */
static uint32_t cause_inner(const struct diff_rows *d, int sign, uint32_t row)
{
	const uint64_t *of[2] = { d->row[row].weight[0],
				  d->row[row].weight[1] };
	double all = sign * diff_rows_excess_of(d, row, true);
	uint32_t best = row;

	for (uint32_t i = 0; i < d->n; i++) {
		double v = sign * diff_rows_excess_of(d, i, true);
		struct cause_stacks s = { .count = NULL };
		double a, b, in;

		if (i == row || !cause_may_be(d, i) || v < INNER * all)
			continue;
		cause_stacks_add_up(&s, d, i);
		in = sign *
		     diff_rows_excess(d, s.above[0][row], s.above[1][row]);
		a = d->scale * ((double)of[0][1] - s.above[0][row]);
		b = (double)of[1][1] - s.above[1][row];
		cause_stacks_release(&s);
		if (in >= INNER * all && a > 0 && fabs(b - a) <= REST * a &&
		    cause_is_inner(d, sign, i, best))
			best = i;
	}
	return best;
}

/* Returns whether a function has the same code on both sides, so that it is
 * called more or less often, and by whom is missing in most of it. */
static bool cause_is_blind(const struct diff_rows *d, uint32_t row)
{
	struct cause_stacks s = { .count = NULL };
	int side = d->row[row].weight[1][1] > d->row[row].weight[0][1];

	if (!d->build || d->build[row] != DIFF_SAME_BUILD)
		return false;
	cause_stacks_add_up(&s, d, row);
	cause_stacks_release(&s);
	return s.lacks[side] > BLIND * (double)d->row[row].weight[side][1];
}

/* Returns the function that has most of a row's change, and the same code on
 * both sides, if most of it is in stacks in which the function between them is
 * missing: that one is the cause. */
static uint32_t cause_hole(const struct diff_rows *d, uint32_t row, int sign)
{
	struct cause_stacks s = { .count = NULL };
	double most = 0;
	uint32_t best = REPORT_NONE;

	cause_stacks_add_up(&s, d, row);
	for (uint32_t i = 0; i < d->n; i++) {
		double v =
			sign * diff_rows_excess(d, s.self[0][i], s.self[1][i]);

		if (v > most) {
			most = v;
			best = i;
		}
	}
	cause_stacks_release(&s);
	return best != REPORT_NONE && d->build &&
			       d->build[best] == DIFF_SAME_BUILD &&
			       sign * diff_rows_excess(d, s.hole[0],
						       s.hole[1]) >
				       BLIND * sign *
					       diff_rows_excess_of(d, row, true)
		       ? best
		       : REPORT_NONE;
}

/* Returns whether all stacks of a row have another one as a caller. */
static bool cause_is_under(const struct diff_rows *d, uint32_t row,
			   uint32_t caller)
{
	struct cause_stacks s = { .count = NULL };
	double all = (double)d->row[row].weight[0][1] +
		     (double)d->row[row].weight[1][1];
	double under;

	cause_stacks_add_up(&s, d, row);
	under = s.above[0][caller] + s.above[1][caller];
	cause_stacks_release(&s);
	return under >= all;
}

/* Finds two functions of which one has as much more as the other has less, in
 * functions that have what they had: these are called by the other one now.
 * Both are on both sides, else one has only another name or place. */
static void cause_find_moved(struct diff_rows *d)
{
	struct diff_cause *c = &d->cause;
	uint32_t best[2] = { REPORT_NONE, REPORT_NONE };
	double most[2] = { 0, 0 };

	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < d->n; i++) {
			const struct diff_place *p = &d->place[1][i];
			double v = fabs(diff_rows_excess_of(d, i, true));
			int more = p->change > 0;

			if (d->row[i].real >= REAL || !p->change ||
			    p->a < TELLING || p->b < TELLING)
				continue;
			if (!again)
				most[more] = fmax(most[more], v);
			else if (v >= MOST * most[more] &&
				 (best[more] == REPORT_NONE ||
				  cause_is_under(d, i, best[more])))
				best[more] = i;
		}
	if (best[0] == REPORT_NONE || best[1] == REPORT_NONE ||
	    fabs(diff_rows_excess_of(d, best[0], true) +
		 diff_rows_excess_of(d, best[1], true)) > LEFT_OVER * most[1])
		return;
	c->row = best[1];
	c->instead = best[0];
	c->sign = 1;
	c->moved = true;
}

/* Looks for the cause in the direction of the larger change. Returns whether to
 * look again, without what was found. */
static bool cause_try(struct diff_rows *d)
{
	struct diff_cause *c = &d->cause;
	double more = cause_largest(d, 1);
	double less = cause_largest(d, -1);
	double most = more > less ? more : less;
	uint32_t caller;

	*c = (struct diff_cause){ .row = REPORT_NONE,
				  .instead = REPORT_NONE,
				  .blind = REPORT_NONE,
				  .sign = more >= less ? 1 : -1 };
	if (!(most > 0))
		return false;
	c->row = cause_nearest(d, c->sign, most, REPORT_NONE, NULL, NULL);
	if (c->row == REPORT_NONE)
		return false;
	if (d->row[c->row].real >= 1) {
		cause_find_real(d, c->row, c->sign);
		/* another one may have more than what is left */
		if (d->row[c->row].real < 1) {
			c->row = REPORT_NONE;
			return true;
		}
	}
	c->row = cause_inner(d, c->sign, c->row);
	caller = cause_caller(d, c->sign, most, c->row, d->build);
	if (caller != REPORT_NONE && cause_find_real(d, caller, c->sign))
		c->row = caller;
	c->blind = caller != c->row && cause_is_blind(d, c->row)
			   ? c->row
			   : cause_hole(d, c->row, c->sign);
	if (c->blind != REPORT_NONE)
		c->row = REPORT_NONE;
	return false;
}

void diff_cause_find(struct diff_rows *d)
{
	struct diff_cause *c = &d->cause;
	double before;
	int tried = 0;

	for (size_t i = 0; i < d->n; i++)
		d->row[i].real = 1;
	while (cause_try(d) && ++tried < MOVED_MAX)
		;
	if (c->row == REPORT_NONE && c->blind == REPORT_NONE)
		cause_find_moved(d);
	if (c->row == REPORT_NONE)
		return;
	c->excess = diff_rows_excess_of(d, c->row, true);
	before = d->scale * (double)d->row[c->row].weight[0][1];
	c->times =
		before > 0 ? (double)d->row[c->row].weight[1][1] / before : 0;
	if (!c->moved)
		c->instead = cause_instead(d, c->row);
	cause_divide(c, d);
}

void diff_cause_judge(struct diff_rows *d)
{
	struct diff_count *under;

	if (d->keys & KEY_SYM)
		diff_hidden_find(d);
	diff_cause_find(d);
	/* what moved is in what did not change */
	if (d->absolute || d->cause.row == REPORT_NONE || d->cause.moved)
		return;
	under = cause_under(d, d->cause.row);
	diff_rows_judge(d, under);
	free(under);
	diff_cause_find(d);
}
