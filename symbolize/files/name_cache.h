/* name_cache.h - keeps names of an image that were found before, in memory and
 * on disk by build-id.
 *
 * Call name_cache_open(); name_cache_rest() for the offsets that have no cached
 * name; for each offset name_cache_tell(), or name_cache_add() if it has no
 * cached name; name_cache_end(), which writes the file if something was added.
 * The cache records which files were searched for, and must not be used when
 * one has appeared, disappeared or changed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/symbol.h"
#include "symbolize/files/locate.h"
#include "symbolize/symbolizer.h"

#define NO_TEXT UINT32_MAX /* no string */
/* The last byte is a version: of the format, of demangling, and of the names
 * for code without one. */
#define NAME_CACHE_MAGIC "bstitch\7"

struct cached_symbol { /* one symbol */
	uint64_t start, size;
	uint32_t name, raw, file, how; /* offsets in text; NO_TEXT: NULL */
	uint32_t line;
	uint32_t unverified; /* 1: this name, whatever the status of the file */
};

/* One offset. It occurs twice if it was looked up as an instruction and as a
 * return address. */
struct cached_offset {
	uint64_t off;
	uint32_t first, n; /* range in row[] */
	uint8_t after_call;
};

/* The order of the entries, for qsort() and bsearch(). */
static inline int cached_offset_compare(const void *a, const void *b)
{
	const struct cached_offset *x = a;
	const struct cached_offset *y = b;

	return COMPARE_FIELDS(off, after_call);
}

struct cached_section {	     /* a section that names were read from */
	uint32_t file, name; /* offsets in text */
	uint64_t hash;
};

struct name_cache {
	char path[PATH_SIZE]; /* "": not on disk */
	struct tried_files tried;
	uint32_t *tried_text; /* their paths, when it is stored */
	struct cached_offset *entry;
	size_t n, cap, n_old; /* the first n_old are sorted */
	struct cached_symbol *row;
	size_t n_row, cap_row;
	struct segment *seg;
	size_t n_seg;
	struct cached_section *part;
	size_t n_part;
	uint32_t file, status;
	char *text; /* NUL-terminated strings */
	size_t n_text, cap_text;
	struct table by_text;
	size_t last;	 /* the entry added last */
	bool indexed;	 /* by_text has all strings of text */
	bool noted;	 /* something was added */
	bool unverified; /* the status is IMAGE_UNVERIFIED */
	char note[256];	 /* "" or what is wrong with the file */
	/* outdated contents, since files changed; may be NULL */
	struct name_cache *old;
};

struct bytes;

/* The bytes of a file that is written. */
struct name_cache_output {
	unsigned char *p;
	size_t n, cap;
};

/* Reads a file of a cache: a magic of 8 bytes, the last of which is a version,
 * a checksum, and the contents, to which *b is set. Returns the bytes, for the
 * caller to free, or NULL if no file of this version is there; *damaged is set
 * if it is of no version. */
unsigned char *name_cache_read_file(const char *path, const char *magic,
				    struct bytes *b, bool *damaged);
/* Starts such a file; name_cache_put() appends to it. */
void name_cache_begin_file(struct name_cache_output *o, const char *magic);
void name_cache_put(struct name_cache_output *o, const void *p, size_t n);
/* Writes the file and its folders, and frees the bytes. Returns false if that
 * fails, which only costs the next run time. */
bool name_cache_write_file(struct name_cache_output *o, char *path);
/* Reads m->path. Leaves m empty if there is no such file, or sets m->note if it
 * is damaged. */
void name_cache_load(struct name_cache *m);
void name_cache_release(struct name_cache *m);
/* Deletes the least recently used files if the folder is too large. */
void name_cache_prune(const struct symbolizer *sy);

struct image;
struct image_report;

/* Reads the cache on disk. Returns NULL if the image cannot be cached there: no
 * cache folder, no build-id, or an image kind without files; with `memory`, an
 * empty cache that is not stored. */
struct name_cache *name_cache_open(struct symbolizer *sy,
				   const struct image *img, bool memory);
void name_cache_free(struct name_cache *m); /* NULL is allowed */
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
 * from those before the files changed. Returns whether the cache, with the
 * files open for it, can be used again. */
bool name_cache_end(struct name_cache *m, struct symbolizer *sy,
		    struct image_report *rep);
