/* diff_text.c - a comparison as sentences. */
#include "cli/tables/diff_text.h"

#include <math.h>

#include "analyze/diffs/diff_cause.h"
#include "analyze/diffs/sides.h"
#include "analyze/stacks/label.h"
#include "stitch/base/mem.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* If a side has more than this many times the weight of the other, that number
 * is written, and no percentage. */
#define MOVED_TIMES 10

void diff_tell_side(const struct compare *c, int side, FILE *out)
{
	const struct diff_side *s = &c->d->side[side];
	const struct compare_run *first = &c->run[side ? c->runs_a : 0];
	const char *name = c->sides->side[side].name;
	const char *event = compare_event(c);

	fprintf(out, "%c: ", side ? 'B' : 'A');
	safe_text_put(out, name, 0, 0);
	/* the path given may be the capture's own: do not name it twice */
	if (first->capture[0] && s->runs == 1 &&
	    !strstr(first->capture, name)) {
		safe_text_say(out, ", capture ", first->capture, "");
	}
	if (first->stacks)
		safe_text_say(out, ", ", event ? event : "several events", "");
	fprintf(out, ", %s", HUMAN_NOUN(s->samples, "sample"));
	if (s->unjoined)
		fprintf(out, ", %s without user half",
			HUMAN_GROUPED(s->unjoined));
	if (s->lost) {
		fprintf(out, ", %s records lost%s", HUMAN_GROUPED(s->lost),
			s->lost_unknown ? " and an unknown number more" : "");
	} else if (s->lost_unknown) {
		fputs(", an unknown number of records lost", out);
	}
}

void diff_tell_trust(const struct compare *c, int side, FILE *out)
{
	const struct compare_run *run = &c->run[side ? c->runs_a : 0];

	if (!run->stacks)
		return;
	fprintf(out, "%c%s: %s", side ? 'B' : 'A',
		c->d->side[side].runs > 1 ? ", its first run" : "", run->trust);
}

void diff_put_sides(const struct compare *c, struct json *j)
{
	for (int side = 0; side < 2; side++) {
		const struct diff_side *s = &c->d->side[side];
		const struct compare_run *first = &c->run[side ? c->runs_a : 0];

		json_object(j, side ? "b" : "a");
		json_text(j, "name", c->sides->side[side].name);
		json_text(j, "capture",
			  first->capture[0] ? first->capture : NULL);
		json_text(j, "event", compare_event(c));
		json_uint(j, "runs", s->runs);
		json_uint(j, "samples", s->samples);
		json_uint(j, "weight", s->weight);
		json_uint(j, "without_user_half", s->unjoined);
		json_uint(j, "lost", s->lost);
		json_bool(j, "lost_unknown", s->lost_unknown);
		/* several runs: of the first one */
		json_text(j, "user_stacks",
			  first->stacks ? first->trust : NULL);
		json_end(j);
	}
}

/* Writes "--match OLD=NEW". */
static void diff_put_match(const char *from, const char *to, FILE *out)
{
	safe_text_say(out, "--match ", from, "=");
	safe_text_put(out, to, 0, 0);
}

void diff_tell_images(const struct compare *c, int none UNUSED, FILE *out)
{
	const char *next = "";

	for (size_t i = 0; i < c->n_renames; i++) {
		const struct compare_rename *r = &c->renames[i];

		if (!r->taken)
			continue;
		safe_text_say(out, next, r->from, " of A is taken for ");
		safe_text_put(out, r->to, 0, 0);
		fprintf(out, " of B: %s of it is functions of the same names (",
			HUMAN_PERCENT(r->agrees, 1));
		diff_put_match(r->from, r->from, out);
		fputs(" keeps them apart)", out);
		next = "; ";
	}
	for (size_t i = 0; i < c->n_renames; i++) {
		const struct compare_rename *r = &c->renames[i];

		if (r->taken)
			continue;
		fprintf(out, "%s", next);
		if (strcmp(next, ", or ") != 0)
			fputs("several images agree by the names of their "
			      "functions, choose with ",
			      out);
		diff_put_match(r->from, r->to, out);
		next = ", or ";
	}
}

