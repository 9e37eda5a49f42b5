/* diff_cause.c - finds the function that a change comes from. */
#include "analyze/diffs/diff_cause.h"

#include <math.h>

#include "analyze/diffs/diff_chance.h"
#include "analyze/diffs/diff_rows.h"
#include "analyze/stacks/label.h"
#include "stitch/base/mem.h"

/* A change is in a function if the function has this part of it. */
#define MOST 0.75
/* A change comes from one caller of a function if other callers have this part
 * of the function in A, and at most this part of the change that they would
 * have if the function itself had changed. */
#define ELSEWHERE 0.25
#define ELSEWHERE_CHANGED 0.5
/* So few samples elsewhere prove nothing. */
#define TELLING 10
/* Part of a change that is reported, and how much may be left over where one
 * function took over the work of another. */
#define PART 0.1
#define LEFT_OVER 0.4
/* A function inside another one is nearer to the change if it has this part of
 * the other's change, and the rest of that one is within this part of its size
 * without a change: twice the difference of two runs. */
#define INNER 0.5
#define REST (2 * 1.42 * DIFF_BETWEEN)
/* A function is called by another one that is a caller in this part of it. */
#define CALLED 0.9
/* The caller is not known if it is missing in this part of a function. */
#define BLIND 0.5
/* In one run a function took up to 2.2 times as long as in another one of the
 * same program next to others, by up to 5.3 % of the run, and small ones up to
 * 6.4 times as long, by up to 3.8 % (252 pairs of tests/live/causes.py). A
 * change above both limits is no accident. */
#define SAME_TIMES 2.5
#define SAME_LEAST 5.5
/* A change is one of tiers if this part of it is in a function of another tier:
 * builtins that only slow code calls lack that code as their caller. */
#define TIER 0.33
/* A caller of this part of the program is no cause, if this part of it did not
 * change, and a function in it has this part of the change. */
#define ENTRY 0.5
#define UNCHANGED 0.5
#define FOREMOST 0.33
/* In the code of one tier, this much more is a growth. */
#define SAME_TIER 0.2
/* A change is real if this part of it is one of the functions in its stacks,
 * and did not only move there; from the second part on, all of it is. So many
 * rows are tried. */
#define REAL 0.5
#define REAL_ALL 0.9
#define MOVED_MAX 32

/* Weights of stacks that contain one function, by row and side. */
struct cause_stacks {
	double *self[2];  /* of the row itself */
	double *above[2]; /* with the row as a caller of the function */
	double lacks[2];  /* it is the leaf, and its callers are missing */
	double hole[2];	  /* it is next to the leaf, whose caller is missing */
};

static const struct diff_cause cause_none = { .row = REPORT_NONE,
					      .instead = REPORT_NONE,
					      .blind = REPORT_NONE,
					      .same = REPORT_NONE,
					      .sign = 1 };

static void cause_known_free(struct diff_rows *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct cause_stacks *s = d->known[i];

		for (int side = 0; s && side < 2; side++)
			free_all(s->self[side], s->above[side]);
		free(s);
	}
	free(d->known);
	d->known = NULL;
}

/* Adds up the stacks of a run that contain a row or, with `count`, only counts
 * their samples by leaf. */
static void cause_add_run(struct cause_stacks *s, const struct diff_rows *d,
			  size_t run, uint32_t row, struct diff_count *count)
{
	int side = run >= d->side[0].runs;
	const struct report_rows *rows = d->run[run].rows;
	const struct report_stack *st = rows->stack;
	const struct report_hit *hit = rows->hit;
	size_t first = 0;
	const uint32_t *of_row = d->of_row[run];

	for (size_t i = 0; i < rows->n_stack; first = st[i++].end) {
		uint32_t leaf = of_row[hit[st[i].end - 1].row];
		size_t at = first;

		while (at < st[i].end && of_row[hit[at].row] != row)
			at++;
		if (at == st[i].end)
			continue;
		if (count) {
			count[leaf * d->n_run + run].n += st[i].samples;
			continue;
		}
		s->self[side][leaf] += (double)st[i].weight;
		if (st[i].lacks && st[i].leaf == hit[at].row)
			s->lacks[side] += (double)st[i].weight;
		if (st[i].lacks && !hit[at + 1].self &&
		    st[i].leaf == hit[at + 1].row)
			s->hole[side] += (double)st[i].weight;
		for (size_t k = first; k < at; k++)
			s->above[side][of_row[hit[k].row]] +=
				(double)st[i].weight;
	}
}

