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

/* ---- which captures are read: folders of one LTTng session
 * that are given together, as the chunks of a rotation or snapshots are, are
 * one capture; and what 'record --waits' writes next to a capture is read with
 * it. */

struct session_folders {
	char **path;	  /* of each capture, the first folder; borrowed */
	char **session;	  /* whose folders they are; NULL: of none */
	char ***more;	  /* the other folders, then NULL; borrowed */
	size_t n, given;  /* the first ones */
	struct arena own; /* of names that were not given */
};

/* Puts the folders of each session together, in the order of the first ones. A
 * path is borrowed. apart: each path is a capture. Behind these come
 * FILE.ftrace and FILE.cgroups of each FILE, unless apart: where they are
 * there, were not given, and are not of an earlier recording, before FILE was
 * written. */
void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart);
void session_folders_release(struct session_folders *c);
