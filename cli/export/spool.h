/* spool.h - a list of many items of one size, kept in an unnamed file instead
 * of in memory.
 *
 * It is for formats that want columns, or one thread after the other, while
 * items come in time order. New items are zero; they live until spool_free().
 * Indexes are 0, 1, 2, ... */
#pragma once
#include <stddef.h>

struct err;
struct spool;

/* Creates the file in $TMPDIR or /tmp. Returns NULL and *err on failure. */
struct spool *spool_new(size_t size, struct err *err);
void spool_free(struct spool *s);
/* Appends an item and returns it; NULL and *err if the disk is full.
 * Invalidates earlier pointers. */
void *spool_add(struct spool *s, struct err *err);
/* Returns item i; valid until the next spool_add(). */
void *spool_at(struct spool *s, size_t i);
/* Returns the number of items. */
size_t spool_count(const struct spool *s);
