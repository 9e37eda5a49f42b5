/* formats.h - the table of capture formats, and opening a capture of any of
 * them. */
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

/* Determines the format of path ("-": stdin) and opens it. Returns NULL and
 * *err if no reader accepts it; the message tells what the file looks like. */
struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err);

/* What 'record --waits' adds to the name of a capture: for the readings of
 * cgroups, a file, and for pages of ftrace, a folder. */
#define BESIDE_CGROUPS ".cgroups"
#define BESIDE_FTRACE ".ftrace"

/* What a file, compressed or not, or a folder looks like: a text that may have
 * been printed of another capture; a folder with traces of LTTng in or below
 * it. */
enum formats_kind {
	LOOK_NONE,
	LOOK_TEXT,
	LOOK_SESSION,
	LOOK_CAPTURE
};
enum formats_kind formats_kind(const char *path);

/* Returns whether a file is a capture, compressed or not. */
bool formats_is_capture(const char *path);

/* Returns what names the LTTng session of a folder, for the caller to free;
 * NULL: it has none. Folders of one session are chunks of it, or snapshots. */
char *formats_session(const char *path);

/* Lets captures use what others of the same run tell, such as the clock of a
 * guest's host. Call when all are open and none is scanned. */
void formats_pair(struct source *const *src, size_t n);
