/* pool.c - memory for records that were made and not released yet.
 *
 * Records are released roughly in the order in which they were made, so a block
 * is soon free again. */
#include "formats/ctf/pool.h"

#include "stitch/base/mem.h"

/* Small, as one record that is not released keeps its whole block. */
#define BLOCK ((uint32_t)256 << 10)

/* Makes an unused block a spare one. Frees the memory of a block that is larger
 * than BLOCK. */
static void ctf_pool_free_block(struct ctf_pool *pool, uint32_t i)
{
	struct ctf_block *b = &pool->block[i];

	if (b->cap != BLOCK) {
		free(b->data);
		*b = (struct ctf_block){ 0 };
	}
	*mem_add(pool->spare, pool->n_spare, pool->cap_spare) = i;
}

void *ctf_pool_more(struct ctf_pool *pool, size_t len)
{
	const uint32_t need = ((uint32_t)len + 7) & ~7u;
	const uint32_t old = pool->now;
	uint32_t i;

	pool->now = 0;
	if (old && !pool->block[old - 1].live)
		ctf_pool_free_block(pool, old - 1);
	if (pool->n_spare && need <= BLOCK) {
		i = pool->spare[--pool->n_spare];
	} else {
		i = (uint32_t)pool->n;
		*mem_add(pool->block, pool->n, pool->cap) =
			(struct ctf_block){ 0 };
	}
	struct ctf_block *b = &pool->block[i];

	if (!b->data) {
		b->cap = need > BLOCK ? need : BLOCK;
		b->data = mem_new(b->cap, 1);
	}
	b->used = b->live = 0;
	pool->now = i + 1;
	return b->data;
}

void ctf_pool_drop(struct ctf_pool *pool, uint64_t handle)
{
	uint32_t i = (uint32_t)(handle >> 32);
	struct ctf_block *b = &pool->block[i];

	if (--b->live)
		return;
	if (pool->now == i + 1)
		b->used = 0;
	else
		ctf_pool_free_block(pool, i);
}

void ctf_pool_release(struct ctf_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free(pool->block[i].data);
	free_all(pool->block, pool->spare);
}