void diff_tell_alone(const struct compare *c, int none UNUSED, FILE *out)
{
	double alone[2], all[2];

	if (!compare_lacks(c, alone, all))
		return;
	fprintf(out,
		"most cannot be compared: %s of the user code of A and %s of B "
		"are functions that the other does not have; if an image was "
		"renamed: --match OLD=NEW",
		HUMAN_PERCENT(alone[0], all[0]),
		HUMAN_PERCENT(alone[1], all[1]));
}

void diff_tell_renamed(const struct compare *c, uint32_t row, FILE *out)
{
	uint32_t to = c->renamed[row];

	fputs("renamed? ", out);
	for (int side = 0; side < 2; side++) {
		uint32_t at = side ? to : row;

		safe_text_put(out, diff_rows_label(c->d, at)->name, 0, 0);
		fprintf(out, " (%s%s",
			HUMAN_PERCENT(c->d->row[at].weight[side][1],
				      c->d->side[side].weight),
			side ? " of B)" : " of A) -> ");
	}
	fputs(": of like weight, by the same callers", out);
}

/* With one run a side, the first sentence says how long these two took, as it
 * is not known how much runs of one program differ: of pairs of such runs on a
 * busy machine, half differ by more than any fixed limit. */

/* Writes "95 %: +250.10 to +301.44 %", the interval of how much more of
 * something B has than A. times: B divided by A, which may be off by the
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

/* Writes the cause. sum: by how much runs differ, in weight; 0: not
 * mentioned. */
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
	/* by symbols alone, which inlined functions lack, it is not known what
	 * the function had before */
	if (only) {
		fputs(only > 0 ? " is new, or was inlined"
			       : " is gone, or is inlined",
		      out);
	} else if (!weight[1][1]) {
		fputs(" was not seen in B", out);
	} else if (!(cause->times > 0)) {
		fputs(" was not seen in A", out);
	} else {
		const char *takes = c->n == 2 ? "took" : "takes";
		double factor = diff_cause_factor(d);

		if (cause->times > MOVED_TIMES)
			fprintf(out, " %s %.0f times as much", takes,
				cause->times);
		else
			fprintf(out, " %s %s%s", takes,
				HUMAN_PERCENT(fabs(cause->times - 1), 1),
				cause->sign > 0 ? " more" : " less");
		/* how sure that number is */
		if (isnan(factor)) {
			fputs(" (of one run a side: no interval)", out);
		} else {
			fputs(" (", out);
			moved_put_interval(cause->times, factor, out);
			fputc(')', out);
		}
	}
	/* Writes ", in hash +4.10, malloc +1.80 points". */
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
		fprintf(out, " and explains %s of it",
			moved / sum > 1
				? "all"
				: HUMAN_PERCENT(fabs(moved), fabs(sum)));
	}
	if (cause->others)
		fprintf(out, "; %zu other function%s changed", cause->others,
			cause->others == 1 ? "" : "s");
	else
		fputs("; nothing else is proved to have changed", out);
}

void diff_tell_cause(const struct compare *c, int none UNUSED, FILE *out)
{
	const struct diff_rows *d = compare_cause(c);

	if (d)
		moved_put_cause(c, d, 0, out);
}

/* Writes what changed, after a semicolon. sum: see moved_put_cause(). */
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
	} else if (compare_has_none(c)) {
		fprintf(out, "; %s is proved to have changed",
			c->d->keys & KEY_SYM ? "no function" : "nothing");
	}
}

