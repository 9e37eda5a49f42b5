/* table.c - a hash table from u64 hashes to u32 ids. */
#include "stitch/table.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/mem.h"

/* Load stays below 2/3: linear probing gets long chains above that. */
#define MIN_SIZE 64

void table_release(struct table *t)
{
	free(t->hash);
	free(t->id);
	memset(t, 0, sizeof(*t));
}

static void put(struct table *t, uint64_t hash, uint32_t stored)
{
	size_t i = hash & (t->size - 1);

	while (t->id[i])
		i = (i + 1) & (t->size - 1);
	t->hash[i] = hash;
	t->id[i] = stored;
}

static void grow(struct table *t)
{
	struct table old = *t;

	t->size = old.size ? old.size * 2 : MIN_SIZE;
	t->hash = mem_new(t->size, sizeof(*t->hash));
	t->id = mem_new(t->size, sizeof(*t->id));
	for (size_t i = 0; i < old.size; i++)
		if (old.id[i])
			put(t, old.hash[i], old.id[i]);
	free(old.hash);
	free(old.id);
}

uint32_t table_find(const struct table *t, uint64_t hash, table_same_fn *same,
		    const void *owner, const void *key)
{
	if (!t->n)
		return TABLE_NONE;
	for (size_t i = hash & (t->size - 1); t->id[i];
	     i = (i + 1) & (t->size - 1)) {
		if (t->hash[i] != hash)
			continue;
		if (!same || same(owner, t->id[i] - 1, key))
			return t->id[i] - 1;
	}
	return TABLE_NONE;
}

void table_add(struct table *t, uint64_t hash, uint32_t id)
{
	if ((t->n + 1) * 3 > t->size * 2)
		grow(t);
	put(t, hash, id + 1);
	t->n++;
}

/* Moves later entries of the probe chain back into the hole at i, so that no
 * search stops too early. */
static void close_hole(struct table *t, size_t i)
{
	size_t mask = t->size - 1;

	for (size_t j = (i + 1) & mask; t->id[j]; j = (j + 1) & mask) {
		size_t home = t->hash[j] & mask;

		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		t->hash[i] = t->hash[j];
		t->id[i] = t->id[j];
		i = j;
	}
	t->id[i] = 0;
}

bool table_remove(struct table *t, uint64_t hash, uint32_t id)
{
	if (!t->n)
		return false;
	for (size_t i = hash & (t->size - 1); t->id[i];
	     i = (i + 1) & (t->size - 1)) {
		if (t->hash[i] != hash || t->id[i] != id + 1)
			continue;
		close_hole(t, i);
		t->n--;
		return true;
	}
	return false;
}

uint64_t hash_u64s(const uint64_t *p, size_t n, uint64_t seed)
{
	/* Two lanes: the multiplications of one word do not wait for the
	 * word before. */
	uint64_t a = seed ^ 0x9e3779b97f4a7c15u;
	uint64_t b = (uint64_t)n * 0xd6e8feb86659fd93u;
	size_t i = 0;

	for (; i + 1 < n; i += 2) {
		a = (a ^ p[i]) * 0xff51afd7ed558ccdu;
		b = (b ^ p[i + 1]) * 0xc4ceb9fe1a85ec53u;
		a ^= a >> 29;
		b ^= b >> 31;
	}
	if (i < n) {
		a = (a ^ p[i]) * 0xff51afd7ed558ccdu;
		a ^= a >> 29;
	}
	return hash_u64(a + (b ^ (b >> 27)) * 0x9e3779b97f4a7c15u);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *s = p;
	uint64_t h = seed ^ (uint64_t)n * 0x9e3779b97f4a7c15u;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, sizeof(w));
		w = le64toh(w); /* content hashes are the same on all hosts */
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (; n; s++, n--)
		h = (h ^ *s) * 0x100000001b3u;
	return hash_u64(h);
}
