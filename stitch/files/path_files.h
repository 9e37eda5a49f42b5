/* path_files.h - finds the paths from which a capture has mapped more than one
 * file.
 *
 * A recorder that reads a build-id from a path reads that of one file. If two
 * were mapped from the path, because a library was replaced or in two mount
 * namespaces, it is not known which one has that build-id. */
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

/* Adds a file; allocates *pf if it is NULL. Does nothing without an inode or a
 * path. */
void path_files_add(struct path_files **pf, const char *path, size_t len,
		    const struct path_file *f);
/* Returns whether two files were mapped from the path. pf may be NULL. */
bool path_files_several(const struct path_files *pf, const char *path);
/* Returns whether two of these files had the same inode, with different
 * generations. */
bool path_files_reused(const struct path_files *pf, const char *path);
void path_files_free(struct path_files *pf);
