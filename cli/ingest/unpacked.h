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
	char **path; /* captures to be opened */
	size_t n, cap;
	const char *folder; /* NULL: no argument is an archive */
	struct unpacked_archive *archive;
	size_t n_archive;
	struct arena own;
	struct arena shown; /* of unpacked_show() */
};

/* Fills u->path with the arguments, or for an archive with its captures: binary
 * ones, or else texts. Borrows paths. Returns 0, or -1 and *err; call
 * unpacked_release() in either case. */
int unpacked_find(struct unpacked *u, char *const *paths, size_t n,
		  struct err *err);
/* Frees all and removes what was unpacked. */
void unpacked_release(struct unpacked *u);
/* Returns a text with the names of archives in place of paths in the folder;
 * borrowed until the next call. */
const char *unpacked_show(void *unpacked, const char *text);
/* Replaces paths in the message of *err, as unpacked_show() does. */
void unpacked_say(struct unpacked *u, struct err *err);
/* Names a source as its archive does, and notes what the archive lacks. */
void unpacked_name(struct unpacked *u, struct source *src);
/* If the captures are those of one archive, adds to *err how to name one. */
void unpacked_advise(struct unpacked *u, struct err *err);
/* Refuses several captures where one is read: returns -1 and *err. */
int unpacked_which(const struct unpacked *u, struct err *err);

/* The captures that are read. Folders of one LTTng session that are given
 * together, such as the chunks of a rotation or snapshots, are one capture;
 * what 'record --waits' writes next to a capture is read with it. */

struct session_folders {
	char **path;	  /* by capture: its first folder; borrowed */
	char **session;	  /* by capture: its session; NULL: none */
	char ***more;	  /* by capture: other folders, then NULL; borrowed */
	size_t n, given;  /* given: captures that were given; they come first */
	struct arena own; /* names that were not given */
};

/* Joins the folders of each session, in the order of the first ones. Paths are
 * borrowed. apart: each path is a capture. Unless apart, the captures are
 * followed by FILE.ftrace and FILE.cgroups of each FILE, if they exist, were
 * not given, and are not of an earlier recording, before FILE was written. */
void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart);
void session_folders_release(struct session_folders *c);
