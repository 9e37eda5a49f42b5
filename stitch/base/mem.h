/* mem.h - allocation that never fails, and arenas.
 *
 * If memory is exhausted, the program prints one line to stderr and exits with
 * status 1. No other code outside cli/ may do so.
 *
 * This header also provides the C library's memory, text and stream
 * functions. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of items of an array (not of a pointer). */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
/* Follows the name of a parameter that only the function's type requires. */
#define UNUSED __attribute__((unused))
/* Make a number at least, or at most, the other one. Both evaluate their
 * arguments twice. */
#define raise_to(x, least) ((x) < (least) ? (void)((x) = (least)) : (void)0)
#define lower_to(x, most) ((x) > (most) ? (void)((x) = (most)) : (void)0)
/* True if the expression `holds`, which refers to an item's index as i, is true
 * for any of n items. It is not evaluated after the first such item. */
#define any_where(n, i, holds)                                                 \
	({                                                                     \
		size_t i = 0;                                                  \
                                                                               \
		while (i < (n) && !(holds))                                    \
			i++;                                                   \
		i < (n);                                                       \
	})

static inline void mem_free_all(void *const *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(p[i]);
}

/* Follow the name of a variable in its declaration. At the end of its scope,
 * RELEASED_BY() calls a function with its address, OWNED frees the pointer in
 * it. */
#define RELEASED_BY(fn) __attribute__((cleanup(fn)))
#define OWNED RELEASED_BY(mem_free_owned)
static inline void mem_free_owned(void *p)
{
	free(*(void **)p);
}

/* Frees each of its arguments. */
#define free_all(...)                                                          \
	mem_free_all((void *const[]){ __VA_ARGS__ },                           \
		     ARRAY_SIZE(((void *const[]){ __VA_ARGS__ })))

/* Returns zeroed memory for n items; checks n * size for overflow. The caller
 * frees it with free(). */
void *mem_new(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Like mem_new(), for a table that is filled at once, in random order. A page
 * that is read before it is written costs two faults, the second of which
 * interrupts all threads: 47 ms of 570 in an ingest of 200,000 distinct
 * stacks. */
void *mem_new_table(size_t n, size_t size)
	__attribute__((malloc, returns_nonnull));
/* Return array p, or a larger one in its place, or a new one if p is NULL, with
 * room for at least `need` items. *cap is the capacity in items, which is
 * doubled, or grows by half if the array is large. New items are not zeroed. */
void *mem_grow_more(void *p, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));
static inline void *mem_grow_to(void *p, size_t *cap, size_t need, size_t size)
{
	return p && need <= *cap ? p : mem_grow_more(p, cap, need, size);
}
/* The same, assigned to p. */
#define mem_grow(p, cap, need)                                                 \
	((p) = mem_grow_to((p), &(cap), (need), sizeof(*(p))))
/* Adds an item, not zeroed, to array p, which has n items and room for cap.
 * Returns a pointer to it. Evaluates its arguments more than once; what is
 * assigned to the item must not refer to p, n or cap. */
#define mem_add(p, n, cap) (mem_grow(p, cap, (size_t)(n) + 1), &(p)[(n)++])
/* Returns the index of an unused item: one taken from the n_free in `free`, or
 * that of a new item. Evaluates its arguments more than once. */
#define mem_reuse(p, n, cap, free, n_free)                                     \
	((n_free) ? (free)[--(n_free)]                                         \
		  : ((void)mem_add(p, n, cap), (uint32_t)((n)-1)))
/* Appends `more` bytes to the byte array p, which has n bytes. */
#define mem_append(p, n, cap, data, more)                                      \
	(mem_grow(p, cap, (n) + (more)), memcpy((p) + (n), (data), (more)),    \
	 (n) += (more))
/* Like mem_grow_to() for an array of *n items: if *n < need, sets *n to need
 * and zeroes the new items. */
void *mem_reach_more(void *p, size_t *n, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));
static inline void *mem_reach_to(void *p, size_t *n, size_t *cap, size_t need,
				 size_t size)
{
	return need <= *n ? p : mem_reach_more(p, n, cap, need, size);
}
/* The same, assigned to p. */
#define mem_reach(p, n, cap, need)                                             \
	((p) = mem_reach_to((p), &(n), &(cap), (need), sizeof(*(p))))
/* Returns a pointer to item i of an array, which is extended as by mem_reach().
 * As with mem_add(), what is assigned to the item must not refer to p, n or
 * cap. */
#define mem_at(p, n, cap, i) (mem_reach(p, n, cap, (size_t)(i) + 1), &(p)[i])
/* Return a copy, to be freed: mem_strdup() of s (NULL if s is NULL); mem_dup()
 * of n bytes, followed by a 0. */
char *mem_strdup(const char *s);
void *mem_dup(const void *p, size_t n) __attribute__((returns_nonnull));

/* Returns p, which a library allocated. Ends the program if it is NULL. */
void *mem_must(void *p) __attribute__((returns_nonnull));
/* A stream into memory. mem_stream_end() closes it and sets *text, to be freed,
 * and *len unless that is NULL. The text is always complete. */
FILE *mem_stream(char **text, size_t *len) __attribute__((returns_nonnull));
void mem_stream_end(FILE *f);
/* Returns the formatted text, to be freed. */
char *mem_printf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));

/* An arena: many small objects that are freed together. */
struct arena {
	struct arena_chunk *chunk;
	size_t used; /* bytes returned in total */
};
struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};
/* The slow path of arena_take(): n bytes, a multiple of 8, if the last chunk
 * has no room. */
void *arena_take_chunk(struct arena *a, size_t n)
	__attribute__((returns_nonnull));
/* Returns n bytes, 8-byte aligned and not zeroed. */
static inline void *arena_take(struct arena *a, size_t n)
{
	struct arena_chunk *c = a->chunk;

	n = (n + 7) & ~(size_t)7;
	if (!c || c->size - c->used < n)
		return arena_take_chunk(a, n);
	c->used += n;
	a->used += n;
	return c->data + c->used - n;
}
char *arena_strdup(struct arena *a, const char *s);
/* Returns a copy of n bytes with a final 0. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Returns the text x, the character, the text y. */
char *arena_join(struct arena *a, const char *x, char between, const char *y);
void arena_release(struct arena *a);
/* Frees the objects, but keeps memory for new ones. */
void arena_clear(struct arena *a);