void diff_tell_moved(const struct compare *c, int none UNUSED, FILE *out)
{
	const char *unit = c->unit;
	bool cpu = compare_is_cpu(c);
	bool time = !cpu && !strcmp(unit, "ns");
	bool two = c->n == 2;
	const char *verb = cpu	  ? two ? "used" : "uses"
			   : time ? two ? "took" : "takes"
			   : two  ? "had"
				  : "has";
	const char *what = cpu ? " processor time" : "";
	int64_t wall[2] = { compare_wall(c, 0), compare_wall(c, 1) };
	char took[2][32];
	struct compare_moved m;
	double had[2];

	compare_find_moved(c, &m);
	if (compare_others_moved(c, had)) {
		const struct compare_run *r = c->run;

		fprintf(out,
			"the machine was busier in %c: other programs had "
			"%.2f CPUs in B, %.2f in A; ",
			"AB"[had[1] > had[0]], had[1], had[0]);
		safe_text_say(out, "", r[1].program, " itself used ");
		fprintf(out, "%s in B, ", HUMAN_NS(r[1].used[0]));
		fprintf(out, "%s in A", HUMAN_NS(r[0].used[0]));
		safe_text_say(out, " ('--comm ", r[1].program,
			      "' compares that alone); ");
	}
	double a = m.mean[0], b = m.mean[1];
	bool unproved = m.apart && !m.proved;

	fprintf(out, "%s%s run of B %s ",
		unproved ? "it is not proved that " : "", two ? "the" : "a",
		verb);
	if (m.proved && b > MOVED_TIMES * a) {
		fprintf(out, "%.0f times as %s%s as", b / a,
			time ? "long" : "much", what);
	} else if (m.apart) {
		if (m.proved)
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
	if ((time || cpu) && compare_event(c))
		safe_text_say(out, " of ", compare_event(c), "");
	if (!isnan(m.factor)) {
		fputs("; ", out);
		moved_put_interval(b / a, m.factor, out);
	}
	fputc(')', out);
	if (cpu && wall[0] && wall[1]) {
		/* ", in 2.51 s where A took 2.00 s" */
		for (int i = 0; i < 2; i++)
			human_ns(took[i], sizeof(took[i]), wall[i]);
		fprintf(out, ", in %s%s%s", took[1],
			strcmp(took[0], took[1]) ? " where A took " : " each",
			strcmp(took[0], took[1]) ? took[0] : "");
	}
	moved_put_what(c, m.proved ? b - a : 0, out);
}

void diff_tell_result(const struct compare *c, int total, FILE *out)
{
	bool absolute = c->d->absolute;
	const struct diff_rows *other = c->by[!absolute];
	struct diff_counts n = diff_rows_changed(c->d, total);

	fprintf(out, "significant: %zu more in B, %zu less, by %s of %s",
		n.more, n.less, absolute ? "weights" : "shares",
		total ? "total" : "self");
	if (other) {
		struct diff_counts more = diff_rows_changed(other, total);

		fprintf(out, "; %zu more, %zu less, by %s", more.more,
			more.less, absolute ? "shares" : "weights");
	}
	if (c->d->part) {
		fprintf(out, "; measured against %s that did not change, ",
			HUMAN_NOUN(c->d->n_kept, "function"));
		for (int side = 0; side < 2; side++) {
			fprintf(out, "%s%s",
				HUMAN_PERCENT(c->d->kept[side],
					      c->d->side[side].weight),
				side ? " of B" : " of A and ");
		}
		fprintf(out, " (p %.2g)", c->d->kept_p);
	}
	if (n.appeared || n.gone)
		fprintf(out,
			"; by symbols, which inlined functions lack, %zu new "
			"in B, %zu gone",
			n.appeared, n.gone);
	fputs(c->n > 2 ? "; by how they differ between runs: false-positive "
			 "rate at most 1 %"
		       : "; of one run a side, which does not tell what runs "
			 "differ by: to gate, give several, A... -- B...",
	      out);
	if (c->n > 2 && other)
		fputs(" each", out);
}

char *diff_sentence(const struct compare *c, diff_tell_fn *tell, int which)
{
	char *text;
	FILE *out = mem_stream(&text, NULL);

	tell(c, which, out);
	mem_stream_end(out);
	return text;
}
