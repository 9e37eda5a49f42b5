/* rename.c - threads whose tid changed. */
#include "cli/causes/rename.h"

#include <stdlib.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

void renames_add(struct renames *r, const struct rename_row *row)
{
	*mem_add(r->at, r->n, r->cap) = *row;
	r->sorted = false;
}

static int renames_compare(const void *a, const void *b)
{
	const struct rename_row *x = a;
	const struct rename_row *y = b;

	return compare_numbers(x->to, y->to)
		       ?: compare_numbers(x->from, y->from)
		       ?: compare_numbers(x->time, y->time);
}

const struct rename_row *renames_find(struct renames *r, int32_t from,
				      int32_t to, int64_t time)
{
	const struct rename_row want = { .time = time, .from = from, .to = to };
	size_t at;

	if (r->n && !r->sorted)
		qsort(r->at, r->n, sizeof(*r->at), renames_compare);
	r->sorted = true;
	at = search_where(r->n, i, renames_compare(&r->at[i], &want) >= 0);
	return at < r->n && r->at[at].from == from && r->at[at].to == to
		       ? &r->at[at]
		       : NULL;
}
