/* locate.h - where the file of an image may be, best place first.
 *
 * The locate_*() functions append paths to a list; locate_open() opens the
 * first that is the image's file, as identity.h judges it. Nothing here uses
 * the network. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/files/identity.h"

struct tried_files;

#define PLACES_MAX 48

struct places {
	struct tried_files *tried; /* records each path; may be NULL */
	char *path[PLACES_MAX];	   /* owned */
	enum found_at at[PLACES_MAX];
	enum found_at adding; /* how the next ones are found */
	size_t n;
};

/* Returns the path of an image if it may name a file, else NULL. */
const char *locate_recorded(const struct image *img);
/* Adds places of the file that was mapped. */
void locate_image(const struct symbolizer *sy, const struct image *img,
		  struct places *out);
/* Adds places of its debug file by build-id and path. img->path may be NULL. */
void locate_debug(const struct symbolizer *sy, const struct image *img,
		  struct places *out);
/* Adds places of the file named by .gnu_debuglink of ef. */
void locate_link(const struct symbolizer *sy, const struct image *img,
		 const struct elf_file *ef, const char *name,
		 struct places *out);
/* Adds places of the file named by .gnu_debugaltlink of ef. */
void locate_shared(const struct symbolizer *sy, const struct elf_file *ef,
		   const char *name, struct places *out);
/* Adds places of a -gsplit-dwarf file of one unit of ef. folder is where the
 * unit was compiled; NULL: unknown. */
void locate_split(const struct symbolizer *sy, const struct elf_file *ef,
		  const char *folder, const char *name, struct places *out);
/* Adds places of the .dwp package of ef. */
void locate_package(const struct symbolizer *sy, const struct elf_file *ef,
		    struct places *out);
/* Adds places of a kernel module's file, compressed or not. */
void locate_module(const struct symbolizer *sy, const struct image *img,
		   const char *path, struct places *out);
/* Adds places of the kernel in the file that boots. */
void locate_boot(const struct symbolizer *sy, struct places *out);
/* Adds the copy of kallsyms in perf's cache. */
void locate_kallsyms(const struct symbolizer *sy, const struct image *img,
		     struct places *out);
/* Opens the first file with the build-id of a file that was found already, such
 * as a debug file of it. NULL: there is none. */
struct elf_file *places_open(const struct places *p, const uint8_t *id,
			     size_t id_len);
/* Opens the file of an image: the one that was mapped, this process's vdso, or
 * vmlinux. *said: how sure it is; if NULL is returned, why there is none: the
 * status of the image. */
struct elf_file *locate_open(const struct symbolizer *sy,
			     const struct image *img,
			     struct identity_answer *said);
void places_release(struct places *p);

/* Returns whether a file is, with links and ".." resolved, in a folder of debug
 * files or next to the file at `beside`. */
bool locate_is_debug_place(const struct symbolizer *sy, const char *path,
			   const char *beside);

/* Finds the file of an image of kind FILE, VDSO or MAPPING, downloading it if
 * allowed, and sets the report's file and status. Returns false if there is
 * none. *said: as locate_open() does. */
bool locate_report(struct symbolizer *sy, const struct image *img,
		   struct identity_answer *said);