/* Returns the sums of the stacks with a row, made once; d->known owns them. */
static const struct cause_stacks *cause_stacks_of(const struct diff_rows *d,
						  uint32_t row)
{
	struct cause_stacks **at = &d->known[row];

	if (*at)
		return *at;
	*at = mem_new(1, sizeof(**at));
	for (int side = 0; side < 2; side++) {
		(*at)->self[side] = mem_new(d->n, sizeof(double));
		(*at)->above[side] = mem_new(d->n, sizeof(double));
	}
	for (size_t i = 0; i < d->n_run; i++)
		cause_add_run(*at, d, i, row, NULL);
	return *at;
}

/* Returns by how much a function itself grew in these stacks. */
static double cause_here(const struct diff_rows *d,
			 const struct cause_stacks *s, uint32_t row)
{
	return diff_rows_excess(d, s->self[0][row], s->self[1][row]);
}

/* Returns the weight of a row on both sides, with A's as it would be in B. */
static double cause_size(const struct diff_rows *d, size_t row)
{
	return d->scale * (double)d->row[row].weight[0][1] +
	       (double)d->row[row].weight[1][1];
}

static int8_t cause_code(const struct diff_rows *d, size_t row)
{
	return d->build ? d->build[row] : 0;
}

static bool cause_is_function(const struct diff_rows *d, size_t row)
{
	enum label_kind kind = diff_rows_label(d, row)->kind;

	return !d->row[row].unknown && !d->row[row].renamed &&
	       kind != LABEL_GROUP && kind != LABEL_MISSING &&
	       kind != LABEL_WAIT;
}

/* Returns whether a row may be the cause. First only functions are tried whose
 * code may differ, or that are on one side only, in images of other builds. */
static bool cause_may_be(const struct diff_rows *d, size_t row)
{
	const struct diff_place *p = &d->place[1][row];
	int8_t code = cause_code(d, row);

	return cause_is_function(d, row) && d->row[row].real >= REAL &&
	       (!d->by_code || diff_rows_may_differ(d, row) ||
		(code < 0 && (!p->a || !p->b)));
}

/* Returns the change of a row's total without the part that only moved, as far
 * as that is known. */
static double cause_excess(const struct diff_rows *d, size_t row)
{
	return d->row[row].real * diff_rows_excess_of(d, row, true);
}

/* Returns whether a test proves that a row has more, or less: such rows are
 * marked in the table, and no others can be a cause. */
static bool cause_is_proved(const struct diff_rows *d, size_t row, int sign)
{
	return d->place[1][row].change == sign ||
	       d->place[0][row].change == sign;
}

/* Returns the largest proved change in a direction, or 0. */
static double cause_largest(const struct diff_rows *d, int sign)
{
	double most = 0;

	for (size_t i = 0; i < d->n; i++) {
		double v = sign * cause_excess(d, i);

		if (cause_may_be(d, i) && v > most &&
		    cause_is_proved(d, i, sign))
			most = v;
	}
	return most;
}

/* Returns whether a caller of a function calls it more often: it has most of
 * the function's change, and either the function's code is the same, but not
 * the caller's, or the calls by others did not change as much. */
static bool cause_is_caller(const struct diff_rows *d, uint32_t row,
			    uint32_t caller)
{
	const struct cause_stacks *s = cause_stacks_of(d, row);
	double all = diff_rows_excess_of(d, row, true);
	double part =
		diff_rows_excess(d, s->above[0][caller], s->above[1][caller]);
	/* a change in its callees is in no stack whose leaf it is */
	double ends = d->place[0][row].change ? 0 : s->lacks[0];
	double elsewhere = 1 - (s->above[0][caller] + ends) /
				       (double)d->row[row].weight[0][1];

	if (caller == row || part / all < MOST)
		return false;
	if (cause_code(d, row) > 0)
		return cause_code(d, caller) < 0 ||
		       diff_rows_may_differ(d, caller);
	return elsewhere >= ELSEWHERE &&
	       elsewhere * (double)d->place[1][row].a >= TELLING &&
	       1 - part / all <= ELSEWHERE_CHANGED * elsewhere;
}

