/* symbolizer_cache.h - what symbolizers leave to later ones of the same run:
 * open files and what was read from them.
 *
 * An object is taken, so that it is in one thread's hands, proved to be still
 * what a new one would be (locate.h), used, and given back. It is the
 * caller who proves that; one that cannot be proved is freed. All symbolizers
 * that share a set have the same options but for those in the key. */
#pragma once
#include <stddef.h>

struct image;
struct symbolizer_cache;
struct symbolizer;

typedef void symbolizer_cache_free_fn(void *object);

/* Keeps max objects, until the process ends; more of them push out those that
 * were given first. */
struct symbolizer_cache *symbolizer_cache_new(size_t max);
/* Takes the object of this name out. Returns NULL if there is none. */
void *symbolizer_cache_take(struct symbolizer_cache *k, const char *name);
/* Gives an object, which fn frees. */
void symbolizer_cache_give(struct symbolizer_cache *k, const char *name,
			   void *object, symbolizer_cache_free_fn *fn);
/* Returns the name of what belongs to an image, which the caller frees; what
 * says what it is, as another kind of object may belong to it as well. */
char *symbolizer_cache_name(const struct symbolizer *sy, const char *what,
			    const struct image *img);
