/* check_words.c - the verdict in words: what is broken, or what "clean"
 * covers. */

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "stitch/text/human.h"
#include "cli/output/grid.h"

/* Adds "N what" to the line unless n is 0, with ", " in front of all but the
 * first. */
static void words_add(struct lines *l, int *parts, int64_t n, const char *one,
		      const char *many)
{
	if (n)
		lines_add(l, "%s%s %s", (*parts)++ ? ", " : "",
			  HUMAN_GROUPED(n), n == 1 ? one : many);
}

static void words_add_broken(struct lines *l, const struct check_breaks *b)
{
	int parts = 0;

	words_add(l, &parts, b->requests, "request without its user stack",
		  "requests without their user stack");
	words_add(l, &parts, b->chains, "chain without a sample",
		  "chains without a sample");
	words_add(l, &parts, b->lost, "record lost", "records lost");
	words_add(l, &parts, b->vanished, "stay in the kernel vanished",
		  "stays in the kernel vanished");
	if (b->lost && b->lost_unknown)
		lines_add(l, ", and an unknown number more");
	else if (b->lost_unknown)
		lines_add(l, "%san unknown number of records lost",
			  parts++ ? ", " : "");
	words_add(l, &parts, b->unlisted,
		  "process not listed with all mappings",
		  "processes not listed with all mappings");
	words_add(l, &parts, b->out_of_order, "out of order", "out of order");
	words_add(l, &parts, b->findings, "finding", "findings");
}

static void words_add_open(struct lines *l, const struct check_breaks *b)
{
	int parts = 0;

	lines_add(l, "nothing is proved to be lost, but not provable: ");
	words_add(l, &parts, b->not_provable, "counter", "counters");
	words_add(l, &parts, b->open_findings, "finding", "findings");
	words_add(l, &parts, b->open_chains, "chain without a sample",
		  "chains without a sample");
}

/* What the word "clean" covers for this database. */
static const char *words_of_clean(const struct check *c)
{
	const struct check_breaks *b = &c->breaks;

	if (!b->asked)
		return c->served ? "no user stack was asked for later"
				 : "nothing out of order";
	if (b->joined + b->refused == b->asked)
		return "every user stack is there";
	return "no user stack missing without a harmless reason";
}

static const char *words_of_losses(const struct check *c)
{
	return check_covers(c, CHECK_RING) ? "nothing lost"
					   : "losses not looked at";
}

static void words_add_comma(struct lines *l)
{
	if (l->len && l->text[l->len - 1] != ' ')
		lines_add(l, ", ");
}

static void words_add_gaps(const struct check *c, struct lines *l)
{
	const struct check_breaks *b = &c->breaks;

	if (!c->limits_gaps || (!b->touched && !b->unjudged))
		return;
	words_add_comma(l);
	if (b->unjudged)
		lines_add(l, "whether records are missing without a loss is "
			     "not judged");
	else
		lines_add(l,
			  "%s of the time is touched by records missing "
			  "without a loss",
			  HUMAN_PERCENT(b->touched, b->all_time));
}

/* only: "only ", or "". */
static void words_add_whole(const struct check *c, const char *only,
			    struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);
	const char *known = t.unchecked ? "known to be " : "";

	if (t.whole)
		lines_add(l, "%s%s of the user stacks are %swhole", only,
			  HUMAN_PERCENT(t.whole, t.all), known);
	else
		lines_add(l, "no user stack is %swhole", known);
}

/* "99.10 % of the user stacks are fabricated (libpython3.11.so.1.0 has no frame
 * pointers)" */
static void words_add_doubts(const struct check *c, struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);
	char are[TRUST_SENTENCE];

	if (c->breaks.untold)
		lines_add(l, "a text of samples does not say what was lost");
	else
		lines_add(l, "%s, but ", words_of_losses(c));
	switch (check_doubt(c)) {
	case DOUBT_UNTOLD:
		break;
	case DOUBT_FEW:
		words_add_whole(c, "only ", l);
		break;
	case DOUBT_WRONG:
		trust_say_wrong(c->trust, are);
		lines_add(l, "%s of the user stacks %s",
			  HUMAN_PERCENT(t.wrong, t.all), are);
		break;
	case DOUBT_UNPROVED:
	case DOUBT_NONE:
		lines_add(l,
			  "%s of the samples have names of files that "
			  "nothing proves",
			  HUMAN_PERCENT(t.unproved, t.counted));
		break;
	}
}

/* What is clean may have half of its stacks cut. */
static void words_add_clean(const struct check *c, struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);

	lines_add(l, "%s, %s", words_of_losses(c), words_of_clean(c));
	if (t.recorded && t.whole < t.all) {
		words_add_comma(l);
		words_add_whole(c, "", l);
	}
}

void check_say_verdict(const struct check *c, struct lines *l)
{
	const struct check_breaks *b = &c->breaks;

	if (b->bad) {
		words_add_broken(l, b);
		words_add_gaps(c, l);
		if (b->few_whole) {
			words_add_comma(l);
			words_add_whole(c, "only ", l);
		}
	} else if (c->damaged)
		lines_add(l, "part of the input could not be read; nothing "
			     "else is lost");
	else if (check_is_open(b) && !b->tolerated)
		words_add_open(l, b);
	else if (!b->tolerated && check_doubt(c))
		words_add_doubts(c, l);
	else if (!b->tolerated)
		words_add_clean(c, l);
	else
		lines_add(l, "within what is tolerated: ");
	if (b->tolerated) {
		words_add_broken(l, b);
		words_add_gaps(c, l);
	}
}