/* Returns whether a row is nearer to the change than another one: a part of
 * that one only moved; or the row has more of the change for its size; or, if
 * these are equal, as one does nothing but call the other, more of it is its
 * own. */
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

/* Returns the function nearest to the change that has most of it, or
 * REPORT_NONE. of: try only those that call this function more often;
 * REPORT_NONE: try all that changed. */
static uint32_t cause_nearest(const struct diff_rows *d, int sign, double most,
			      uint32_t of)
{
	uint32_t best = REPORT_NONE;

	for (uint32_t i = 0; i < d->n; i++) {
		double v = sign * cause_excess(d, i);

		if (!cause_may_be(d, i) || v < MOST * most ||
		    !cause_is_proved(d, i, sign) ||
		    (of != REPORT_NONE && !cause_is_caller(d, of, i)))
			continue;
		if (best == REPORT_NONE || cause_is_inner(d, sign, i, best))
			best = i;
	}
	return best;
}

/* Finds how much of a row's change is one of the functions in its stacks, and
 * did not only move there. Returns whether it is most of it. */
static bool cause_find_real(struct diff_rows *d, uint32_t row, int sign)
{
	const struct cause_stacks *s = cause_stacks_of(d, row);
	double all = sign * diff_rows_excess_of(d, row, true);
	double real = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		double here = sign * cause_here(d, s, i);
		double most = sign * diff_rows_excess_of(d, i, false);

		/* interpreted code proves nothing: it may be of any function; a
		 * function that is not proved to have less may have it by
		 * chance */
		if (cause_code(d, i) == DIFF_INTERPRETED)
			all -= here;
		else if (here > 0 && d->place[0][i].change != -sign)
			real += fmax(-here, fmin(here, most));
	}
	d->row[row].real = real >= REAL_ALL * all ? 1 : real / all;
	return d->row[row].real >= REAL;
}

/* Returns whether a row calls most of the program, and most of that did not
 * change: to name it would be no better than to name the whole run. */
static bool cause_is_entry(const struct diff_rows *d, uint32_t row)
{
	const struct cause_stacks *s = cause_stacks_of(d, row);
	double a = (double)d->row[row].weight[0][1];
	double b = (double)d->row[row].weight[1][1];
	double as_row = a > 0 ? b / a : 0;
	double still = 0;

	if (a < ENTRY * (double)d->side[0].weight)
		return false;
	/* its change is nearer to none than to that of the row */
	for (uint32_t i = 0; i < d->n; i++)
		if (fabs(s->self[1][i] - d->scale * s->self[0][i]) <
		    fabs(s->self[1][i] - as_row * s->self[0][i]))
			still += s->self[0][i];
	return still > UNCHANGED * a;
}

/* Returns the function nearest to the change, of those in an entry that have a
 * proved part of it themselves; else the entry. */
static uint32_t cause_foremost(const struct diff_rows *d, int sign,
			       uint32_t entry)
{
	double all = sign * diff_rows_excess_of(d, entry, true);
	uint32_t best = entry;

	for (uint32_t i = 0; i < d->n; i++)
		if (i != entry && cause_may_be(d, i) &&
		    d->place[0][i].change == sign &&
		    sign * cause_excess(d, i) >= FOREMOST * all &&
		    cause_stacks_of(d, i)->above[1][entry] > 0 &&
		    cause_is_inner(d, sign, i, best))
			best = i;
	return best;
}

/* Returns a function of the same code that missing callers call more or less
 * often: the row itself, if most of its stacks lack its callers, or the
 * function with most of its change, if the function between them is missing in
 * most of that; else REPORT_NONE. self: whether to try the row itself. */
static uint32_t cause_blind(const struct diff_rows *d, uint32_t row, int sign,
			    bool self)
{
	const struct cause_stacks *s = cause_stacks_of(d, row);
	int side = d->row[row].weight[1][1] > d->row[row].weight[0][1];
	double most = 0;
	uint32_t best = row;

	if (self && cause_code(d, row) > 0 &&
	    s->lacks[side] > BLIND * (double)d->row[row].weight[side][1])
		return row;
	for (uint32_t i = 0; i < d->n; i++) {
		double v = sign * cause_here(d, s, i);

		if (v > most) {
			most = v;
			best = i;
		}
	}
	return most > 0 && cause_code(d, best) > 0 &&
			       sign * diff_rows_excess(d, s->hole[0],
						       s->hole[1]) >
				       BLIND * sign *
					       diff_rows_excess_of(d, row, true)
		       ? best
		       : REPORT_NONE;
}

