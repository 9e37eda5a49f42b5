/* formats.h - the table of capture formats; opens a capture of any format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct ledger;
struct source;
struct source_ops;
struct source_opts;

/* All readers; ends with NULL. */
extern const struct source_ops *const formats[];

/* Determines the format of path ("-": stdin) and opens it. Returns a source,
 * which its close() frees, or NULL and *err if no reader accepts it; the
 * message describes the file. */
struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err);

/* Suffixes that 'record --waits' adds to the name of a capture: for a file with
 * readings of cgroups, and for a folder with pages of ftrace. */
#define BESIDE_CGROUPS ".cgroups"
#define BESIDE_FTRACE ".ftrace"

/* Returns what a file, compressed or not, or a folder looks like: LOOK_TEXT is
 * a text that may have been printed from a capture, LOOK_SESSION a folder with
 * traces of LTTng in or below it. */
enum formats_kind {
	LOOK_NONE,
	LOOK_TEXT,
	LOOK_SESSION,
	LOOK_CAPTURE
};
enum formats_kind formats_kind(const char *path);

/* Returns whether a file is a capture, compressed or not. */
bool formats_is_capture(const char *path);

/* Returns a name of the LTTng session of a folder, for the caller to free, or
 * NULL. Folders with the same name are chunks or snapshots of one session. */
char *formats_session(const char *path);

/* Lets captures use facts of others in the same run, such as the clock of a
 * guest's host. Call it when all are open and none is scanned. */
void formats_pair(struct source *const *src, size_t n);
