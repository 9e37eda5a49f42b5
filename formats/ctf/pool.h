/* pool.h - memory for records that were made and not released yet. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct ctf_block {
	unsigned char *data;
	uint32_t cap, used, live;
};

struct ctf_pool {
	struct ctf_block *block;
	size_t n, cap;
	uint32_t *spare; /* indices of empty blocks */
	size_t n_spare, cap_spare;
	uint32_t now; /* index + 1 of the block that is being filled; 0: none */
};

/* Makes another block the one that is filled, and returns room for len bytes in
 * it. */
void *ctf_pool_more(struct ctf_pool *pool, size_t len);
/* Returns room for len bytes; the next ctf_pool_take() takes some or all of
 * them. */
static inline void *ctf_pool_room(struct ctf_pool *pool, size_t len)
{
	const struct ctf_block *b =
		pool->now ? &pool->block[pool->now - 1] : NULL;

	return b && b->cap - b->used >= ((len + 7) & ~(size_t)7)
		       ? b->data + b->used
		       : ctf_pool_more(pool, len);
}
/* Returns len bytes and sets *handle; they stay in place until
 * ctf_pool_drop(). */
static inline void *ctf_pool_take(struct ctf_pool *pool, size_t len,
				  uint64_t *handle)
{
	void *at = ctf_pool_room(pool, len);
	struct ctf_block *b = &pool->block[pool->now - 1];

	*handle = (uint64_t)(pool->now - 1) << 32 | b->used;
	b->used += ((uint32_t)len + 7) & ~7u;
	b->live++;
	return at;
}
static inline void *ctf_pool_at(const struct ctf_pool *pool, uint64_t handle)
{
	return pool->block[handle >> 32].data + (uint32_t)handle;
}
void ctf_pool_drop(struct ctf_pool *pool, uint64_t handle);
void ctf_pool_release(struct ctf_pool *pool);
