/* name_cache.h - what an image was named before, kept on disk by build-id.
 *
 * Calls: name_cache_open(), name_cache_tell() for what is known,
 * name_cache_add() for all that is told of the rest, name_cache_close(), which
 * writes the file when something was noted. A memo holds which files were
 * looked for and what they were then (size, time, inode): one that came, went
 * or changed since makes it void. */
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

/* NULL when nothing can be kept: no folder, no build-id, other reasons. */
struct name_cache *name_cache_open(struct symbolizer *sy,
				   const struct image *img);
/* Tells what is known of code[]; rest[] (room for n) gets what is not, *n_rest
 * how many. 0, or -1 when fn said so. */
int name_cache_tell(const struct name_cache *m, const struct code_place *code,
		    size_t n, symbol_fn *fn, void *arg, struct code_place *rest,
		    size_t *n_rest, struct err *err);
/* The list of files looked for from now on. */
struct tried_files *name_cache_tried(struct name_cache *m);
/* The report of then: the image needs no look at its files. False: it has
 * none. */
bool name_cache_report(const struct name_cache *m, struct image_report *rep);
void name_cache_add(struct name_cache *m, const struct code_place *code,
		    const struct symbol *sym);
/* rep NULL: nothing is written. Says in rep->note when the names are others
 * than they were. */
void name_cache_close(struct name_cache *m, struct symbolizer *sy,
		      struct image_report *rep);
/* Removes what was not used for longest when the folder is too big. */
void name_cache_prune(const struct symbolizer *sy);

/* Remembers that the path was looked for. t NULL: nothing. */
void tried_files_add(struct tried_files *t, const char *path);
#endif
