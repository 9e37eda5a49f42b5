/* bundle.h - one archive of several files, for somebody else: tar, packed as
 * its name says (.tar, .tar.gz, .tar.xz, .tar.zst).
 *
 * The same files make the same bytes: owners are 0 and times are too. */
#ifndef FORMATS_BUNDLE_H
#define FORMATS_BUNDLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bundle;
struct err;

/* Is it the name of an archive? */
bool bundle_is_name(const char *path);
/* A new file; NULL and *err when it exists (unless force), or its name says no
 * form that we write. */
struct bundle *bundle_create(const char *path, bool force, struct err *err);
/* name: where it is in the archive. A file that cannot be read is an error,
 * one that shrinks meanwhile is filled with zeros. *bytes grows. */
int bundle_add_file(struct bundle *b, const char *name, const char *path,
		    uint64_t *bytes, struct err *err);
int bundle_add_text(struct bundle *b, const char *name, const char *text,
		    struct err *err);
/* 0 when all of it is on disk. */
int bundle_finish(struct bundle *b, struct err *err);
/* Without finish() the file is removed. */
void bundle_free(struct bundle *b);
#endif
