/* mem.c - allocation that never fails, and arenas. */
#include "stitch/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk is as large as all before it together, within these bounds: most
 * arenas hold little, and malloc() maps large blocks afresh each time. */
#define CHUNK_MIN ((size_t)4 * 1024)
#define CHUNK_MAX ((size_t)256 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

static _Noreturn void out_of_memory(size_t n)
{
	fprintf(stderr, "backstitch: out of memory (%zu bytes wanted)\n", n);
	exit(1);
}

void *mem_new(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(n * size);
	return p;
}

void *mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t bytes = 0;
	size_t n = *cap ? *cap : 16;

	if (p && need <= *cap)
		return p;
	while (n < need && n <= SIZE_MAX / 2)
		n *= 2;
	if (n < need || __builtin_mul_overflow(n, size, &bytes))
		out_of_memory(SIZE_MAX);
	p = realloc(p, bytes);
	if (!p)
		out_of_memory(bytes);
	*cap = n;
	return p;
}

void *mem_reach(void *p, size_t *n, size_t *cap, size_t need, size_t size)
{
	if (need <= *n)
		return p;
	p = mem_grow(p, cap, need, size);
	memset((char *)p + *n * size, 0, (need - *n) * size);
	*n = need;
	return p;
}

void *mem_dup(const void *p, size_t n)
{
	char *copy = mem_new(n + 1, 1);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *mem_strdup(const char *s)
{
	return s ? mem_dup(s, strlen(s)) : NULL;
}

void *arena_take(struct arena *a, size_t n)
{
	struct arena_chunk *c = a->chunk;

	n = (n + 7) & ~(size_t)7;
	if (!c || c->size - c->used < n) {
		size_t size = a->used < CHUNK_MIN   ? CHUNK_MIN
			      : a->used < CHUNK_MAX ? a->used
						    : CHUNK_MAX;

		size = n > size ? n : size;
		c = malloc(sizeof(*c) + size);
		if (!c)
			out_of_memory(size);
		c->next = a->chunk;
		c->used = 0;
		c->size = size;
		a->chunk = c;
	}
	void *p = c->data + c->used;
	c->used += n;
	a->used += n;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(arena_take(a, n), s, n);
}

char *arena_join(struct arena *a, const char *x, char between, const char *y)
{
	size_t n = strlen(x);
	size_t m = strlen(y) + 1;
	char *to = arena_take(a, n + 1 + m);

	memcpy(to, x, n);
	to[n] = between;
	memcpy(to + n + 1, y, m);
	return to;
}

void arena_release(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *next = a->chunk->next;

		free(a->chunk);
		a->chunk = next;
	}
	a->used = 0;
}
