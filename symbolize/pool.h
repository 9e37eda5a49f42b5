/* pool.h - names of several images at once, each by a thread of its own.
 *
 * pool_add() as long as there is room, pool_next() for the answers: they come
 * in the order of adding, as symbolize_image() would give them. Threads share
 * nothing but the options and what is on disk: each has a symbolizer, and with
 * it its own handles of files. Which thread had which image changes no byte of
 * the answers. */
#ifndef SYMBOLIZE_NAMES_POOL_H
#define SYMBOLIZE_NAMES_POOL_H
#include <stdbool.h>
#include <stddef.h>

#include "stitch/symbol.h"

struct err;
struct image;
struct image_report;
struct pool;
struct symbolize_opts;

/* Those of files: what is needed to name one is in the file alone. */
bool pool_takes(const struct image *img);
/* NULL: there is to be one thread only, or none could be started. */
struct pool *pool_new(const struct symbolize_opts *o, unsigned int threads);
/* The answers that were not asked for are lost. */
void pool_free(struct pool *p);

bool pool_has_room(const struct pool *p);
/* Copies the image; code[] is borrowed until its answers were given. */
void pool_add(struct pool *p, const struct image *img,
	      const struct code_place *code, size_t n);
/* The answers for the image added first of those that are left, as
 * symbolize_image() gives them. */
int pool_next(struct pool *p, symbol_fn *fn, void *arg,
	      struct image_report *rep, struct err *err);
#endif
