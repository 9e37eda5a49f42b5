/* mapped.h - mappings of processes from files that the user names or that are
 * beside a capture. */
#pragma once

#include "cli/args/command.h"

struct ledger;
struct mapped;
struct source;
struct stitch;
struct symbolizer;

/* --maps */
extern const struct opt mapped_opts[];

/* Reads the files that the options name. Returns NULL and *err if one cannot be
 * read. */
struct mapped *mapped_new(struct ledger *lg, struct err *err);
/* To be called after stitch_free(). */
void mapped_free(struct mapped *md);
/* Passes the mappings of a source to the stitch: those of the options, then of
 * the folder 'maps' beside its capture, then of its own lists if files prove
 * their offsets. sy NULL: read no files. Returns 0, or -1 and *err. */
int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err);
