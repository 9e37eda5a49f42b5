/* locate.h - where the file of an image may be, best place first.
 *
 * The locate_*() only make lists of paths; places_open() opens them one after
 * the other and takes the first whose build-id is the image's. Nothing here
 * goes over a network. */
#ifndef SYMBOLIZE_FILES_LOCATE_H
#define SYMBOLIZE_FILES_LOCATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct image;
struct symbolizer;
struct tried_files;

#define PLACES_MAX 48

struct places {
	struct tried_files *tried; /* remembers them; NULL: nobody does */
	char *path[PLACES_MAX];	   /* owned */
	size_t n;
};

/* The file that was mapped. */
void locate_image(const struct symbolizer *sy, const struct image *img,
		  struct places *out);
/* Files by build-id that have its symbols. img's path may be NULL. */
void locate_debug(const struct symbolizer *sy, const struct image *img,
		  struct places *out);
/* What .gnu_debuglink of the file names. */
void locate_link(const struct symbolizer *sy, const struct image *img,
		 const struct elf_file *ef, struct places *out);
/* The file of this name that .gnu_debugaltlink of ef says. */
void locate_shared(const struct symbolizer *sy, const struct elf_file *ef,
		   const char *name, struct places *out);
/* The file of this name that -gsplit-dwarf made beside ef's unit, which was
 * compiled in that folder (NULL: not known). */
void locate_split(const struct symbolizer *sy, const struct elf_file *ef,
		  const char *folder, const char *name, struct places *out);
/* The file of a kernel module whose path, packed or not, is this. */
void locate_module(const struct symbolizer *sy, const struct image *img,
		   const char *path, struct places *out);
/* A kernel with symbols. */
void locate_vmlinux(const struct symbolizer *sy, const struct image *img,
		    struct places *out);
/* A copy of kallsyms in perf's cache. */
void locate_kallsyms(const struct symbolizer *sy, const struct image *img,
		     struct places *out);
/* Opens the first that is the image's: proved by id (its build-id), or, when
 * id_len is 0, not proved. NULL when none is; then *other says whether one
 * with another build-id was there. */
struct elf_file *places_open(const struct places *p, const uint8_t *id,
			     size_t id_len, bool *other);
void places_release(struct places *p);

/* All of it for an image of kind FILE or VDSO: fills the report's file and
 * status. False when there is no file. */
bool locate_report(struct symbolizer *sy, const struct image *img);
#endif
