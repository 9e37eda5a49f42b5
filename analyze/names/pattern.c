/* pattern.c - regular expressions of the command line, in bounded time.
 *
 * The C library writes a repeat out: x{100} is a hundred x, and a repeat of
 * that a hundred times as many, of 2.4 kB each. References back are matched by
 * trying all ways. */
#include "analyze/names/pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"

/* Nodes that an expression may have with its repeats written out: 25 MB. */
#define NODES_MAX 10000
#define NEST_MAX 100

/* How large an expression becomes when its repeats are written out. */
struct pattern_size {
	uint64_t sum[NEST_MAX];	 /* nodes so far of each open group */
	uint64_t last[NEST_MAX]; /* of its last item, which a repeat copies */
	size_t depth;
	bool too_deep, refers;
};

static void pattern_add(struct pattern_size *z, uint64_t n)
{
	z->last[z->depth] = n;
	z->sum[z->depth] += n;
}

/* Returns what follows a bracket expression, in which ] may be the first. */
static const char *pattern_skip_set(const char *s)
{
	s += *s == '^';
	s += *s == ']';
	while (*s && *s != ']') {
		const char *end = NULL;

		if (s[0] == '[' && s[1] && strchr(".:=", s[1])) {
			const char close[] = { s[1], ']', '\0' };

			end = strstr(s + 2, close);
		}
		s = end ? end + 2 : s + 1;
	}
	return s + (*s == ']');
}

/* Returns whether the expression is too large. pattern_measure() asks after
 * each step, so that no sum exceeds NODES_MAX squared. */
static bool pattern_is_large(const struct pattern_size *z)
{
	return z->too_deep || z->sum[z->depth] > NODES_MAX;
}

/* Counts the nodes of an expression, until there are too many. */
static void pattern_measure(struct pattern_size *z, const char *s)
{
	while (*s && !pattern_is_large(z)) {
		char c = *s++;

		if (c == '(') {
			z->too_deep = z->depth + 1 == NEST_MAX;
			if (z->too_deep)
				return;
			z->depth++;
			z->sum[z->depth] = z->last[z->depth] = 1;
		} else if (c == ')') {
			if (z->depth) {
				uint64_t n = z->sum[z->depth--];

				pattern_add(z, n);
			}
		} else if (c == '{') {
			/* Counts {m,n} as the larger number of times. */
			char *end = NULL;
			uint64_t a = strtoull(s, &end, 10);
			uint64_t b =
				*end == ',' ? strtoull(end + 1, &end, 10) : 0;
			uint64_t n = a > b ? a : b;
			uint64_t *last = &z->last[z->depth];

			if (n > NODES_MAX)
				n = NODES_MAX;
			if (n > 1) {
				z->sum[z->depth] += *last * (n - 1);
				*last *= n;
			}
			s = end + (*end == '}');
		} else if (c == '[') {
			s = pattern_skip_set(s);
			pattern_add(z, 1);
		} else if (strchr("*+?", c)) {
			z->sum[z->depth]++; /* last[] is the item's size */
		} else {
			z->refers |= c == '\\' && *s >= '1' && *s <= '9';
			s += c == '\\' && *s;
			pattern_add(z, 1);
		}
	}
}

int pattern_compile(regex_t *out, const char *opt, const char *text,
		    struct err *err)
{
	struct pattern_size z = { .depth = 0 };
	char why[128];

	pattern_measure(&z, text);
	if (pattern_is_large(&z))
		return err_set(err, ERR_USAGE,
			       "--%s '%.100s' is too large: with its repeats "
			       "written out it has more than %d characters",
			       opt, text, NODES_MAX);
	if (z.refers)
		return err_set(err, ERR_USAGE,
			       "--%s '%.100s' refers back to a group, which "
			       "can take for ever; write it out",
			       opt, text);
	int rc = regcomp(out, text, REG_EXTENDED | REG_NOSUB);

	if (!rc)
		return 0;
	regerror(rc, out, why, sizeof(why));
	return err_set(err, ERR_USAGE, "--%s '%s' is no regular expression: %s",
		       opt, text, why);
}
