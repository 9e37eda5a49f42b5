/* compare_moved.c - which of a run and its functions takes more, by weights:
 * the first sentence of a comparison. Of one run a side it says how long these
 * two took, as nothing tells what runs of one program differ by: of pairs of
 * such runs on a busy machine half differ by more than any fixed limit. */
#include "analyze/diffs/compare.h"

#include <math.h>

#include "analyze/diffs/diff_cause.h"
#include "analyze/diffs/diff_chance.h"
#include "analyze/stacks/label.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"

/* Of a side that has so many times the weight of the other, percents say less
 * than that number. */
#define MOVED_TIMES 10
/* Runs whose weights differ by so many standard deviations differ. */
#define MOVED_Z 2.0
#define MOVED_P 0.05

/* The mean weight of the runs of a side, and the variance of that mean by its
 * runs. */
static double moved_mean(const struct compare *c, int side, double *variance)
{
	double n = (double)c->d->side[side].runs;
	double mean = (double)c->d->side[side].weight / n;
	double sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		double off = (double)c->rows[i].rows->weight - mean;

		sum += compare_side(c, i) == side ? off * off : 0;
	}
	*variance = n > 1 ? sum / (n - 1) / n : NAN;
	return mean;
}

/* Returns whether the sides differ by more than what counting and other runs
 * make likely. */
static bool moved_apart(const struct compare *c, double a, double b)
{
	return fabs(b - a) / a >
	       MOVED_Z * sqrt(2 * DIFF_BETWEEN * DIFF_BETWEEN +
			      1 / (double)c->d->side[0].samples +
			      1 / (double)c->d->side[1].samples);
}

/* A side with one run is taken to vary as the other one does. */
static void moved_take_variance(const struct compare *c, double *va, double *vb)
{
	double n[2] = { (double)c->d->side[0].runs,
			(double)c->d->side[1].runs };

	if (isnan(*va))
		*va = *vb * n[1] / n[0];
	if (isnan(*vb))
		*vb = *va * n[0] / n[1];
}

static double moved_freedom(const struct compare *c, double va, double vb)
{
	double df[2] = { (double)c->d->side[0].runs - 1,
			 (double)c->d->side[1].runs - 1 };

	return diff_freedom(df, !(df[0] > 0) || !(df[1] > 0), va, vb);
}

/* Returns whether the runs of both sides differ: by Welch's t, where a side has
 * several. */
static bool moved_is(const struct compare *c, double a, double b, double va,
		     double vb)
{
	if (c->n == 2)
		return moved_apart(c, a, b);
	return va + vb > 0 ? diff_p_student((b - a) / sqrt(va + vb),
					    moved_freedom(c, va, vb)) < MOVED_P
			   : a != b;
}

/* Writes "95 %: +250.10 to +301.44 %", the interval of by how much more B has
 * of something than A; times: how many times as much, which may be off by the
 * factor. */
static void moved_put_interval(double times, double factor, FILE *out)
{
	if (times > MOVED_TIMES)
		fprintf(out, "95 %%: %.1f to %.1f times", times / factor,
			times * factor);
	else
		fprintf(out, "95 %%: %+.2f to %+.2f %%",
			100 * (times / factor - 1), 100 * (times * factor - 1));
}

/* Writes "47.0 ms" or "1,234 cycles". */
static void moved_put_weight(const char *unit, double v, FILE *out)
{
	if (!strcmp(unit, "ns")) {
		fputs(HUMAN_NS(v), out);
		return;
	}
	fprintf(out, "%s ", HUMAN_GROUPED(v));
	safe_text_put(out, unit, 0, 0);
}

static void moved_put_name(const struct diff_rows *d, uint32_t row, FILE *out)
{
	const struct label *l = diff_rows_label(d, row);

	safe_text_put(out, *l->name ? l->name : l->image, 0, 0);
}

/* Writes ", in hash +4.10, malloc +1.80 points". */
static void moved_put_parts(const struct compare *c, const struct diff_rows *d,
			    FILE *out)
{
	const struct diff_cause *cause = &d->cause;

	for (size_t i = 0; i < cause->n_part; i++) {
		const struct diff_part *part = &cause->part[i];

		fputs(i ? ", " : ", in ", out);
		if (part->row == cause->row)
			fputs("its own code", out);
		else
			moved_put_name(d, part->row, out);
		if (!d->absolute) {
			fprintf(out, " %+.2f", part->excess);
			continue;
		}
		fprintf(out, " %c", part->excess < 0 ? '-' : '+');
		moved_put_weight(c->unit, fabs(part->excess), out);
	}
	if (cause->n_part && !d->absolute)
		fputs(" points", out);
}