/* Returns whether a function may have passed work to another one, or taken it
 * over: its code differs, in whatever tier, or, if that is not known, all of
 * its change only moved. */
static bool cause_may_move(const struct diff_rows *d, uint32_t row, double most)
{
	const struct diff_place *p = &d->place[1][row];

	return cause_is_function(d, row) && p->a >= TELLING &&
	       p->b >= TELLING &&
	       (d->by_code ? (diff_rows_may_differ(d, row) ||
			      cause_code(d, row) == DIFF_OTHER_TIER) &&
				     fabs(diff_rows_excess_of(d, row, true)) >=
					     LEFT_OVER * most
			   : p->change && d->row[row].real < REAL);
}

/* Returns the weight in B of the functions that `from` calls in A only, and
 * `to` in B only: that is not chance, because stacks have the callers. */
static double cause_moved(const struct diff_rows *d, uint32_t from, uint32_t to)
{
	const struct cause_stacks *s[2] = { cause_stacks_of(d, from),
					    cause_stacks_of(d, to) };
	double sum = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (!(s[0]->self[1][i] + s[1]->self[0][i] > 0) &&
		    d->place[0][i].a >= TELLING &&
		    s[0]->self[0][i] >=
			    CALLED * (double)d->row[i].weight[0][0] &&
		    s[1]->self[1][i] >= CALLED * (double)d->row[i].weight[1][0])
			sum += s[1]->self[1][i];
	return sum;
}

/* Returns whether one of a pair of functions is called by its counterpart of
 * another pair. */
static bool cause_moved_in(const struct diff_rows *d, uint32_t from,
			   uint32_t to, uint32_t of_from, uint32_t of_to)
{
	return cause_stacks_of(d, to)->above[1][of_to] > 0 ||
	       cause_stacks_of(d, from)->above[0][of_from] > 0;
}

/* Finds a pair of functions of which one now calls what the other one called,
 * if that is more than the change found so far. Both must be on both sides, or
 * else one may only have another name or place. */
static void cause_find_moved(struct diff_rows *d)
{
	struct diff_cause found = cause_none;
	struct diff_cause *c = &found;
	double most = d->cause.row == REPORT_NONE
			      ? 0
			      : fabs(cause_excess(d, d->cause.row));
	double largest = 0;

	for (uint32_t i = 0; d->by_code && i < d->n; i++)
		if (cause_may_move(d, i, 0))
			largest = fmax(largest,
				       fabs(diff_rows_excess_of(d, i, true)));
	for (uint32_t i = 0; i < d->n; i++) {
		if (!cause_may_move(d, i, largest))
			continue;
		for (uint32_t k = 0; k < d->n; k++) {
			double moved =
				k != i && cause_may_move(d, k, largest)
					? diff_rows_size(d, 1,
							 cause_moved(d, i, k))
					: 0;
			double than = most;

			/* of a pair inside another, the inner one is taken if
			 * it has nearly as much: part of it may be interpreted
			 */
			if (c->row != REPORT_NONE &&
			    cause_moved_in(d, i, k, c->instead, c->row))
				than *= CALLED;
			else if (c->row != REPORT_NONE &&
				 cause_moved_in(d, c->instead, c->row, i, k))
				than /= CALLED;
			if (!(moved > than))
				continue;
			most = fmax(most, moved);
			c->row = k;
			c->instead = i;
			c->moved = true;
		}
	}
	if (c->row != REPORT_NONE)
		d->cause = found;
}

/* Returns whether a function took more, or less, apart from its tiers: more in
 * optimized code, though a smaller part of it is optimized, or less, though a
 * larger part is. */
static bool cause_tier_tells(const struct diff_rows *d, uint32_t row, int sign)
{
	const struct diff_tier *t = d->tier ? &d->tier[row * d->n_run] : NULL;
	double scale = d->scale * d->whole.unit_a / d->whole.unit_b;
	double much = 1 + SAME_TIER;

	if (!t || d->n_run != 2 || cause_code(d, row) != DIFF_OTHER_TIER)
		return false;
	return sign * (t[0].optimized * t[1].samples -
		       t[1].optimized * t[0].samples) >
		       0 &&
	       (sign > 0 ? t[1].optimized > much * scale * t[0].optimized
			 : scale * t[0].optimized > much * t[1].optimized) &&
	       diff_p_rates((uint64_t)t[0].optimized, (uint64_t)t[1].optimized,
			    scale / (1 + scale)) <= DIFF_ALPHA;
}

