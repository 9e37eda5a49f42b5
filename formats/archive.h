/* archive.h - reads archives: tar, packed by gzip, xz, bzip2 or zstd or not,
 * and zip. They may come from anybody. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;

/* Folders below each other in which files of an archive may be. */
#define ARCHIVE_DEPTH 12

/* Returns whether a file is an archive, by its first bytes; not "-": what comes
 * on standard input is waited for elsewhere. */
bool archive_is(const char *path);
/* Returns the length of ARCHIVE in a path "ARCHIVE/MEMBER", where the first is
 * a file; that of the whole path if it is there, or leads nowhere. */
size_t archive_in_path(const char *path);
/* Returns whether it is an archive with a database in it, and in no folder: one
 * of 'backstitch bundle'. */
bool archive_is_bundle(const char *path);
/* Copies that database to the file `to`. Returns 0, or -1 and *err, also if it
 * has another checksum than the one after it. */
int archive_take_database(const char *path, int to, struct err *err);

struct archive_found {
	size_t files, left_out;
	char left[160]; /* the name of the first one that was left out */
	bool database;	/* one is in it, and in no folder */
	bool cut;	/* what follows could not be read */
	char why[256];	/* then: why */
};

/* Writes the regular files below an open folder, which belongs to this process
 * alone. Left out are links, and names that lead elsewhere. Ends at a database,
 * unless that is wanted too. Returns 0, or -1 and *err: if nothing could be
 * read, or if the files become too many or too large. */
int archive_unpack(const char *path, int dir, bool databases,
		   struct archive_found *found, struct err *err);
