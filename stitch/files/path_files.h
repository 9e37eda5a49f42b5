/* path_files.h - at which paths a capture has mapped more than one file.
 *
 * A recorder that reads a build-id from a path reads that of one file. Where
 * two were mapped from the path, as while a library was replaced or in two
 * mount namespaces, its owner is not known. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_files;

/* What a record says about the file that was mapped. gen: the generation of its
 * inode; 0: not known, as in what /proc lists. */
struct path_file {
	uint32_t maj, min;
	uint64_t ino, gen;
};

/* Adds a file; makes *pf if it is NULL. Nothing is added without an inode, or
 * for what has no path. */
void path_files_add(struct path_files **pf, const char *path, size_t len,
		    const struct path_file *f);
/* Returns whether two files were mapped from the path. pf may be NULL. */
bool path_files_several(const struct path_files *pf, const char *path);
/* Returns whether two of them had one inode, of another generation each. */
bool path_files_reused(const struct path_files *pf, const char *path);
void path_files_free(struct path_files *pf);
