/* unwinders.c - processes that unwind themselves: when each logged stacks. */
#include "stitch/unwinders.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/mem.h"

void unwinders_release(struct unwinders *us)
{
	free(us->life);
}

uint64_t unwinders_tick(struct unwinders *us)
{
	return ++us->now;
}

void unwinders_logged(struct unwinders *us, uint32_t process)
{
	size_t old = us->n;

	if (process >= old) {
		us->n = process + (size_t)1;
		us->life =
			mem_grow(us->life, &us->cap, us->n, sizeof(*us->life));
		memset(us->life + old, 0, (us->n - old) * sizeof(*us->life));
	}
	struct unwinder_life *l = &us->life[process];

	if (!l->first)
		l->first = us->now;
	l->last = us->now;
}

struct unwinder_life unwinders_life(const struct unwinders *us,
				    uint32_t process)
{
	const struct unwinder_life none = { 0, 0 };

	return process < us->n ? us->life[process] : none;
}
