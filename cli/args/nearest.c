/* nearest.c - finds the word that somebody may have meant. */
#include "cli/args/nearest.h"

#include "stitch/base/mem.h"

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts insertions, deletions, substitutions and swaps of neighbouring
 * letters. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[3][NEAREST_MAX + 1];
	size_t na = strlen(a);
	size_t nb = strlen(b);

	if (na > NEAREST_MAX || nb > NEAREST_MAX)
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
