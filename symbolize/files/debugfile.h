/* debugfile.h - the file beside a program that has its symbols or its debug
 * information. */
#ifndef SYMBOLIZE_FILES_DEBUGFILE_H
#define SYMBOLIZE_FILES_DEBUGFILE_H
#include <stdbool.h>

struct elf_file;
struct image;
struct symbolizer;

/* The debug file of ef, fetched if that is allowed: proved by the build-id of
 * ef; without one by the checksum of its link; never by its name alone. NULL
 * when none is. */
struct elf_file *debugfile_open(struct symbolizer *sy, const struct image *img,
				const struct elf_file *ef);
/* What dwz took out of ef, which several files share; proved by the build-id
 * that ef says. NULL: ef has no such link, or it is not here. */
struct elf_file *debugfile_shared(struct symbolizer *sy,
				  const struct elf_file *ef);
/* Another copy of ef with the same build-id for which fn holds; strip keeps
 * the build-id, so perf's cache may hold a stripped copy of a program that has
 * its symbols elsewhere. NULL when none is. */
typedef bool debugfile_fn(void *arg, const struct elf_file *ef);
struct elf_file *debugfile_copy(const struct symbolizer *sy,
				const struct image *img,
				const struct elf_file *ef, debugfile_fn *fn,
				void *arg);
#endif
