/* moments.h - what happened at millions of times, in 16 bytes each: the time,
 * the event that tells it, and two numbers.
 *
 * Times and events are kept as distances from those of the first of 256 in a
 * row, so they are best added in order. What does not fit so is kept whole
 * beside them, and is read as it was written all the same. What many of them
 * have in common is kept once, and known by a number. */
#ifndef CLI_CAUSES_MOMENTS_H
#define CLI_CAUSES_MOMENTS_H
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct moment {
	int64_t time, event;
	uint64_t a; /* best below 2^32 */
	uint32_t b; /* below UINT32_MAX */
};

struct moment_packed {
	uint64_t time : 40;
	uint64_t event : 24;
	uint32_t a;
	uint32_t b; /* UINT32_MAX: it is moments.odd[a] */
};
_Static_assert(sizeof(struct moment_packed) == 16, "millions of them");

struct moment_base {
	uint64_t time, event;
};

#define MOMENTS_ROW 256

/* All zeros is empty. */
struct moments {
	struct moment_packed *item;
	struct moment_base *base; /* of each row */
	struct moment *odd;	  /* those that do not fit */
	size_t n, cap, n_base, cap_base, n_odd, cap_odd;
};

/* Replaces item i, or adds one if i is m->n. */
void moments_put(struct moments *m, size_t i, const struct moment *x);
static inline struct moment moments_get(const struct moments *m, size_t i)
{
	const struct moment_packed *x = &m->item[i];
	const struct moment_base *of = &m->base[i / MOMENTS_ROW];

	if (x->b == UINT32_MAX)
		return m->odd[x->a];
	return (struct moment){ (int64_t)(of->time + x->time),
				(int64_t)(of->event + x->event), x->a, x->b };
}
/* Returns the first one of an event, where events ascend; m->n: there is none.
 */
size_t moments_find(const struct moments *m, int64_t event);
void moments_release(struct moments *m);

/* What many have in common: 16 bytes, without padding. */
struct kind {
	uint64_t word[2];
};

/* All zeros is empty. */
struct kinds {
	struct kind *at; /* by number */
	size_t n, cap;
	struct table index;
};

/* Returns the number of a kind of 16 bytes, the same for equal ones. */
uint32_t kinds_add(struct kinds *k, const struct kind *x);
void kinds_release(struct kinds *k);
#endif
