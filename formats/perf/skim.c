/* skim.c - the times of plain records in a row.
 *
 * Of nearly all records the scan needs nothing but the time. They are passed
 * over here in half of the instructions that a walk of any records takes.
 * What is special stops it: whoever calls takes that record by itself. */
#include "formats/perf/perf.h"
#include "formats/perf/plain.h"

/* Returns whether the record stops a row of plain ones. A mapping of the kernel
 * does, as its build-id may be in it; those of programs are as plain as others,
 * and there are so many that a row of them alone would be short. */
static inline bool skim_stops(const struct perf_skim *s,
			      const struct perf_plain *r)
{
	bool kernel =
		r->type == PR_MMAP2 && (r->misc & PM_CPUMODE) == PM_KERNEL;

	return kernel || r->key < s->flushed ||
	       (s->last && times_are_far(r->key, s->last));
}

static inline void skim_count(struct perf_skim *s, uint64_t key)
{
	if (!s->n++)
		s->first = s->low = s->high = key;
	s->last = key;
	if (key < s->low)
		s->low = key;
	if (key > s->high)
		s->high = key;
	if (key <= s->limit && key > s->behind)
		s->behind = key;
}

void perf_skim(struct perf_layout *l, struct bytes *b, uint64_t place,
	       struct perf_skim *s)
{
	uint64_t block = place >> PERF_BLOCK_BITS;
	struct perf_plain r;

	s->n = s->low = s->high = s->behind = 0;
	s->begin = bytes_off(b);
	s->block = block;
	s->n_floor = 0;
	s->floor[0] = UINT64_MAX;
	while (perf_plain_peek(l, b, &r) && !skim_stops(s, &r)) {
		if (place >> PERF_BLOCK_BITS != block) {
			if (s->n_floor == SKIM_BLOCKS - 1)
				break;
			block = place >> PERF_BLOCK_BITS;
			s->floor[++s->n_floor] = UINT64_MAX;
		}
		if (r.key < s->floor[s->n_floor])
			s->floor[s->n_floor] = r.key;
		skim_count(s, r.key);
		if (r.type == PR_MMAP2)
			perf_plain_take_map(l->files, b, r.misc, r.size);
		place += r.size;
		bytes_skip(b, r.size, NULL);
		perf_walk_fetch(b, r.size);
	}
	s->n_floor += s->n != 0;
	s->end = bytes_off(b);
}
