/* symbolizer.h - what the resolvers share: options, the kernel's symbols,
 * and the report of the image at hand. Inside symbolize/ only. */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H
#include <stdbool.h>
#include <stddef.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "symbolize/options.h"
#include "symbolize/resolver.h"

struct fetch;
struct image_report;
struct kallsyms;

/* Big enough for every path that is put together here. */
#define PATH_SIZE 4096

struct demangled_name {
	const char *raw, *plain;
};

/* The demangled names of the image at hand, by where the raw one is. */
struct demangled_names {
	struct demangled_name *name;
	size_t n, cap;
	struct table by_raw;
	struct arena text;
};

struct symbolizer {
	struct symbolize_opts opts; /* strings are our copies */
	/* Parsed once, because each module is an image of its own. NULL
	 * with tried set: not to be had. */
	struct kallsyms *ks_file, *ks_cache, *ks_live;
	bool tried_live;
	struct kallsyms **ks_captured; /* one for each of opts.captured */
	size_t n_captured, cap_captured;
	struct tried_files *tried; /* of the memo at hand; NULL: none */
	struct fetch *fetch;	   /* NULL: nothing was fetched yet */
	bool saved;		   /* some memo was written */
	/* Resolvers tell here what they did; the driver's. */
	struct image_report *rep;
	struct demangled_names plain;
	char name[16384]; /* demangled */
};

extern const struct resolver resolve_recorded;		/* recorded_names.c */
extern const struct resolver resolve_kallsyms_file;	/* kallsyms.c */
extern const struct resolver resolve_kallsyms_captured; /* the same */
extern const struct resolver resolve_vmlinux;		/* elfsym.c */
extern const struct resolver resolve_module;		/* elfsym.c */
extern const struct resolver resolve_kallsyms_cache;	/* kallsyms.c */
extern const struct resolver resolve_kallsyms_live;	/* kallsyms.c */
extern const struct resolver resolve_elf;		/* elfsym.c */

void kallsyms_free(struct kallsyms *ks);
#endif
