/* kin.c - processes that may share an address space. */
#include "stitch/tasks/kin.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Most ranges of one kin; more of them become one from the lowest to the
 * highest address. */
#define RANGES_MAX 1024

void kins_release(struct kins *ks)
{
	for (size_t i = 0; i < ks->n; i++)
		free(ks->kin[i].at);
	free(ks->kin);
	free(ks->free);
	*ks = (struct kins){ 0 };
}

uint32_t kins_join(struct kins *ks, uint32_t kin)
{
	if (!kin && ks->n_free) {
		kin = ks->free[--ks->n_free];
	} else if (!kin) {
		(void)mem_add(ks->kin, ks->n, ks->cap);
		kin = (uint32_t)ks->n;
		ks->kin[kin - 1] = (struct kin){ 0 };
	}
	ks->kin[kin - 1].members++;
	return kin;
}

void kins_leave(struct kins *ks, uint32_t kin)
{
	if (!kin || --ks->kin[kin - 1].members)
		return;
	free(ks->kin[kin - 1].at);
	ks->kin[kin - 1] = (struct kin){ 0 };
	*mem_add(ks->free, ks->n_free, ks->cap_free) = kin;
}

/* Returns the first range that ends at or above the address. */
static size_t kin_find(const struct kin *k, uint64_t addr)
{
	return search_where(k->n, i, k->at[i].end >= addr);
}

void kins_map(struct kins *ks, uint32_t kin, uint64_t start, uint64_t end)
{
	if (!kin || start >= end)
		return;
	struct kin *k = &ks->kin[kin - 1];
	size_t i = kin_find(k, start);
	size_t n = i; /* behind those that the new one touches */

	for (; n < k->n && k->at[n].start <= end; n++) {
		lower_to(start, k->at[n].start);
		raise_to(end, k->at[n].end);
	}
	if (n == i && k->n == RANGES_MAX) {
		k->at[0].end = k->at[k->n - 1].end;
		k->n = 1;
		kins_map(ks, kin, start, end);
		return;
	}
	if (n == i)
		mem_grow(k->at, k->cap, k->n + 1);
	memmove(k->at + i + 1, k->at + n, (k->n - n) * sizeof(*k->at));
	k->n = k->n + 1 - (n - i);
	k->at[i] = (struct kin_range){ start, end };
}

bool kins_maps(const struct kins *ks, uint32_t kin, uint64_t addr)
{
	if (!kin)
		return false;
	const struct kin *k = &ks->kin[kin - 1];
	size_t i = kin_find(k, addr);

	/* the first may end where the address is */
	i += i < k->n && k->at[i].end == addr;
	return i < k->n && k->at[i].start <= addr;
}
