/* symbolize.h - names for offsets, one image at a time.
 *
 * Where a file may come from and how it is proved to be the recorded one:
 * locate.c. Who can name offsets in it: the resolvers' table, best first. */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"
#include "symbolize/options.h"
#include "symbolize/report.h"
#include "symbolize/resolver.h"

struct image;
struct symbolizer;

struct symbolizer *symbolize_new(const struct symbolize_opts *o);
void symbolize_free(struct symbolizer *sy);

extern const struct resolver *const resolvers[]; /* ends with NULL */

/* code[] is sorted by off and unique; fn is called at least once for every
 * offset (name NULL: unknown). Fills *rep. A file that cannot be read is no
 * error: its offsets stay unknown and the report says why. */
int symbolize_image(struct symbolizer *sy, const struct image *img,
		    const struct code_place *code, size_t n, symbol_fn *fn,
		    void *arg, struct image_report *rep, struct err *err);

#endif
