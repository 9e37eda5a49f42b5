/* compare_moved.c - which of a run and its functions takes longer, by weights:
 * the first sentence of a comparison. Of one run a side it says how long these
 * two took, as nothing tells what runs of one program differ by: of pairs of
 * such runs on a busy machine half differ by more than any fixed limit. */
#include "cli/tables/compare.h"

#include <math.h>
#include <string.h>

#include "cli/model/diff_chance.h"
#include "cli/model/label.h"
#include "cli/output/human.h"
#include "cli/output/safe_text.h"

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
		double off = (double)report_weight(c->rows[i].rows) - mean;

		sum += compare_side(c, i) == side ? off * off : 0;
	}
	*variance = n > 1 ? sum / (n - 1) / n : NAN;
	return mean;
}

/* Returns whether the runs of both sides differ: by Welch's t, or of one run a
 * side by what counting and other runs make likely. */
static bool moved_is(const struct compare *c, double a, double b, double va,
		     double vb)
{
	double n[2] = { (double)c->d->side[0].runs,
			(double)c->d->side[1].runs };
	double df;

	if (c->n == 2)
		return fabs(b - a) / a >
		       MOVED_Z * sqrt(2 * DIFF_BETWEEN * DIFF_BETWEEN +
				      1 / (double)c->d->side[0].samples +
				      1 / (double)c->d->side[1].samples);
	if (n[0] < 2 || n[1] < 2) {
		double known = n[0] < 2 ? vb * n[1] : va * n[0];

		va = known / n[0];
		vb = known / n[1];
		df = n[0] + n[1] - 2;
	} else {
		df = (va + vb) * (va + vb) /
		     (va * va / (n[0] - 1) + vb * vb / (n[1] - 1));
	}
	return va + vb > 0
		       ? diff_p_student((b - a) / sqrt(va + vb), df) < MOVED_P
		       : a != b;
}

/* Writes "47.0 ms" or "1,234 cycles". */
static void moved_put_weight(const char *unit, double v, FILE *out)
{
	char buf[32];

	if (!strcmp(unit, "ns")) {
		fputs(human_ns(buf, sizeof(buf), (int64_t)v), out);
		return;
	}
	human_put_grouped(out, (uint64_t)v);
	fputc(' ', out);
	safe_text_put(out, unit, 0, 0);
}

/* Returns the row whose own weight moved most in the direction of `sign`;
 * proved: of those that changed. REPORT_NONE: none did. */
static uint32_t moved_most(const struct compare *c, double sign, bool proved)
{
	const struct diff_rows *d = c->by[1];
	uint32_t best = REPORT_NONE;
	double most = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct diff_place *p = &d->place[0][i];
		double v = sign * diff_rows_change(d, i, false);

		/* what may have another name only has not moved */
		if (c->renamed && c->renamed[i] != REPORT_NONE)
			continue;
		if ((proved ? p->change * sign > 0 : !p->skip) && v > most) {
			most = v;
			best = i;
		}
	}
	return best;
}

static void moved_put_row(const struct compare *c, uint32_t row, double sum,
			  FILE *out)
{
	const struct diff_rows *d = c->by[1];
	const struct label *l = diff_rows_label(d, row);
	double a = diff_rows_size(d, 0, (double)d->row[row].weight[0][0]);
	double change = diff_rows_change(d, row, false);
	uint64_t b = d->row[row].weight[1][0];
	const char *takes = c->n == 2 ? "took" : "takes";

	safe_text_put(out, *l->name ? l->name : l->image, 0, 0);
	if (d->place[0][row].only) {
		fprintf(out, " is %s", diff_rows_word(&d->place[0][row]));
	} else if (!b) {
		fputs(" was not seen in B", out);
	} else if (a > 0 && change > (MOVED_TIMES - 1) * a) {
		fprintf(out, " %s %.0f times as much", takes, (a + change) / a);
	} else if (a > 0) {
		fprintf(out, " %s ", takes);
		human_put_percent(out, fabs(change), a);
		fputs(change > 0 ? " more" : " less", out);
	} else {
		fputs(" was not seen in A", out);
	}
	if (sum == 0)
		return;
	fputs(" and explains ", out);
	if (change / sum > 1)
		fputs("all", out);
	else
		human_put_percent(out, fabs(change), fabs(sum));
	fputs(" of it", out);
}

void compare_tell_moved(const struct compare *c, int none, FILE *out)
{
	(void)none;
	const struct diff_rows *d = c->by[1];
	const char *unit = c->unit;
	bool time = !strcmp(unit, "ns");
	bool two = c->n == 2;
	const char *verb = time ? two ? "took" : "takes" : two ? "had" : "has";
	double va, vb;
	double a = moved_mean(c, 0, &va);
	double b = moved_mean(c, 1, &vb);
	bool moved = moved_is(c, a, b, va, vb);
	double sign = b > a ? 1 : -1;
	uint32_t row = moved_most(c, sign, true);

	fprintf(out, "%s run of B %s ", two ? "the" : "a", verb);
	if (moved && b > MOVED_TIMES * a) {
		fprintf(out, "%.0f times as %s as", b / a,
			time ? "long" : "much");
	} else if (moved) {
		human_put_percent(out, fabs(b - a), a);
		fputs(b < a  ? " less than"
		      : time ? " longer than"
			     : " more than",
		      out);
	} else {
		fputs(time ? "about as long as" : "about as much as", out);
	}
	fprintf(out, " %s of A (%c", two ? "that" : "one", b < a ? '-' : '+');
	moved_put_weight(unit, fabs(b - a), out);
	if (time && compare_event(c)) {
		fputs(" of ", out);
		safe_text_put(out, compare_event(c), 0, 0);
	}
	fputc(')', out);
	if (row != REPORT_NONE) {
		fputs("; ", out);
		moved_put_row(c, row, moved ? b - a : 0, out);
	} else if (moved && (row = moved_most(c, sign, false)) != REPORT_NONE) {
		fputs("; no function is proved to have changed, most of it is in ",
		      out);
		safe_text_put(out, diff_rows_label(d, row)->name, 0, 0);
	}
}
