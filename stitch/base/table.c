/* table.c - a hash table from u64 hashes to u32 ids. */
#include "stitch/base/table.h"

#include <endian.h>
#include <sys/auxv.h>

#include "stitch/base/mem.h"
#include "stitch/base/wide.h"

/* Keeps the load below 2/3, as linear probing builds long chains above that. */
#define MIN_SIZE 64

/* Without a secret key, an attacker can compute cookies whose hashes have equal
 * low bits: 40,000 of them took 4 s instead of 0.2 s, and a million would take
 * an hour. The key is random in each process and set once, before main().
 * Results do not depend on it, because ids follow the order of insertion. */
static uint64_t hash_secret[4] = {
	0x2d358dccaa6c78a5u,
	0x8bb84b93962eacc9u,
	0x4b33a62ed433d4a3u,
	0x4d5a2da51de1aa47u,
};

__attribute__((constructor)) static void set_hash_secret(void)
{
	const void *seed = (const void *)getauxval(AT_RANDOM);
	uint64_t word[2] = { 0 };

	if (seed)
		memcpy(word, seed, sizeof(word));
	for (unsigned int i = 0; i < 4; i++)
		hash_secret[i] =
			hash_u64(hash_secret[i] ^ hash_u64(word[i & 1] + i));
	hash_secret[1] |= 1;
}

/* Combines both halves of the product: each bit of the result depends on all
 * bits of a and b. */
static inline uint64_t multiply_fold(uint64_t a, uint64_t b)
{
	struct wide m = wide_mul(a, b);

	return m.lo ^ m.hi;
}

/* Returns the home slot of a hash. Hashes that differ only in their low bits
 * get adjacent slots. */
static inline size_t table_home(const struct table *t, uint64_t hash)
{
	uint64_t high = hash >> HASH_NEAR_BITS ^ hash_secret[0];
	uint64_t low = hash & ((1u << HASH_NEAR_BITS) - 1);

	return (size_t)(multiply_fold(high, hash_secret[1]) << HASH_NEAR_BITS |
			low) &
	       (t->size - 1);
}

void table_release(struct table *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

static void table_put(struct table *t, uint64_t hash, uint32_t stored)
{
	size_t i = table_home(t, hash);

	while (t->slot[i].id)
		i = (i + 1) & (t->size - 1);
	t->slot[i] = (struct table_slot){ hash, stored };
}

uint32_t table_find(const struct table *t, uint64_t hash, table_same_fn *same,
		    const void *owner, const void *key)
{
	if (!t->n)
		return TABLE_NONE;
	for (size_t i = table_home(t, hash); t->slot[i].id;
	     i = (i + 1) & (t->size - 1)) {
		if (t->slot[i].hash != hash)
			continue;
		if (!same || same(owner, t->slot[i].id - 1, key))
			return t->slot[i].id - 1;
	}
	return TABLE_NONE;
}

void table_add(struct table *t, uint64_t hash, uint32_t id)
{
	if ((t->n + 1) * 3 > t->size * 2) {
		struct table old = *t;

		t->size = old.size ? old.size * 2 : MIN_SIZE;
		t->slot = mem_new_table(t->size, sizeof(*t->slot));
		for (size_t i = 0; i < old.size; i++)
			if (old.slot[i].id)
				table_put(t, old.slot[i].hash, old.slot[i].id);
		free(old.slot);
	}
	table_put(t, hash, id + 1);
	t->n++;
}

bool table_remove(struct table *t, uint64_t hash, uint32_t id)
{
	if (!t->n)
		return false;
	for (size_t i = table_home(t, hash); t->slot[i].id;
	     i = (i + 1) & (t->size - 1)) {
		if (t->slot[i].hash != hash || t->slot[i].id != id + 1)
			continue;
		/* Move later entries of the probe chain back into the hole at
		 * i, so that no search stops too early. */
		const size_t mask = t->size - 1;

		for (size_t j = (i + 1) & mask; t->slot[j].id;
		     j = (j + 1) & mask) {
			size_t want = table_home(t, t->slot[j].hash);

			if (((j - want) & mask) < ((j - i) & mask))
				continue;
			t->slot[i] = t->slot[j];
			i = j;
		}
		t->slot[i].id = 0;
		t->n--;
		return true;
	}
	return false;
}

uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return multiply_fold(a ^ hash_secret[2], b ^ hash_secret[3]);
}

/* Uses two chains of products, because each product waits for the previous
 * one. */
uint64_t hash_u64s(const uint64_t *p, size_t n, uint64_t seed)
{
	uint64_t h = seed ^ hash_secret[0];
	uint64_t g = n ^ hash_secret[3];
	size_t i = 0;

	for (; i + 3 < n; i += 4) {
		h = multiply_fold(p[i] ^ hash_secret[1], p[i + 1] ^ h);
		g = multiply_fold(p[i + 2] ^ hash_secret[2], p[i + 3] ^ g);
	}
	for (; i + 1 < n; i += 2)
		h = multiply_fold(p[i] ^ hash_secret[1], p[i + 1] ^ h);
	if (i < n)
		h = multiply_fold(p[i] ^ hash_secret[2], h);
	return multiply_fold(h ^ hash_secret[2], g);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *s = p;
	uint64_t h = seed ^ hash_secret[0];
	uint64_t g = n ^ hash_secret[3];
	uint64_t w[4];
	size_t left = n;

	for (; left >= sizeof(w); s += sizeof(w), left -= sizeof(w)) {
		memcpy(w, s, sizeof(w));
		h = multiply_fold(w[0] ^ hash_secret[1], w[1] ^ h);
		g = multiply_fold(w[2] ^ hash_secret[2], w[3] ^ g);
	}
	memset(w, 0, sizeof(w));
	if (left)
		memcpy(w, s, left);
	h = multiply_fold(w[0] ^ hash_secret[1], w[1] ^ h);
	g = multiply_fold(w[2] ^ hash_secret[2], w[3] ^ g);
	return multiply_fold(h ^ hash_secret[2], g);
}

uint64_t hash_content(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *s = p;
	uint64_t h = seed ^ (uint64_t)n * 0x9e3779b97f4a7c15u;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, sizeof(w));
		w = le64toh(
			w); /* content hashes must be the same on all hosts */
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (; n; s++, n--)
		h = (h ^ *s) * 0x100000001b3u;
	return hash_u64(h);
}
