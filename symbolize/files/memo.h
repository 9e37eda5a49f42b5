/* memo.h - what an image was named before, kept on disk by build-id.
 *
 * Calls: memo_open(), memo_tell() for what is known, memo_note() for all that
 * is told of the rest, memo_close(), which writes the file when something was
 * noted. A memo holds which files were looked for and what they were then
 * (size, time, inode): one that came, went or changed since makes it void. */
#ifndef SYMBOLIZE_FILES_MEMO_H
#define SYMBOLIZE_FILES_MEMO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct err;
struct image;
struct image_report;
struct memo;
struct symbolizer;
struct tried;

/* NULL when nothing can be kept: no folder, no build-id, other reasons. */
struct memo *memo_open(struct symbolizer *sy, const struct image *img);
/* Tells what is known of code[]; rest[] (room for n) gets what is not, *n_rest
 * how many. 0, or -1 when fn said so. */
int memo_tell(const struct memo *m, const struct code_place *code, size_t n,
	      symbol_fn *fn, void *arg, struct code_place *rest, size_t *n_rest,
	      struct err *err);
/* The list of files looked for from now on. */
struct tried *memo_tried(struct memo *m);
/* The report of then: the image needs no look at its files. False: it has
 * none. */
bool memo_report(const struct memo *m, struct image_report *rep);
void memo_note(struct memo *m, const struct code_place *code,
	       const struct symbol *sym);
/* rep NULL: nothing is written. Says in rep->note when the names are others
 * than they were. */
void memo_close(struct memo *m, struct symbolizer *sy,
		struct image_report *rep);
/* Removes what was not used for longest when the folder is too big. */
void memo_prune(const struct symbolizer *sy);

/* Remembers that the path was looked for. t NULL: nothing. */
void tried_add(struct tried *t, const char *path);
#endif
