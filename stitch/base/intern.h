/* intern.h - strings stored once, each known by a dense id.
 *
 * Zero-initialised is empty and ready. Ids are given out as 0, 1, 2, ... in
 * the order of the first intern_add() of each string. Adding and finding cost
 * one hash of the string. */
#pragma once

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct intern {
	struct arena text;
	const char **string; /* by id */
	size_t n, cap;
	struct table index;
};

/* Returns the id of the len bytes at s. New ones are copied, and get the id
 * in->n. The bytes may have any value, also 0, as in a struct without
 * padding. */
uint32_t intern_add_bytes(struct intern *in, const void *s, size_t len);
/* Like intern_add_bytes(), for a string that ends with a 0. */
uint32_t intern_add(struct intern *in, const char *s);
/* Returns the id of a string that ends with a 0, or TABLE_NONE: it is new. */
uint32_t intern_find(const struct intern *in, const char *s);
/* Returns the string of an id that was given out. A 0 follows its last byte.
 * Valid until intern_release(). */
const char *intern_get(const struct intern *in, uint32_t id);
/* Returns the length of a string in bytes. */
size_t intern_length(const struct intern *in, uint32_t id);
/* Frees all strings; the interner is empty and ready again. */
void intern_release(struct intern *in);