/* Returns a row that a runtime ran in another tier, if it and its callees have
 * enough of the change of a row; else REPORT_NONE. */
static uint32_t cause_tier(const struct diff_rows *d, uint32_t row, int sign)
{
	double all = sign * diff_rows_excess_of(d, row, true);

	for (uint32_t i = 0; i < d->n; i++) {
		double in;

		if (cause_code(d, i) < DIFF_OTHER_TIER)
			continue;
		const struct cause_stacks *s = cause_stacks_of(d, i);
		if (i == row)
			in = all;
		/* it may call the row, too: only its own samples count */
		else if (cause_code(d, i) == DIFF_INTERPRETED)
			in = sign * cause_here(d, cause_stacks_of(d, row), i);
		else
			in = sign * diff_rows_excess(d, s->above[0][row],
						     s->above[1][row]);
		if (in >= TIER * all)
			return i;
	}
	return REPORT_NONE;
}

/* Returns whether a function has the same code, and changed no more than other
 * programs, or its place in memory, may cause. */
static bool cause_is_same(const struct diff_rows *d, uint32_t row)
{
	double a = d->scale * (double)d->row[row].weight[0][1];
	double b = (double)d->row[row].weight[1][1];
	bool much = fmax(a, b) >= SAME_TIMES * fmin(a, b) &&
		    fabs(diff_rows_growth(d, row, true)) >= SAME_LEAST;

	return cause_code(d, row) > 0 && !much &&
	       (d->n_run == 2 || cause_code(d, row) == DIFF_SAME_CODE);
}

/* Looks for the cause in the direction of the larger change. Returns whether to
 * try again, without the part of a change that only moved. */
static bool cause_try(struct diff_rows *d)
{
	struct diff_cause *c = &d->cause;
	double more = cause_largest(d, 1);
	double less = cause_largest(d, -1);
	double most = more > less ? more : less;

	*c = cause_none;
	c->sign = more >= less ? 1 : -1;
	if (!(most > 0))
		return false;
	c->row = cause_nearest(d, c->sign, most, REPORT_NONE);
	if (c->row == REPORT_NONE)
		return false;
	if (d->row[c->row].real >= 1) {
		cause_find_real(d, c->row, c->sign);
		/* another function may have more than is left here */
		if (d->row[c->row].real < 1) {
			c->row = REPORT_NONE;
			return true;
		}
	}
	/* Finds the function in `row` that has most of its change and is proved
	 * to have it, if no change is left without it; else `row`. */
	int sign = c->sign;
	uint32_t row = c->row;
	const uint64_t *of[2] = { d->row[row].weight[0],
				  d->row[row].weight[1] };
	double all = sign * diff_rows_excess_of(d, row, true);
	uint32_t best = row;

	for (uint32_t i = 0; i < d->n; i++) {
		double v = sign * diff_rows_excess_of(d, i, true);

		if (i == row || !cause_may_be(d, i) || v < INNER * all ||
		    !cause_is_proved(d, i, sign))
			continue;
		const struct cause_stacks *s = cause_stacks_of(d, i);
		double in = sign * diff_rows_excess(d, s->above[0][row],
						    s->above[1][row]);
		double a = d->scale * ((double)of[0][1] - s->above[0][row]);
		double b = (double)of[1][1] - s->above[1][row];
		if (in >= INNER * all && a > 0 && fabs(b - a) <= REST * a &&
		    cause_is_inner(d, sign, i, best))
			best = i;
	}
	c->row = best;
	if (cause_is_entry(d, c->row))
		c->row = cause_foremost(d, c->sign, c->row);
	uint32_t caller = cause_nearest(d, c->sign, most, c->row);
	if (caller != REPORT_NONE && cause_find_real(d, caller, c->sign))
		c->row = caller;
	c->blind = cause_blind(d, c->row, c->sign, caller != c->row);
	if (c->blind == REPORT_NONE)
		c->same = cause_is_same(d, c->row)
				  ? c->row
				  : cause_tier(d, c->row, c->sign);
	if (c->same != REPORT_NONE && cause_tier_tells(d, c->same, c->sign)) {
		c->row = c->same;
		c->same = REPORT_NONE;
	}
	if (c->blind != REPORT_NONE || c->same != REPORT_NONE)
		c->row = REPORT_NONE;
	return false;
}

