/* clock_map.c - converts the times of one clock to another. */
#include "stitch/base/clock_map.h"
#include "stitch/base/wide.h"

/* The sums are unsigned and may wrap in a hostile capture. The resulting time
 * is wrong, but nothing else happens. */
static uint64_t apply_offset(const struct clock_map *m, uint64_t t)
{
	if (m->drift)
		t += wide_shift_signed((int64_t)(t - m->at), m->drift, 48);
	return t + (uint64_t)m->offset;
}

uint64_t clock_map_time(const struct clock_map *m, uint64_t t)
{
	if (m->tsc.mult)
		t = m->tsc.zero +
		    wide_shift(wide_mul(t, m->tsc.mult), m->tsc.shift & 63);
	return apply_offset(m, t);
}

struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b)
{
	struct clock_map c = { .tsc = a->tsc };

	c.at = a->drift ? a->at : b->at - (uint64_t)a->offset;
	c.offset = (int64_t)(apply_offset(b, apply_offset(a, c.at)) - c.at);
	c.drift = (int64_t)((uint64_t)a->drift + (uint64_t)b->drift +
			    wide_shift_signed(a->drift, b->drift, 48));
	return c;
}
