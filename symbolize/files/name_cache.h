/* name_cache.h - names of an image from earlier runs, kept on disk by build-id.
 *
 * Call name_cache_open(); name_cache_tell() for the cached names;
 * name_cache_add() for each name found otherwise; name_cache_close(), which
 * writes the file if something was added. The cache records which files were
 * searched for and their size, time and inode; if one has appeared, disappeared
 * or changed, the cached names are not used. */
#ifndef SYMBOLIZE_FILES_NAME_CACHE_H
#define SYMBOLIZE_FILES_NAME_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct err;
struct image;
struct image_report;
struct name_cache;
struct symbolizer;
struct tried_files;

/* Returns NULL if the image cannot be cached: no cache folder, no build-id, or
 * an image kind without files. */
struct name_cache *name_cache_open(struct symbolizer *sy,
				   const struct image *img);
/* Passes the cached names of code[] to fn, and stores the other offsets in
 * rest[] (room for n) and their number in *n_rest. Returns 0, or -1 if fn
 * failed. */
int name_cache_tell(const struct name_cache *m, const struct code_place *code,
		    size_t n, symbol_fn *fn, void *arg, struct code_place *rest,
		    size_t *n_rest, struct err *err);
/* Returns the list in which to record each file searched for. */
struct tried_files *name_cache_tried(struct name_cache *m);
/* Fills *rep from the cache, so that no file of the image has to be opened.
 * Returns false if there is no cached report. */
bool name_cache_report(const struct name_cache *m, struct image_report *rep);
/* Adds a name of *code; call it in the order in which symbol_fn is called. */
void name_cache_add(struct name_cache *m, const struct code_place *code,
		    const struct symbol *sym);
/* Frees the cache and writes it if rep is not NULL. Sets rep->note if names
 * differ from the earlier ones. */
void name_cache_close(struct name_cache *m, struct symbolizer *sy,
		      struct image_report *rep);
/* Deletes the least recently used files if the folder is too large. */
void name_cache_prune(const struct symbolizer *sy);

/* Records that path was searched for. Does nothing if t is NULL. */
void tried_files_add(struct tried_files *t, const char *path);
#endif