/* Fills in d->cause: first among rows whose code differs, then all. */
static void cause_search(struct diff_rows *d)
{
	struct diff_cause *c = &d->cause;
	bool other = false;

	for (size_t i = 0; i < d->n; i++)
		other |= diff_rows_may_differ(d, i);
	for (int by_code = other; by_code >= 0; by_code--) {
		int tried = 0;

		d->by_code = by_code;
		for (size_t i = 0; i < d->n; i++)
			d->row[i].real = 1;
		while (cause_try(d) && ++tried < MOVED_MAX)
			;
		if (c->blind == REPORT_NONE)
			cause_find_moved(d);
		if (c->row != REPORT_NONE)
			break;
	}
	if (c->row == REPORT_NONE)
		return;
	c->excess = diff_rows_excess_of(d, c->row, true);
	double before = d->scale * (double)d->row[c->row].weight[0][1];
	c->times =
		before > 0 ? (double)d->row[c->row].weight[1][1] / before : 0;
	d->by_code = false;
	if (!c->moved) {
		/* Finds a function whose own change is as large in the other
		 * direction, in stacks with the cause on the other side, while
		 * its total did not change: it was inlined there. */
		uint32_t row = c->row;
		const struct cause_stacks *word = cause_stacks_of(d, row);
		double moved = diff_rows_excess_of(d, row, false);
		uint32_t best = REPORT_NONE;

		for (uint32_t k = 0; k < d->n; k++) {
			double v = diff_rows_excess_of(d, k, false);

			if (k != row && cause_may_be(d, k) &&
			    d->place[0][k].change && v * moved < 0 &&
			    fabs(v + moved) <= LEFT_OVER * fabs(moved) &&
			    fabs(diff_rows_excess_of(d, k, true)) <=
				    LEFT_OVER * fabs(moved) &&
			    word->above[moved > 0][k] > 0)
				best = k;
		}
		c->instead = best;
	}
	/* finds the parts of the cause with the change, and counts changes
	 * elsewhere */
	const struct cause_stacks *s = cause_stacks_of(d, c->row);

	for (uint32_t i = 0; i < d->n; i++) {
		double here = cause_here(d, s, i);
		double all = diff_rows_excess_of(d, i, false);

		if (cause_may_be(d, i) &&
		    here * c->sign >= PART * fabs(c->excess)) {
			/* Adds a part, if it is one of the largest. */
			size_t at = c->n_part;

			while (at && fabs(here) > fabs(c->part[at - 1].excess))
				at--;
			if (at != DIFF_PARTS) {
				c->n_part += c->n_part < DIFF_PARTS;
				memmove(&c->part[at + 1], &c->part[at],
					(c->n_part - 1 - at) *
						sizeof(*c->part));
				c->part[at] = (struct diff_part){ i, here };
			}
		}
		c->others += i != c->instead && d->place[0][i].change != 0 &&
			     fabs(all - here) > LEFT_OVER * fabs(all);
	}
	if (c->n_part == 1 && c->part[0].row == c->row)
		c->n_part = 0;
}

void diff_cause_find(struct diff_rows *d)
{
	d->known = mem_new(d->n, sizeof(*d->known));
	cause_search(d);
	cause_known_free(d);
}

void diff_cause_judge(struct diff_rows *d)
{
	if (d->keys & KEY_SYM)
		diff_hidden_find(d);
	d->known = mem_new(d->n, sizeof(*d->known));
	cause_search(d);
	/* work that moved is in functions that did not change */
	if (!d->absolute && d->cause.row != REPORT_NONE && !d->cause.moved) {
		/* samples in stacks with the cause */
		struct diff_count *under =
			mem_new(d->n * d->n_run, sizeof(*under));

		for (size_t run = 0; run < d->n_run; run++)
			cause_add_run(NULL, d, run, d->cause.row, under);
		diff_rows_judge(d, under);
		free(under);
		cause_search(d);
	}
	cause_known_free(d);
}

double diff_cause_factor(const struct diff_rows *d)
{
	struct diff_whole left = d->whole;

	left.run = d->left;
	return left.run ? diff_runs_factor(&d->place[1][d->cause.row], &left)
			: NAN;
}
