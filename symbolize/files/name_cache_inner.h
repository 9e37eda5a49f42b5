/* name_cache_inner.h - what is in a memo: shared by name_cache.c and
 * name_cache_file.c only. */
#ifndef SYMBOLIZE_FILES_NAME_CACHE_INNER_H
#define SYMBOLIZE_FILES_NAME_CACHE_INNER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"
#include "symbolize/symbolizer.h"

struct tried_path {
	uint32_t path;	/* in text */
	uint64_t id[4]; /* device, inode, size, ns of change; 0: not there */
};

struct tried_files {
	struct tried_path *p;
	size_t n, cap;
	struct name_cache *m;
};

#define NONE UINT32_MAX		     /* no text */
#define NAME_CACHE_MAGIC "bstitch\2" /* and the version of what follows */

struct cached_symbol { /* one symbol told */
	uint64_t start, size;
	uint32_t name, raw, file, how; /* in text; NONE: NULL */
	uint32_t line;
};

struct cached_offset { /* one offset */
	uint64_t off;
	uint32_t first, n; /* in row[] */
	bool after_call;
};

struct cached_section {	     /* a section that names were read from */
	uint32_t file, name; /* in text */
	uint64_t hash;
};

struct name_cache {
	char path[PATH_SIZE];
	struct tried_files tried;
	struct cached_offset *entry;
	size_t n, cap, n_old; /* the first n_old are sorted */
	struct cached_symbol *row;
	size_t n_row, cap_row;
	struct segment *seg;
	size_t n_seg;
	struct cached_section *part;
	size_t n_part;
	uint32_t file, status;
	char *text; /* strings, each ends with a 0 */
	size_t n_text, cap_text;
	struct table by_text;
	size_t last;		/* the entry noted last */
	bool indexed;		/* text is in by_text */
	bool noted;		/* there is something to write */
	char note[256];		/* "" or what is wrong with the file */
	struct name_cache *old; /* void, since files changed; NULL */
};

/* Fills m from m->path; leaves it empty when there is no file, or it is
 * damaged, which m->note then says. */
void name_cache_load(struct name_cache *m);
/* Sorts the entries and writes all to m->path. What cannot be written is no
 * error: the next run is slow again. */
bool name_cache_save(struct name_cache *m);
void name_cache_release(struct name_cache *m);
#endif
