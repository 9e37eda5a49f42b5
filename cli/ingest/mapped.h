/* mapped.h - mappings of processes from files that the user names or that are
 * next to a capture. */
#pragma once
#include <stddef.h>

struct err;
struct ledger;
struct mapped;
struct source;
struct stitch;
struct symbolizer;

/* Reads n files, which are named as --maps does: PID=FILE, PID=FILE@SECONDS, or
 * a folder with PID.maps. Returns NULL and *err if one cannot be read. */
struct mapped *mapped_new(const char *const *given, size_t n, struct ledger *lg,
			  struct err *err);
/* To be called after stitch_free(). */
void mapped_free(struct mapped *md);
/* Passes the mappings of a source to the stitch: those that were given, then of
 * the folder 'maps' next to its capture, then of its own lists if files prove
 * their offsets. sy NULL: read no files. Returns 0, or -1 and *err. */
int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err);
