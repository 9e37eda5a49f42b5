/* symbolizer_cache.h - keeps objects of symbolizers for later ones of the same
 * run: open files and their contents.
 *
 * An object is taken, so that only one thread has it, proved to equal a new one
 * (locate.h), used, and given back. The caller proves that, and frees an object
 * that cannot be proved. All symbolizers that share a set have the same
 * options, except those in the key. */
#pragma once
#include <stddef.h>

struct image;
struct symbolizer_cache;
struct symbolizer;

typedef void symbolizer_cache_free_fn(void *object);

/* Returns a set for max objects, which lives until the process ends; further
 * objects push out those that were given first. */
struct symbolizer_cache *symbolizer_cache_new(size_t max);
/* Removes the object of this name from the set and returns it, or NULL if there
 * is none. */
void *symbolizer_cache_take(struct symbolizer_cache *k, const char *name);
/* Adds an object, which fn frees. */
void symbolizer_cache_give(struct symbolizer_cache *k, const char *name,
			   void *object, symbolizer_cache_free_fn *fn);
/* Returns the name of an object that belongs to an image, for the caller to
 * free; `what` is the kind of object. */
char *symbolizer_cache_name(const struct symbolizer *sy, const char *what,
			    const struct image *img);
