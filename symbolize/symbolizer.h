/* symbolizer.h - what the resolvers share: options, the kernel's symbols,
 * and the report of the image at hand. Inside symbolize/ only. */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H
#include <stdbool.h>
#include <stddef.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "symbolize/symbolize.h"

struct elf_file;
struct elf_section;
struct fetch;
struct kallsyms;

/* Big enough for every path that is put together here. */
#define PATH_SIZE 4096

struct plain_name {
	const char *raw, *plain;
};

/* The demangled names of the image at hand, by where the raw one is. */
struct safe_text {
	struct plain_name *name;
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
	struct tried *tried; /* of the memo at hand; NULL: none */
	struct fetch *fetch; /* NULL: nothing was fetched yet */
	bool saved;	     /* some memo was written */
	/* Resolvers tell here what they did; the driver's. */
	struct image_report *rep;
	struct safe_text plain;
	char name[16384]; /* demangled */
};

/* The report's file and status of the image at hand. */
void report_file(struct symbolizer *sy, const char *file);
void report_status(struct symbolizer *sy, const char *status);
/* What a user should be told of a file; the image is then not remembered. */
void report_note(struct symbolizer *sy, const char *what, const char *path);

/* Names come from this section of the file: the report gets its hash. */
void used_section(const struct symbolizer *sy, const struct elf_file *ef,
		  const struct elf_section *s);
/* The code of a file; what it says is borrowed from ef. */
bool used_text(const struct elf_file *ef, struct section_used *out);
/* From all that dwarf_look() reads. */
void used_debug(const struct symbolizer *sy, const struct elf_file *ef);
void used_add(struct image_report *rep, const struct section_used *u);
/* The first of a[] whose file and name are in b[] with another hash; NULL. */
const struct section_used *used_changed(const struct section_used *a,
					size_t n_a,
					const struct section_used *b,
					size_t n_b);

extern const struct resolver resolve_recorded;		/* recorded.c */
extern const struct resolver resolve_kallsyms_file;	/* kallsyms.c */
extern const struct resolver resolve_kallsyms_captured; /* the same */
extern const struct resolver resolve_vmlinux;		/* elfsym.c */
extern const struct resolver resolve_module;		/* elfsym.c */
extern const struct resolver resolve_kallsyms_cache;	/* kallsyms.c */
extern const struct resolver resolve_kallsyms_live;	/* kallsyms.c */
extern const struct resolver resolve_elf;		/* elfsym.c */

void kallsyms_free(struct kallsyms *ks);
#endif
