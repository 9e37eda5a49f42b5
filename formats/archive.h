/* archive.h - reads archives: tar, which may be packed by gzip, xz, bzip2 or
 * zstd, and zip. They are untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;

/* The deepest nesting of folders for files of an archive. */
#define ARCHIVE_DEPTH 12

/* Returns whether a file is an archive, by its first bytes. False for "-", as
 * reading it here could wait for standard input. */
bool archive_is(const char *path);
/* Returns the length of ARCHIVE in a path "ARCHIVE/MEMBER" if ARCHIVE is a
 * file; the length of the whole path if that exists, or no prefix is a file. */
size_t archive_in_path(const char *path);
/* Returns whether it is an archive of 'backstitch bundle': one with a database
 * that is in no folder. */
bool archive_is_bundle(const char *path);
/* Copies that database to the file `to`. Returns 0, or -1 and *err, also if its
 * checksum differs from the one stored after it. */
int archive_take_database(const char *path, int to, struct err *err);

struct archive_found {
	size_t files, left_out;
	char left[160]; /* name of the first file that was left out */
	bool database;	/* it has a database that is in no folder */
	bool cut;	/* the rest could not be read */
	char why[256];	/* the reason, if `cut` */
};

/* Writes the regular files below an open folder, which this process alone must
 * use. Leaves out links, and names that lead outside. Stops at a database
 * unless `databases` is set. Returns 0, or -1 and *err if nothing could be
 * read, or the files become too many or too large. */
int archive_unpack(const char *path, int dir, bool databases,
		   struct archive_found *found, struct err *err);
