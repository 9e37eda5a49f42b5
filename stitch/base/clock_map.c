/* clock_map.c - converts the times of one clock to another. */
#include "stitch/base/clock_map.h"

/* The sums are unsigned and may wrap in a hostile capture. The resulting time
 * is wrong, but nothing else happens. */
static uint64_t apply_offset(const struct clock_map *m, uint64_t t)
{
	if (m->drift) {
		__int128 by = (__int128)(int64_t)(t - m->at) * m->drift;

		t += (uint64_t)(by >> 48);
	}
	return t + (uint64_t)m->offset;
}

uint64_t clock_map_time(const struct clock_map *m, uint64_t t)
{
	if (m->tsc.mult)
		t = m->tsc.zero +
		    (uint64_t)(((unsigned __int128)t * m->tsc.mult) >>
			       (m->tsc.shift & 63));
	return apply_offset(m, t);
}

struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b)
{
	struct clock_map c = { .tsc = a->tsc };

	c.at = a->drift ? a->at : b->at - (uint64_t)a->offset;
	c.offset = (int64_t)(apply_offset(b, apply_offset(a, c.at)) - c.at);
	__int128 drift = (__int128)a->drift + b->drift +
			 ((__int128)a->drift * b->drift >> 48);

	c.drift = (int64_t)drift;
	return c;
}
