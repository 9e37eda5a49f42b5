/* name_cache.h - names of an image that were found before, kept in memory and
 * on disk by build-id.
 *
 * Call name_cache_open(); name_cache_rest() for the offsets that are to be
 * named otherwise; for each offset name_cache_tell(), or name_cache_add() if
 * that has no name; name_cache_end(), which writes the file if something was
 * added. The cache records which files were searched for, and must not be used
 * when one has appeared, disappeared or changed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "stitch/symbol.h"
#include "symbolize/files/name_cache_content.h"

struct image;
struct image_report;

/* Reads what is on disk. Returns NULL if the image cannot be cached there: no
 * cache folder, no build-id, or an image kind without files; with memory, an
 * empty cache that is not stored. */
struct name_cache *name_cache_open(struct symbolizer *sy,
				   const struct image *img, bool memory);
void name_cache_free(struct name_cache *m); /* NULL is fine */
/* Stores the offsets of code[] that have no cached name in rest[] (room for n),
 * and returns their number. */
size_t name_cache_rest(const struct name_cache *m,
		       const struct code_place *code, size_t n,
		       struct code_place *rest);
/* Passes the cached name of an offset to fn. Returns 1, 0 if there is none, or
 * -1 if fn failed. */
int name_cache_tell(const struct name_cache *m, const struct code_place *code,
		    symbol_fn *fn, void *arg, struct err *err);
/* Fills *rep from the cache, so that no file of the image has to be opened.
 * Returns false if there is no cached report. */
bool name_cache_report(const struct name_cache *m, struct image_report *rep);
/* Adds a name of *code; call it in the order in which symbol_fn is called. */
void name_cache_add(struct name_cache *m, const struct code_place *code,
		    const struct symbol *sym);
/* Ends a successful use: writes what was added. Sets rep->note if names differ
 * from those before the files changed. Returns whether the cache, with what is
 * open for it, is good for a later use. */
bool name_cache_end(struct name_cache *m, struct symbolizer *sy,
		    struct image_report *rep);
