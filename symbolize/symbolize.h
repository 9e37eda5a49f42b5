/* symbolize.h - names for offsets, one image at a time.
 *
 * Where a file may come from and how it is proved to be the recorded one:
 * locate.c. Who can name offsets in it: the resolvers' table, best first. */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct image;
struct symbolizer;

/* A text in memory, and where it came from. */
struct symbolize_text {
	const char *text, *path; /* text NULL: the end of a list */
	size_t len;
};

struct symbolize_opts {
	const char *symfs;    /* look for images below this folder; NULL: / */
	const char *kallsyms; /* file to name the kernel from; NULL: the live
			       * one, only when the build-id is the same */
	const char *vmlinux;  /* NULL: look for it */
	const char *release;  /* of the recorded kernel; NULL: not known */
	/* The plain bytes of a file packed by gzip or zstd, to be freed; NULL:
	 * it is none. That one NULL: such files are left alone. */
	unsigned char *(*unpack)(int fd, const char *path, size_t max,
				 size_t *len);
	const char *home;   /* for ~/.debug; NULL: no such cache */
	const char *cache;  /* folder for what was named before; NULL: none */
	uint64_t cache_max; /* its size in bytes; 0: the default */
	/* The folder that clients of debuginfod share; NULL: none. */
	const char *fetch_cache;
	/* How long files may be fetched from the servers that the environment
	 * names, all together; 0: not at all, which is the default. */
	double fetch_seconds;
	bool (*stop)(void); /* does the user want to stop? NULL: never */
	const char *const *debug_dirs; /* more folders; ends with NULL; NULL */
	/* Copies of /proc/kallsyms that captures hold; borrowed until the
	 * symbolizer is freed. NULL: none. */
	const struct symbolize_text *captured;
	bool no_demangle;
	bool no_inline;	   /* no source lines and inlined functions */
	bool no_live;	   /* tests: never look at this machine's kernel */
	bool same_machine; /* recorded here, on a kernel of this version: one
			    * without a build-id may be the running one */
};

struct symbolizer *symbolize_new(const struct symbolize_opts *o);
void symbolize_free(struct symbolizer *sy);

struct dwarf_frame;

struct resolver {
	const char *name, *summary;
	/* file: where locate.c found the image (NULL: nowhere). 1 and *r,
	 * 0 not mine or nothing in it: try the next, -1 an error. */
	int (*open)(struct symbolizer *sy, const struct image *img,
		    const char *file, void **r, struct err *err);
	/* The innermost name of off: 1 named (fills *sym; strings are valid
	 * until close), 0 unknown here. */
	int (*resolve)(void *r, uint64_t off, struct symbol *sym);
	void (*close)(void *r);
	/* Both NULL, or: told once what will be asked for, */
	void (*lines)(struct symbolizer *sy, const struct image *img, void *r,
		      const struct code_place *code, size_t n);
	/* and the frames at code[i], see dwarf.h; 0: nothing is known. */
	size_t (*inlined)(void *r, size_t i, const struct dwarf_frame **out);
};

extern const struct resolver *const resolvers[]; /* ends with NULL */

/* What became of an image, for the image table. */
struct image_report {
	char file[4096];     /* "" none */
	const char *status;  /* 'named', 'unverified', 'no file',
			      * 'other build-id', 'no symbols', 'no names'
			      * (a kind of code that has none) */
	struct segment *seg; /* owned: symbolize_report_release() */
	size_t n_seg;
	struct section_used *used; /* owned, with its strings */
	size_t n_used, cap_used;
	unsigned int fetched; /* files that came over a network */
	char missing[128];    /* "", or one that did not, and why */
	char note[256];	      /* "", or what a user should be told */
};
void symbolize_report_release(struct image_report *rep);

/* code[] is sorted by off and unique; fn is called at least once for every
 * offset (name NULL: unknown). Fills *rep. A file that cannot be read is no
 * error: its offsets stay unknown and the report says why. */
int symbolize_image(struct symbolizer *sy, const struct image *img,
		    const struct code_place *code, size_t n, symbol_fn *fn,
		    void *arg, struct image_report *rep, struct err *err);

/* Is there a library for fetch_seconds? */
bool symbolize_can_fetch(void);

/* What section_used.hash is of that section now. False: it is not there, or
 * the file has another build-id than the image. */
bool symbolize_section(const char *file, const char *section,
		       const struct image *img, uint64_t *hash);

/* Demangles C++, Rust and D into buf (capped: a 235-byte symbol can become
 * 277 MB). False when name is not mangled; buf is then untouched. */
bool symbolize_demangle(const char *name, char *buf, size_t size);
#endif
