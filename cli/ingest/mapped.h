/* mapped.h - what processes had mapped, from files that the user names or
 * that lie beside a capture. */
#ifndef CLI_INGEST_MAPPED_H
#define CLI_INGEST_MAPPED_H
#include <stdint.h>

#include "cli/command.h"

struct err;
struct ledger;
struct mapped;
struct source;
struct stitch;
struct symbolizer;

/* --maps */
extern const struct opt mapped_opts[];

/* Reads what the options name; NULL and *err when that cannot be done. */
struct mapped *mapped_new(struct ledger *lg, struct err *err);
/* After the stitch. */
void mapped_free(struct mapped *md);
/* Tells the stitch about a source: by the options, then by the folder 'maps'
 * beside its capture, then by its own lists as far as files prove their
 * offsets. sy NULL: look at no file. */
int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err);
#endif
