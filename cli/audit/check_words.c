/* check_words.c - the verdict in words: what is broken, or what "clean"
 * covers. */
#include <inttypes.h>
#include <string.h>

#include "cli/audit/check.h"
#include "cli/output/human.h"
#include "cli/output/lines.h"
#include "cli/output/safe_text.h"
#include "stitch/base/path.h"

#define WORDS_NAME 100 /* bytes of a file's name */

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

static void words_take_image(void *arg, const struct check_row *r)
{
	char *name = arg;
	const char *base = path_base(check_text(r, "image"));

	if (!name[0] && strcmp(base, "[unknown]") != 0)
		safe_text_clean_buf(name, WORDS_NAME, base, strlen(base), NULL);
}

/* "99.10 % of the user stacks are wrong (fabricated: libpython3.11.so.1.0 has
 * no frame pointers)" */
static int words_add_doubts(struct check *c, struct lines *l, struct err *err)
{
	struct trust_counts t = trust_count(c->trust);
	enum check_doubt doubt = check_doubt(c);
	const char *of = "user stacks";
	const char *are = "are wrong";
	int64_t all = t.all;
	int64_t n = t.wrong;
	char name[WORDS_NAME] = "";
	char share[16];

	if (doubt == DOUBT_INCOMPLETE) {
		n = t.incomplete;
		are = t.are_incomplete;
	} else if (doubt == DOUBT_UNCHECKED) {
		n = t.unchecked;
		are = t.are_unchecked;
	} else if (doubt == DOUBT_UNPROVED) {
		n = t.unproved;
		all = t.counted;
		of = "samples";
		are = "have names of files that nothing proves";
	}
	lines_add(l, "nothing lost, but %s of the %s %s",
		  human_percent(share, sizeof(share), (double)n, (double)all),
		  of, are);
	if (doubt != DOUBT_WRONG)
		return 0;
	if (check_some(c, "fabricated", 1, words_take_image, name, err))
		return -1;
	if (name[0])
		lines_add(l, " (fabricated: %s has no frame pointers)", name);
	return 0;
}

static void words_add_few(const struct check *c, struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);
	char share[16];

	if (!c->breaks.few_whole)
		return;
	if (l->len && l->text[l->len - 1] != ' ')
		lines_add(l, ", ");
	if (t.whole)
		lines_add(l, "only %s of the user stacks are whole",
			  human_percent(share, sizeof(share), (double)t.whole,
					(double)t.all));
	else
		lines_add(l, "no user stack is whole");
}

int check_say_verdict(struct check *c, struct lines *l, struct err *err)
{
	const struct check_breaks *b = &c->breaks;

	if (b->bad) {
		words_add_broken(l, b);
		words_add_few(c, l);
	} else if (c->status)
		lines_add(l, "part of the input could not be read; nothing "
			     "else is lost");
	else if (check_is_open(b) && !b->tolerated)
		words_add_open(l, b);
	else if (!b->tolerated && check_doubt(c))
		return words_add_doubts(c, l, err);
	else if (!b->tolerated)
		lines_add(l, "nothing lost, %s", words_of_clean(c));
	else
		lines_add(l, "within what is tolerated: ");
	if (b->tolerated)
		words_add_broken(l, b);
	return 0;
}
