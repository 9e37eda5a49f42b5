/* shared_space.c - processes that may share an address space. */
#include "stitch/tasks/shared_space.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Most ranges of one kin; more of them become one from the lowest to the
 * highest address. */
#define RANGES_MAX 1024

void shared_spaces_release(struct shared_spaces *ks)
{
	for (size_t i = 0; i < ks->n; i++)
		free(ks->kin[i].at);
	free(ks->kin);
	free(ks->free);
	*ks = (struct shared_spaces){ 0 };
}

uint32_t shared_spaces_join(struct shared_spaces *ks, uint32_t kin)
{
	if (!kin && ks->n_free) {
		kin = ks->free[--ks->n_free];
	} else if (!kin) {
		(void)mem_add(ks->kin, ks->n, ks->cap);
		kin = (uint32_t)ks->n;
		ks->kin[kin - 1] = (struct shared_space){ 0 };
	}
	ks->kin[kin - 1].members++;
	return kin;
}

void shared_spaces_leave(struct shared_spaces *ks, uint32_t kin)
{
	if (!kin || --ks->kin[kin - 1].members)
		return;
	free(ks->kin[kin - 1].at);
	ks->kin[kin - 1] = (struct shared_space){ 0 };
	*mem_add(ks->free, ks->n_free, ks->cap_free) = kin;
}

/* Returns the first range that ends at or above the address. */
static size_t shared_space_find(const struct shared_space *k, uint64_t addr)
{
	return search_where(k->n, i, k->at[i].end >= addr);
}

void shared_spaces_map(struct shared_spaces *ks, uint32_t kin, uint64_t start,
		       uint64_t end)
{
	if (!kin || start >= end)
		return;
	struct shared_space *k = &ks->kin[kin - 1];
	size_t i = shared_space_find(k, start);
	size_t n = i; /* behind those that the new one touches */

	for (; n < k->n && k->at[n].start <= end; n++) {
		lower_to(start, k->at[n].start);
		raise_to(end, k->at[n].end);
	}
	if (n == i && k->n == RANGES_MAX) {
		k->at[0].end = k->at[k->n - 1].end;
		k->n = 1;
		shared_spaces_map(ks, kin, start, end);
		return;
	}
	if (n == i)
		mem_grow(k->at, k->cap, k->n + 1);
	memmove(k->at + i + 1, k->at + n, (k->n - n) * sizeof(*k->at));
	k->n = k->n + 1 - (n - i);
	k->at[i] = (struct space_range){ start, end };
}

bool shared_spaces_maps(const struct shared_spaces *ks, uint32_t kin,
			uint64_t addr)
{
	if (!kin)
		return false;
	const struct shared_space *k = &ks->kin[kin - 1];
	size_t i = shared_space_find(k, addr);

	/* the first may end where the address is */
	i += i < k->n && k->at[i].end == addr;
	return i < k->n && k->at[i].start <= addr;
}
