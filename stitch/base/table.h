/* table.h - a hash table from u64 hashes to u32 ids.
 *
 * The owner keeps the objects in an array and compares them; the table only
 * narrows the search. Open addressing without tombstones: removal moves entries
 * back. The table doubles as it grows and needs 12 bytes for each slot. Adding
 * and finding are O(1), even for hashes chosen to collide, as long as they
 * differ. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hash and id are adjacent, so that an uncached slot costs one cache miss. */
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

/* True if up to five fields of x and y are all equal. */
#define SAME_1(f) x->f == y->f
#define SAME_2(f, ...) SAME_1(f) && SAME_1(__VA_ARGS__)
#define SAME_3(f, ...) SAME_1(f) && SAME_2(__VA_ARGS__)
#define SAME_4(f, ...) SAME_1(f) && SAME_3(__VA_ARGS__)
#define SAME_5(f, ...) SAME_1(f) && SAME_4(__VA_ARGS__)
#define SAME_OF(f1, f2, f3, f4, f5, same, ...) same

/* Defines the table_same_fn `name`: the expression `same` tells whether x, a
 * member of the owner such as item[id], matches y, a key of a type. A semicolon
 * follows, as with COMPARE_BY(). */
#define SAME_FUNCTION(name, of, member, type, same)                            \
	static bool name(const void *owner, uint32_t id, const void *key)      \
	{                                                                      \
		const __typeof__(((of *)0)->member) *x =                       \
			&((const of *)owner)->member;                          \
		const type *y = key;                                           \
                                                                               \
		return same;                                                   \
	}                                                                      \
	static bool name(const void *owner, uint32_t id, const void *key)

/* The same with all these fields equal. */
#define SAME_BY(name, of, member, type, ...)                                   \
	SAME_FUNCTION(name, of, member, type,                                  \
		      SAME_OF(__VA_ARGS__, SAME_5, SAME_4, SAME_3, SAME_2,     \
			      SAME_1, 0)(__VA_ARGS__))

/* Frees a table's memory. All zeros is an empty table. */
void table_release(struct table *t);
/* Returns the id of the entry that has this hash and for which same() returns
 * true, or TABLE_NONE. If same is NULL, the hash alone decides. */
uint32_t table_find(const struct table *t, uint64_t hash, table_same_fn *same,
		    const void *owner, const void *key);
/* Returns the id of the entry that has this hash, or TABLE_NONE: for keys that
 * are their own hash, or are hashed with hash_u64(). */
static inline uint32_t table_find_hash(const struct table *t, uint64_t hash)
{
	return table_find(t, hash, NULL, NULL, NULL);
}
/* Adds an entry. The caller must know that it is not there. */
void table_add(struct table *t, uint64_t hash, uint32_t id);
/* Like table_find_hash(), but if there is none, adds one with the id n and
 * returns that. */
static inline uint32_t table_find_or_add(struct table *t, uint64_t hash,
					 size_t n)
{
	uint32_t id = table_find_hash(t, hash);

	if (id == TABLE_NONE)
		table_add(t, hash, id = (uint32_t)n);
	return id;
}
/* Removes the entry with this hash and id. Returns false if there is none. */
bool table_remove(struct table *t, uint64_t hash, uint32_t id);

/* Hashes a number. A bijection: equal results mean equal inputs. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

/* Hashes two numbers, also a bijection. */
static inline uint64_t hash_u32s(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b);
}

/* Numbers that count up, and come in about this order, are better used
 * unhashed: those that differ only in these low bits are adjacent in a table,
 * so that one cache miss serves several. */
#define HASH_NEAR_BITS 3

/* Hashes for tables only. Results differ between processes, so that no one can
 * construct inputs with equal hashes. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
uint64_t hash_u64s(const uint64_t *p, size_t n, uint64_t seed);
uint64_t hash_pair(uint64_t a, uint64_t b);

/* A hash to be stored or shown: the same on all hosts and in all versions. */
uint64_t hash_content(const void *p, size_t n, uint64_t seed);
