/* counter_runs.c - the missing counters of a CPU, as a sorted list of runs. */
#include "stitch/audit/counter_runs.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

void counter_runs_release(struct counter_runs *rs)
{
	free(rs->at);
	*rs = (struct counter_runs){ 0 };
}

void counter_runs_insert(struct counter_runs *rs, size_t at,
			 const struct counter_run *r)
{
	mem_grow(rs->at, rs->cap, rs->n + 1);
	memmove(rs->at + at + 1, rs->at + at, (rs->n - at) * sizeof(*rs->at));
	rs->at[at] = *r;
	rs->n++;
}

bool counter_runs_fill(struct counter_runs *rs, uint64_t e, uint8_t step)
{
	/* the first run that ends at or above e */
	size_t i = search_where(rs->n, k, rs->at[k].hi >= e);

	if (i == rs->n || rs->at[i].lo > e)
		return false;
	struct counter_run *r = &rs->at[i];

	if (r->lo == r->hi) {
		rs->n--;
		memmove(r, r + 1, (rs->n - i) * sizeof(*r));
	} else if (r->lo == e) {
		r->lo += step;
	} else if (r->hi == e) {
		r->hi -= step;
	} else {
		struct counter_run low = *r;

		low.hi = e - step;
		r->lo = e + step;
		counter_runs_insert(rs, i, &low);
	}
	return true;
}

void counter_runs_drop(struct counter_runs *rs, size_t n)
{
	rs->n -= n;
	memmove(rs->at, rs->at + n, rs->n * sizeof(*rs->at));
}
