/* loss_ends.c - a tree of the ends of losses. */
#include "analyze/causes/loss_ends.h"

#include "stitch/base/mem.h"

void loss_ends_init(struct loss_ends *e, size_t n)
{
	e->n = n;
	for (e->size = 1; e->size < n; e->size *= 2)
		;
	e->latest = mem_new(e->size * 2, sizeof(*e->latest));
	for (size_t i = 0; i < e->size; i++)
		e->latest[e->size + i] = INT64_MIN;
}

void loss_ends_release(struct loss_ends *e)
{
	free(e->latest);
}

void loss_ends_put(struct loss_ends *e, size_t i, int64_t end)
{
	e->latest[e->size + i] = end;
}

void loss_ends_seal(struct loss_ends *e)
{
	for (size_t i = e->size; i-- > 1;) {
		e->latest[i] = e->latest[2 * i];
		raise_to(e->latest[i], e->latest[2 * i + 1]);
	}
}

size_t loss_ends_find(const struct loss_ends *e, size_t i, int64_t time)
{
	size_t at = i + e->size;

	if (i >= e->n)
		return e->n;
	while (e->latest[at] < time) {
		at++;
		if (!(at & (at - 1)))
			return e->n; /* that was the last one of its row */
		while (!(at & 1))
			at /= 2;
	}
	while (at < e->size)
		at = 2 * at + (e->latest[2 * at] < time);
	return at - e->size;
}

int64_t loss_ends_latest(const struct loss_ends *e, size_t i, size_t j)
{
	int64_t latest = INT64_MIN;

	for (i += e->size, j += e->size; i < j; i /= 2, j /= 2) {
		if (i & 1)
			raise_to(latest, e->latest[i]);
		if (j & 1)
			raise_to(latest, e->latest[j - 1]);
		i += i & 1;
	}
	return latest;
}
