/* name_cache_file.h - the files of name caches, and the folder that has them.
 */
#pragma once
#include <stdbool.h>

struct name_cache;
struct symbolizer;

/* Reads m->path. Leaves m empty if there is no such file, or if it is damaged,
 * which m->note then says. */
void name_cache_load(struct name_cache *m);
/* Writes the entries, which are sorted, to m->path. Returns false if that
 * fails, which only costs the next run time. */
bool name_cache_save(struct name_cache *m);
void name_cache_release(struct name_cache *m);
/* Deletes the least recently used files if the folder is too large. */
void name_cache_prune(const struct symbolizer *sy);
