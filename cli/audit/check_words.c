/* check_words.c - the verdict in words: what is broken, or what "clean"
 * covers. */
#include <inttypes.h>

#include "cli/audit/check.h"
#include "cli/output/lines.h"

/* Adds "N what" to the line unless n is 0, with ", " in front of all but the
 * first. */
static void words_add(struct lines *l, int *parts, int64_t n, const char *one,
		      const char *many)
{
	if (n)
		lines_add(l, "%s%" PRId64 " %s", (*parts)++ ? ", " : "", n,
			  n == 1 ? one : many);
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

void check_say_verdict(const struct check *c, struct lines *l)
{
	const struct check_breaks *b = &c->breaks;

	if (b->bad)
		words_add_broken(l, b);
	else if (c->status)
		lines_add(l, "part of the input could not be read; nothing "
			     "else is lost");
	else if (check_is_open(b) && !b->tolerated)
		words_add_open(l, b);
	else if (!b->tolerated)
		lines_add(l, "nothing lost, %s", words_of_clean(c));
	else
		lines_add(l, "within what is tolerated: ");
	if (b->tolerated)
		words_add_broken(l, b);
}
