/* chunk.c - memory for records that are not in a mapped file.
 *
 * A chunk counts its references: one of the code that fills or walks it, and
 * one for each ref to a record in it. A handle is the top bit, the chunk's id
 * and the offset of the record in the chunk. */
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"

#define HANDLE_CHUNK ((uint64_t)1 << 63)

struct perf_chunk *perf_chunk_new(struct perf *p, size_t cap, uint64_t off,
				  bool flat)
{
	struct perf_chunk *c = mem_new(1, sizeof(*c));

	c->data = mem_grow(NULL, &c->cap, cap, 1);
	c->off = off;
	c->flat = flat;
	c->refs = 1;
	c->id = p->chunk_base + p->n_chunk;
	*mem_add(p->chunk, p->n_chunk, p->cap_chunk) = c;
	p->chunk_bytes += c->cap;
	return c;
}

struct perf_chunk *perf_chunk_find(struct perf *p, uint64_t handle)
{
	uint64_t id = (handle & ~HANDLE_CHUNK) >> 32;

	if (!(handle & HANDLE_CHUNK) || id < p->chunk_base ||
	    id - p->chunk_base >= p->n_chunk)
		return NULL;
	return p->chunk[id - p->chunk_base];
}

uint64_t perf_chunk_handle(const struct perf_chunk *c, size_t at)
{
	return HANDLE_CHUNK | c->id << 32 | at;
}

/* Drops the ids of freed chunks from the front of the list. */
static void perf_chunk_trim_list(struct perf *p)
{
	size_t n = 0;

	while (n < p->n_chunk && !p->chunk[n])
		n++;
	/* move only if it halves the list, so that it is cheap on average */
	if (n * 2 < p->n_chunk)
		return;
	memmove(p->chunk, p->chunk + n, (p->n_chunk - n) * sizeof(*p->chunk));
	p->n_chunk -= n;
	p->chunk_base += n;
}

void perf_chunk_put(struct perf *p, struct perf_chunk *c)
{
	if (!c || --c->refs)
		return;
	p->chunk[c->id - p->chunk_base] = NULL;
	p->chunk_bytes -= c->cap;
	free(c->data);
	free(c);
	perf_chunk_trim_list(p);
}

void perf_chunk_release(struct perf *p)
{
	for (size_t i = 0; i < p->n_chunk; i++) {
		if (p->chunk[i])
			free(p->chunk[i]->data);
		free(p->chunk[i]);
	}
	free(p->chunk);
	p->chunk = NULL;
	p->n_chunk = 0;
}
