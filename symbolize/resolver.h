/* resolver.h - one way to find the names of an image: a symbol table, a copy
 * of /proc/kallsyms, the capture itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_place;
struct err;
struct image;
struct symbol;
struct symbolizer;
struct dwarf_frame;

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
	/* Optional, beside called: returns 1 if an instruction of a function
	 * begins at off, -1 if none does, 0 if that is not known. */
	int (*runs)(void *r, uint64_t off);
	void (*close)(void *r);
	/* What is open needs neither the symbolizer nor anything but its own
	 * files, so that another symbolizer may use it. */
	bool outlives;
	/* Optional, and NULL or set together. lines() is called once with all
	 * offsets that will be looked up; */
	void (*lines)(struct symbolizer *sy, const struct image *img, void *r,
		      const struct code_place *code, size_t n);
	/* inlined() then returns the number of frames at code[i], see dwarf.h;
	 * 0 if nothing is known. */
	size_t (*inlined)(void *r, size_t i, const struct dwarf_frame **out);
};