/* Writes by how much the cause changed, and how sure that number is. */
static void moved_put_times(const struct compare *c, const struct diff_rows *d,
			    FILE *out)
{
	const struct diff_cause *cause = &d->cause;
	const char *takes = c->n == 2 ? "took" : "takes";
	double factor = diff_cause_factor(d);

	if (cause->times > MOVED_TIMES) {
		fprintf(out, " %s %.0f times as much", takes, cause->times);
	} else {
		fprintf(out, " %s %s%s", takes,
			HUMAN_PERCENT(fabs(cause->times - 1), 1),
			cause->sign > 0 ? " more" : " less");
	}
	if (isnan(factor)) {
		fputs(" (of one run a side: no interval)", out);
		return;
	}
	fputs(" (", out);
	moved_put_interval(cause->times, factor, out);
	fputc(')', out);
}

/* sum: by how much the runs differ, in weight; 0: it is not said. */
static void moved_put_cause(const struct compare *c, const struct diff_rows *d,
			    double sum, FILE *out)
{
	const struct diff_cause *cause = &d->cause;
	const uint64_t *weight[2] = { d->row[cause->row].weight[0],
				      d->row[cause->row].weight[1] };
	int only = d->place[0][cause->row].only;
	double moved =
		((double)weight[1][1] - d->scale * (double)weight[0][1]) /
		(double)d->side[1].runs;

	moved_put_name(d, cause->row, out);
	/* of symbols alone, which inlined functions lack: what it had before is
	 * not known */
	if (only) {
		fputs(only > 0 ? " is new, or was inlined"
			       : " is gone, or is inlined",
		      out);
	} else if (!weight[1][1]) {
		fputs(" was not seen in B", out);
	} else if (!(cause->times > 0)) {
		fputs(" was not seen in A", out);
	} else {
		moved_put_times(c, d, out);
	}
	moved_put_parts(c, d, out);
	if (cause->moved) {
		fputs(", and ", out);
		moved_put_name(d, cause->instead, out);
		fputs(" as much less: moved?", out);
	} else if (cause->instead != REPORT_NONE) {
		fputs(", and ", out);
		moved_put_name(d, cause->instead, out);
		fprintf(out, " itself as much %s: inlined?",
			cause->sign > 0 ? "less" : "more");
	} else if (!only && moved * sum > 0) {
		fputs(" and explains ", out);
		if (moved / sum > 1)
			fputs("all", out);
		else
			fputs(HUMAN_PERCENT(fabs(moved), fabs(sum)), out);
		fputs(" of it", out);
	}
	if (cause->others)
		fprintf(out, "; %zu other function%s changed", cause->others,
			cause->others == 1 ? "" : "s");
	else
		fputs("; nothing else is proved to have changed", out);
}

const struct diff_rows *compare_cause(const struct compare *c)
{
	const struct diff_rows *other = c->by[!c->d->absolute];

	return c->d->cause.row != REPORT_NONE		  ? c->d
	       : other && other->cause.row != REPORT_NONE ? other
							  : NULL;
}

void compare_tell_cause(const struct compare *c, int none UNUSED, FILE *out)
{
	const struct diff_rows *d = compare_cause(c);

	if (d)
		moved_put_cause(c, d, 0, out);
}

/* Returns whether the weights are time on a CPU: of a clock that runs only
 * there. */
static bool moved_is_cpu(const struct compare *c)
{
	const char *event = compare_event(c);

	return !strcmp(c->unit, "ns") && event &&
	       (!strncmp(event, "cpu-clock", strlen("cpu-clock")) ||
		!strncmp(event, "task-clock", strlen("task-clock")));
}

/* Returns ns that the recordings of a side took, on average; 0: it is not known
 * of each. */
static int64_t moved_wall(const struct compare *c, int side)
{
	int64_t sum = 0, n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (compare_side(c, i) != side)
			continue;
		if (!c->run[i].took ||
		    __builtin_add_overflow(sum, c->run[i].took, &sum))
			return 0;
		n++;
	}
	return n ? sum / n : 0;
}

/* Writes ", in 2.51 s where A took 2.00 s". */
static void moved_put_wall(const struct compare *c, FILE *out)
{
	int64_t wall[2] = { moved_wall(c, 0), moved_wall(c, 1) };
	char took[2][32];

	if (!wall[0] || !wall[1])
		return;
	for (int i = 0; i < 2; i++)
		human_ns(took[i], sizeof(took[i]), wall[i]);
	fprintf(out, ", in %s", took[1]);
	if (!strcmp(took[0], took[1]))
		fputs(" each", out);
	else
		fprintf(out, " where A took %s", took[0]);
}

