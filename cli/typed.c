/* typed.c - what users type: decimal numbers, times, and words that are nearly
 * right. */
#include "cli/typed.h"

#include <stdbool.h>

#include "stitch/base/mem.h"

int typed_decimal(const char **p, unsigned int places, int64_t *out)
{
	const char *s = *p;
	bool digits = false;
	bool point = false;
	int64_t v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		digits = true;
		if (point && !places)
			continue;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return -1;
		places -= point;
	}
	for (; places; places--)
		if (__builtin_mul_overflow(v, 10, &v))
			return -1;
	if (!digits)
		return -1;
	*p = s;
	*out = v;
	return 0;
}

int typed_span(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		unsigned int places; /* as many as make ns */
		int64_t times;
	} units[] = {
		{ "ms", 6, 1 },	  { "s", 9, 1 },     { "m", 9, 60 },
		{ "h", 9, 3600 }, { "d", 9, 86400 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const char *p = text;
		int64_t v;

		if (!typed_decimal(&p, units[i].places, &v) &&
		    !strcmp(p, units[i].name))
			return __builtin_mul_overflow(v, units[i].times, ns)
				       ? -1
				       : 0;
	}
	return -1;
}

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts insertions, deletions, substitutions and swaps of neighbouring
 * letters. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[3][TYPED_NEAR_MAX + 1];
	size_t na = strlen(a);
	size_t nb = strlen(b);

	if (na > TYPED_NEAR_MAX || nb > TYPED_NEAR_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3];
		const size_t *up = row[(i + 2) % 3];
		const size_t *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = smaller_of(up[j], now[j - 1]) + 1;
			now[j] = smaller_of(now[j],
					    up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = smaller_of(now[j], up2[j - 2] + 1);
		}
	}
	return row[na % 3][nb];
}

void nearest_offer(struct nearest *near, const char *word)
{
	size_t len = strlen(near->typed);
	size_t d = edit_distance(near->typed, word);
	size_t limit = len / 3 + 1;

	/* a prefix of three letters or more is near in any case */
	if (len >= 3 && !strncmp(near->typed, word, len))
		d = 1;
	if (d > limit || d >= len)
		return;
	if (near->best && d >= near->distance)
		return;
	near->best = word;
	near->distance = d;
}
