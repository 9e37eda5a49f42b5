/* unpacked.h - captures in archives: these are unpacked into a temporary folder
 * while captures are read, and keep the names "ARCHIVE/MEMBER". One of them can
 * be given by that name. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

struct err;
struct source;

struct unpacked_archive;

struct unpacked {
	char **path; /* what is to be opened */
	size_t n, cap;
	const char *folder; /* NULL: no argument is an archive; no paths */
	struct unpacked_archive *archive;
	size_t n_archive;
	struct arena own;
	struct arena shown; /* the last text of unpacked_show() */
};

/* Puts captures of archives in the place of these: binary ones, or else texts.
 * Borrows the arguments. Returns 0, or -1 and *err; to be released in either
 * case. */
int unpacked_find(struct unpacked *u, char *const *paths, size_t n,
		  struct err *err);
/* Removes what was unpacked. */
void unpacked_release(struct unpacked *u);
/* Returns a text with the names of archives in place of paths in the folder;
 * borrowed until the next call. */
const char *unpacked_show(void *unpacked, const char *text);
/* Does so with a message. */
void unpacked_say(struct unpacked *u, struct err *err);
/* Names a source as its archive does, and notes what the archive lacks. */
void unpacked_name(struct unpacked *u, struct source *src);
/* If the captures are those of one archive, adds to *err how to name one. */
void unpacked_advise(struct unpacked *u, struct err *err);
/* For what takes one capture, if there are several: returns -1 and *err. */
int unpacked_which(const struct unpacked *u, struct err *err);
