/* debugfile.h - finds the separate file with a program's symbols or debug
 * information. */
#pragma once
#include <stdbool.h>

struct elf_file;
struct image;
struct symbolizer;

/* Opens the debug file of ef, downloading it if allowed. It must have the
 * build-id of ef or, if ef has none, the checksum in its debug link; a matching
 * name is not enough. Returns NULL if there is none. */
struct elf_file *debugfile_open(struct symbolizer *sy, const struct image *img,
				const struct elf_file *ef);
/* Opens the file into which dwz moved what several files share, proved by
 * the build-id in ef. Returns NULL if ef has no such link or the file is not
 * found. */
struct elf_file *debugfile_shared(struct symbolizer *sy,
				  const struct elf_file *ef);
/* Opens another copy of ef, with the same build-id, that fn accepts. strip
 * keeps the build-id, so perf's cache may hold the stripped copy of a program.
 * Returns NULL if there is none. */
typedef bool debugfile_fn(void *arg, const struct elf_file *ef);
struct elf_file *debugfile_copy(const struct symbolizer *sy,
				const struct image *img,
				const struct elf_file *ef, debugfile_fn *fn,
				void *arg);
/* Calls fn for ef, its debug file and other copies, in this order, until it
 * returns true. Returns false if it never does. *debug, NULL before: the debug
 * file or the copy that was opened, for the caller to close. */
bool debugfile_try(struct symbolizer *sy, const struct image *img,
		   const struct elf_file *ef, debugfile_fn *fn, void *arg,
		   struct elf_file **debug);
