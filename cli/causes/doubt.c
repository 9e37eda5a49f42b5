/* doubt.c - times in which a recorder may have paused. */
#include "cli/causes/doubt.h"

#include <stdlib.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

size_t doubts_add(struct doubts *d, const struct doubt *one)
{
	*mem_add(d->at, d->n, d->cap) = *one;
	return d->n;
}

COMPARE_BY(doubts_compare, struct doubt, from);

void doubts_merge(struct doubts *d)
{
	size_t n = 0;

	qsort(d->at, d->n, sizeof(*d->at), doubts_compare);
	for (size_t i = 1; i < d->n; i++) {
		if (d->at[i].from > d->at[n].to)
			d->at[++n] = d->at[i];
		else if (d->at[i].to > d->at[n].to)
			d->at[n].to = d->at[i].to;
	}
	d->n = n + 1;
}
