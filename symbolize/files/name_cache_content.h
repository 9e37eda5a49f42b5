/* name_cache_content.h - the contents of a name cache, for name_cache.c and
 * name_cache_file.c only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "symbolize/files/tried_files.h"
#include "stitch/symbol.h"
#include "symbolize/symbolizer.h"

#define NONE UINT32_MAX /* no string */
/* Ends with the version of the format, and of what demangling and what stands
 * for a name that a file lacks give. */
#define NAME_CACHE_MAGIC "bstitch\5"

struct cached_symbol { /* one symbol */
	uint64_t start, size;
	uint32_t name, raw, file, how; /* offsets in text; NONE: NULL */
	uint32_t line;
};

/* One offset. It is there twice if it was asked for as an instruction and as
 * what follows a call. */
struct cached_offset {
	uint64_t off;
	uint32_t first, n; /* range in row[] */
	bool after_call;
};

/* The order of the entries. */
static inline int cached_offset_compare(const struct cached_offset *a,
					const struct cached_offset *b)
{
	return compare_numbers(a->off, b->off)
		       ?: compare_numbers(a->after_call, b->after_call);
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
	char *text; /* strings, each terminated by a 0 */
	size_t n_text, cap_text;
	struct table by_text;
	size_t last;	 /* the entry added last */
	bool indexed;	 /* by_text has all of text */
	bool noted;	 /* something was added */
	bool unverified; /* the status says so */
	char note[256];	 /* "" or what is wrong with the file */
	/* outdated contents, since files changed; may be NULL */
	struct name_cache *old;
};
