/* bundle.h - writes an archive of several files to hand on: tar, compressed as
 * its name says (.tar, .tar.gz, .tar.xz, .tar.zst).
 *
 * The same files make the same bytes: owners and times are 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct bundle;
struct err;

/* The ending of the name of a file's checksum, which follows the file. */
#define BUNDLE_SUM ".crc32"
#define BUNDLE_SUM_LEN 8

/* Returns true if path ends like an archive. */
bool bundle_is_name(const char *path);
/* Creates the file. Returns a bundle for bundle_free(), or NULL and *err if the
 * file exists (unless force), or its name has an unknown ending. */
struct bundle *bundle_create(const char *path, bool force, struct err *err);
/* Adds an opened regular file as `name`; path is for messages. It is an error
 * if the file cannot be read; a file that shrinks meanwhile is filled with
 * zeros. Adds the size to *bytes. */
int bundle_add_file(struct bundle *b, const char *name, int fd,
		    const char *path, uint64_t *bytes, struct err *err);
int bundle_add_text(struct bundle *b, const char *name, const char *text,
		    struct err *err);
/* Adds the checksum of the file that was added last, as an entry `name`.
 * Returns 0, or -1 and *err. */
int bundle_add_sum(struct bundle *b, const char *name, struct err *err);
/* Returns 0 if all of it is on disk, or -1 and *err. */
int bundle_finish(struct bundle *b, struct err *err);
/* Removes the file unless bundle_finish() succeeded. */
void bundle_free(struct bundle *b);
