/* table.h - a hash table from u64 hashes to u32 ids.
 *
 * The owner keeps the things themselves in an array and compares them: the
 * table only narrows the search. Open addressing, no tombstones, grows by
 * doubling, 12 bytes a slot. Add and find are O(1), also for hashes that were
 * chosen to collide, as long as they differ; removal shifts back. */
#ifndef STITCH_BASE_TABLE_H
#define STITCH_BASE_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both together: what is not in the caches costs one miss. */
struct table_slot {
	uint64_t hash;
	uint32_t id; /* id + 1; 0 is an empty slot */
} __attribute__((packed));

struct table {
	struct table_slot *slot;
	size_t n, size;
};

#define TABLE_NONE UINT32_MAX

typedef bool table_same_fn(const void *owner, uint32_t id, const void *key);

/* Zero-initialised is empty and ready. */
void table_release(struct table *t);
/* The id of the entry with this hash for which same() holds, or TABLE_NONE.
 * same NULL: the hash alone decides (integer keys through hash_u64()). */
uint32_t table_find(const struct table *t, uint64_t hash, table_same_fn *same,
		    const void *owner, const void *key);
/* The caller knows it is not there yet. */
void table_add(struct table *t, uint64_t hash, uint32_t id);
/* Removes the entry with this hash and id; false when there is none. */
bool table_remove(struct table *t, uint64_t hash, uint32_t id);

/* A bijection, so equal results mean equal inputs. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

/* For tables only: other results in each process, so that no input can be
 * made whose hashes are equal. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
uint64_t hash_u64s(const uint64_t *p, size_t n, uint64_t seed);
uint64_t hash_pair(uint64_t a, uint64_t b);

/* The same on all hosts and for ever: for what is stored or shown. */
uint64_t hash_content(const void *p, size_t n, uint64_t seed);
#endif
