/* pool.h - names several images at once, each in a separate thread.
 *
 * Call pool_add() while pool_has_room(), and pool_next() for the results, which
 * come in the order of pool_add() and equal those of symbolize_image(). Threads
 * share only the options and the files on disk: each has its own symbolizer and
 * file handles. The results do not depend on which thread handled which
 * image. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "stitch/symbol.h"

struct image;
struct image_report;
struct pool;
struct symbolize_opts;

/* Returns true for images that can be named from their file alone. */
bool pool_takes(const struct image *img);
/* Returns a pool for pool_free(), or NULL if threads is less than 2 or no
 * thread could be started. */
struct pool *pool_new(const struct symbolize_opts *o, unsigned int threads);
/* Discards results that were not fetched. */
void pool_free(struct pool *p);

bool pool_has_room(const struct pool *p);
/* Copies the image; borrows code[] until its results have been fetched. */
void pool_add(struct pool *p, const struct image *img,
	      const struct code_place *code, size_t n);
/* Waits for the oldest image not fetched yet and passes its names to fn, as
 * symbolize_image() does. Returns 0, or -1 and *err. */
int pool_next(struct pool *p, symbol_fn *fn, void *arg,
	      struct image_report *rep, struct err *err);
