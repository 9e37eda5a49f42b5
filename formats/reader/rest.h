/* rest.h - compares a length with what it describes from the side that a
 * decoder does not see: too much is refused by struct bytes, too little leaves
 * bytes. */
#pragma once
#include <stddef.h>

struct bytes;
struct err;

/* Each returns -1 with a message unless nothing is left of b; at most n bytes
 * of padding; nothing but zeros. */
int rest_end(const struct bytes *b, struct err *err);
int rest_padding(const struct bytes *b, size_t n, struct err *err);
int rest_zeros(const struct bytes *b, struct err *err);
