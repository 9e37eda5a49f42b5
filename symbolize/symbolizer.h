/* symbolizer.h - defines resolvers and the state that they share: options, the
 * kernel's symbols, and the report of the current image. For symbolize/
 * only. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "symbolize/options.h"

struct code_cache;
struct code_place;
struct dwarf_frame;
struct err;
struct fetch;
struct image;
struct image_report;
struct kallsyms;
struct symbol;

/* Buffer size for paths that are put together in symbolize/. */
#define PATH_SIZE 4096

/* How many files are tried for an image until one fits its addresses. */
#define REFUSED_MAX 8

/* Demangled names of the current image, indexed by the pointer to the raw
 * name. */
struct demangled_names {
	const char **plain;
	size_t n, cap;
	struct table by_raw;
	struct arena text;
};

struct symbolizer {
	struct symbolize_opts opts; /* strings are owned copies */
	/* kallsyms files, parsed once: the kernel and each of its modules are
	 * separate images. NULL if not read yet, or if tried_live is set and
	 * the file cannot be read. */
	struct kallsyms *ks_file, *ks_cache, *ks_live;
	struct kallsyms *ks_replaced; /* replaced by ks_live; names still point
					 into it */
	bool tried_live;
	/* one for each element of opts.captured */
	struct kallsyms **ks_captured;
	size_t n_captured, cap_captured;
	/* of the current image's name cache; NULL: none */
	struct tried_files *tried;
	struct fetch *fetch; /* NULL: nothing was downloaded yet */
	bool saved;	     /* a cache file was written */
	/* caches for the files whose code was looked at, see code_cache.h */
	struct code_cache **code;
	size_t n_code, cap_code;
	struct table by_file;
	/* Report of the current image, owned by the caller of
	 * symbolize_image(). */
	struct image_report *rep;
	bool kernel; /* the current image is of the kernel */
	/* the current image is named from a file that is not proved to be its
	 * own */
	bool unproved;
	/* paths of files that do not fit the addresses of the current image */
	char *refused[REFUSED_MAX];
	size_t n_refused;
	/* path of the current image if it may name a file, else NULL: debug
	 * files may be in its folder, although a copy is read */
	const char *recorded;
	struct demangled_names plain;
	char name[16384]; /* buffer for one demangled name */
};

/* One way to find the names of an image: a symbol table, a copy of
 * /proc/kallsyms, the capture itself. */
struct resolver {
	/* file is the file of the image that locate_report() found, or NULL.
	 * Returns 1 and *r if this resolver can name the image, 0 if the next
	 * one is to be tried, -1 on error. */
	int (*open)(struct symbolizer *sy, const struct image *img,
		    const char *file, void **r, struct err *err);
	/* Looks up the innermost symbol that covers off. Returns 1 and fills
	 * *sym, whose strings are valid until close(); 0 if there is none. */
	int (*resolve)(void *r, uint64_t off, struct symbol *sym);
	/* Optional: returns whether a call ends right before off. */
	bool (*called)(void *r, uint64_t off);
	/* Optional, besides `called`: returns 1 if an instruction of a function
	 * begins at off, -1 if none does, 0 if that is not known. */
	int (*runs)(void *r, uint64_t off);
	/* Optional, besides `called`: returns whether off is in the file's
	 * code as it is mapped, by whole pages, but in no section of code:
	 * nothing of this file runs there. */
	bool (*outside)(void *r, uint64_t off);
	void (*close)(void *r);
	/* An open resolver needs only its own files, not the symbolizer, so
	 * another symbolizer may use it. */
	bool outlives;
	/* Optional, and NULL or set together. lines() is called once with all
	 * offsets that will be looked up; */
	void (*lines)(struct symbolizer *sy, const struct image *img, void *r,
		      const struct code_place *code, size_t n);
	/* inlined() then returns the number of frames at code[i], see dwarf.h;
	 * 0 if nothing is known. */
	size_t (*inlined)(void *r, size_t i, const struct dwarf_frame **out);
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
/* Returns true if the running kernel or module has the recorded build-id. */
bool kallsyms_runs_here(const struct image *img);
/* Keeps these symbols for a later symbolizer, if opts.kept is set, or frees
 * them. */
void kallsyms_leave(struct symbolizer *sy, struct kallsyms *ks);
