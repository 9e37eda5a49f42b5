/* mem.h - allocation that does not fail, and arenas for what lives long.
 *
 * When memory is gone the program ends with status 1 and one line on stderr:
 * the only place outside cli/ that may do so. */
#ifndef STITCH_BASE_MEM_H
#define STITCH_BASE_MEM_H
#include <stddef.h>
#include <stdint.h>

/* Zeroed; n * size is checked. Never NULL. Free with free(). */
void *mem_new(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Grows (or makes, p NULL) an array to hold at least `need` items; *cap is
 * the capacity in items and is doubled. New items are not zeroed. */
void *mem_grow(void *p, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));
/* The same of an array with *n items: makes them `need` when they are fewer,
 * and zeroes the new ones. */
void *mem_reach(void *p, size_t *n, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));
/* A copy of s (NULL gives NULL); of n bytes plus a final 0. */
char *mem_strdup(const char *s);
void *mem_dup(const void *p, size_t n) __attribute__((returns_nonnull));

/* An arena: many small things, freed together. */
struct arena {
	struct arena_chunk *chunk;
	size_t used; /* bytes handed out in all */
};
/* 8-byte aligned, not zeroed. Never NULL. */
void *arena_take(struct arena *a, size_t n) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s);
/* "X/Y" */
char *arena_join(struct arena *a, const char *x, char between, const char *y);
void arena_release(struct arena *a);
#endif
