/* clock_bounds.c - by how much the clocks of CPUs differ at the most. */
#include "stitch/audit/clock_bounds.h"

#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"

/* Most pairs of CPUs that are kept. */
#define BOUNDS_MAX 4096
/* Most CPUs among which bounds are added up; the time for it grows with the
 * third power. */
#define CLOSE_MAX 64

void clock_bounds_release(struct clock_bounds *cb)
{
	free(cb->at);
	table_release(&cb->by_cpus);
	*cb = (struct clock_bounds){ 0 };
}

static void clock_bounds_add(struct clock_bounds *cb, int32_t ahead,
			     int32_t behind, int64_t most)
{
	uint64_t key = hash_u32s((uint32_t)ahead, (uint32_t)behind);
	uint32_t i = table_find_hash(&cb->by_cpus, key);

	if (i != TABLE_NONE) {
		lower_to(cb->at[i].most, most);
		return;
	}
	if (cb->n == BOUNDS_MAX)
		return;
	table_add(&cb->by_cpus, key, (uint32_t)cb->n);
	*mem_add(cb->at, cb->n, cb->cap) =
		(struct clock_bound){ ahead, behind, most };
}

void clock_bounds_note(struct clock_bounds *cb, int32_t first, int64_t since,
		       int32_t second, int64_t time)
{
	if (first != second && first >= 0 && second >= 0)
		clock_bounds_add(cb, second, first,
				 saturating_apart(time, since));
}

void clock_bounds_join(struct clock_bounds *cb,
		       const struct clock_bounds *other)
{
	for (size_t i = 0; i < other->n; i++)
		clock_bounds_add(cb, other->at[i].ahead, other->at[i].behind,
				 other->at[i].most);
}

int64_t clock_bounds_most(const struct clock_bounds *cb, int32_t ahead,
			  int32_t behind)
{
	uint32_t i = table_find_hash(
		&cb->by_cpus, hash_u32s((uint32_t)ahead, (uint32_t)behind));

	return i == TABLE_NONE ? INT64_MAX : cb->at[i].most;
}

/* Returns the CPU's place among those that have bounds, or CLOSE_MAX if there
 * are too many. */
static size_t clock_bounds_place(int32_t *cpu, size_t *n, int32_t want)
{
	size_t i = 0;

	while (i < *n && cpu[i] != want)
		i++;
	if (i == *n && i < CLOSE_MAX)
		cpu[(*n)++] = want;
	return i;
}

void clock_bounds_close(struct clock_bounds *cb)
{
	int32_t cpu[CLOSE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < 2 * cb->n; i++) {
		const struct clock_bound *b = &cb->at[i / 2];

		if (clock_bounds_place(cpu, &n, i % 2 ? b->ahead : b->behind) ==
		    CLOSE_MAX)
			return;
	}
	for (size_t i = 0; i < n * n * n; i++) {
		int32_t by = cpu[i / n / n];
		int32_t ahead = cpu[i / n % n];
		int32_t behind = cpu[i % n];
		int64_t a = clock_bounds_most(cb, ahead, by);
		int64_t b = clock_bounds_most(cb, by, behind);
		int64_t most;

		if (ahead != behind && a != INT64_MAX && b != INT64_MAX &&
		    !__builtin_add_overflow(a, b, &most))
			clock_bounds_add(cb, ahead, behind, most);
	}
}
