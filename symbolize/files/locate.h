/* locate.h - finds the file of an image, best place first, and the separate
 * file with its symbols or debug information.
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
	enum found_at adding; /* how files at the next places are found */
	size_t n;
};

/* Returns the path of an image if it may name a file, else NULL. */
const char *locate_recorded(const struct image *img);
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
/* Adds places of the file that boots the kernel. */
void locate_boot(const struct symbolizer *sy, struct places *out);
/* Adds the copy of kallsyms in perf's cache. */
void locate_kallsyms(const struct symbolizer *sy, const struct image *img,
		     struct places *out);
/* Opens the file of an image: the one that was mapped, this process's vdso, or
 * vmlinux. *answer: how certain it is; if NULL is returned, the status of the
 * image. */
struct elf_file *locate_open(const struct symbolizer *sy,
			     const struct image *img,
			     struct identity_answer *answer);
void places_release(struct places *p);

/* Returns whether a file is, with links and ".." resolved, in a folder of debug
 * files or next to the file at `beside`. */
bool locate_is_debug_place(const struct symbolizer *sy, const char *path,
			   const char *beside);

/* Finds the file of an image of kind FILE, VDSO or MAPPING, downloading it if
 * allowed, and sets the report's file and status. Returns false if there is
 * none. *answer: as in locate_open(). */
bool locate_report(struct symbolizer *sy, const struct image *img,
		   struct identity_answer *answer);

struct tried_path {
	char *path; /* owned */
	/* device, inode, size, mtime in ns; all 0: no such file */
	uint64_t id[4];
	uint64_t changed; /* ctime in ns; 0: unknown */
};

struct tried_files {
	struct tried_path *p;
	size_t n, cap;
	/* A file was changed so shortly before the search that a later change
	 * may have the same times. */
	bool young;
};

/* Records a search for path. Does nothing if t is NULL. */
void tried_files_add(struct tried_files *t, const char *path);
/* Returns whether all files are unchanged, by times and inodes, or still
 * missing. */
bool tried_files_unchanged(const struct tried_files *t);
/* Returns whether tried_files_unchanged() is reliable: files that the kernel
 * generates have no such identity. */
bool tried_files_can_tell(const struct tried_files *t);
void tried_files_release(struct tried_files *t);

struct elf_file;
struct image;
struct symbolizer;

/* Opens the debug file of ef, downloading it if allowed. It must have the
 * build-id of ef or, if ef has none, the checksum in its debug link; a matching
 * name is not enough. Returns NULL if there is none. */
struct elf_file *debugfile_open(struct symbolizer *sy, const struct image *img,
				const struct elf_file *ef);
/* Opens the file into which dwz moved what several files share, proved by the
 * build-id in ef. Returns NULL if ef has no such link or the file is not
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