/* Returns whether no row has a mark. */
static bool moved_has_none(const struct compare *c)
{
	for (int i = 0; i < 4; i++) {
		const struct diff_rows *d = c->by[i / 2];

		if (!d)
			continue;
		struct diff_counts n = diff_rows_changed(d, i % 2);

		if (n.more || n.less)
			return false;
	}
	return true;
}

/* Writes what changed, behind a semicolon. sum: as of moved_put_cause(). */
static void moved_put_what(const struct compare *c, double sum, FILE *out)
{
	const struct diff_rows *cause = compare_cause(c);
	uint32_t blind = c->d->cause.blind, same = c->d->cause.same;
	bool two = c->n == 2;

	if (cause) {
		fputs("; ", out);
		moved_put_cause(c, cause, sum, out);
	} else if (blind != REPORT_NONE) {
		fputs("; ", out);
		moved_put_name(c->d, blind, out);
		fprintf(out,
			", the same code, is called %s: by whom is missing "
			"in most of its stacks",
			c->d->cause.sign > 0 ? "more" : "less");
	} else if (same != REPORT_NONE) {
		int8_t code = c->d->build ? c->d->build[same] : 0;
		bool tier = code >= DIFF_OTHER_TIER;

		fputs("; ", out);
		moved_put_name(c->d, same, out);
		fprintf(out, ", %s, %s %s, as %s may make it%s",
			code == DIFF_INTERPRETED
				? "which runs what is not compiled yet"
			: tier ? "by another tier of its compiler"
			       : "the same code",
			two ? "took" : "takes",
			c->d->cause.sign > 0 ? "more" : "less",
			tier ? "the moment it is compiled"
			     : "its input, its place in memory or the machine",
			two ? ": several runs of each side tell more" : "");
	} else if (moved_has_none(c)) {
		fprintf(out, "; %s is proved to have changed",
			c->d->keys & KEY_SYM ? "no function" : "nothing");
	}
}

void compare_tell_moved(const struct compare *c, int none UNUSED, FILE *out)
{
	const char *unit = c->unit;
	bool cpu = moved_is_cpu(c);
	bool time = !cpu && !strcmp(unit, "ns");
	bool two = c->n == 2;
	const char *verb = cpu	  ? two ? "used" : "uses"
			   : time ? two ? "took" : "takes"
			   : two  ? "had"
				  : "has";
	const char *what = cpu ? " processor time" : "";
	double va, vb;
	double a = moved_mean(c, 0, &va);
	double b = moved_mean(c, 1, &vb);

	moved_take_variance(c, &va, &vb);
	bool moved = moved_is(c, a, b, va, vb);

	/* means that lie apart, of runs that do too, are not about the same */
	bool unproved = !moved && moved_apart(c, a, b);

	fprintf(out, "%s%s run of B %s ",
		unproved ? "it is not proved that " : "", two ? "the" : "a",
		verb);
	if (moved && b > MOVED_TIMES * a) {
		fprintf(out, "%.0f times as %s%s as", b / a,
			time ? "long" : "much", what);
	} else if (moved || unproved) {
		if (moved)
			fprintf(out, "%s ", HUMAN_PERCENT(fabs(b - a), a));
		fprintf(out, "%s%s than",
			b < a  ? "less"
			: time ? "longer"
			       : "more",
			what);
	} else {
		fprintf(out, "about as %s%s as", time ? "long" : "much", what);
	}
	fprintf(out, " %s of A (%c", two ? "that" : "one", b < a ? '-' : '+');
	moved_put_weight(unit, fabs(b - a), out);
	if ((time || cpu) && compare_event(c)) {
		fputs(" of ", out);
		safe_text_put(out, compare_event(c), 0, 0);
	}
	if (!two && a > 0 && b > 0) {
		/* equal runs do not make it exact: counting remains */
		va = diff_larger(va / a / a, 1 / (double)c->d->side[0].samples);
		vb = diff_larger(vb / b / b, 1 / (double)c->d->side[1].samples);
		fputs("; ", out);
		moved_put_interval(
			b / a, diff_factor(va + vb, moved_freedom(c, va, vb)),
			out);
	}
	fputc(')', out);
	if (cpu)
		moved_put_wall(c, out);
	moved_put_what(c, moved ? b - a : 0, out);
}
