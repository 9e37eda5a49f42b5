/* resolver.h - one way to find the names of an image: a symbol table, a copy
 * of /proc/kallsyms, the capture itself. */
#ifndef SYMBOLIZE_RESOLVER_H
#define SYMBOLIZE_RESOLVER_H
#include <stddef.h>
#include <stdint.h>

struct code_place;
struct err;
struct image;
struct symbol;
struct symbolizer;
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
#endif
