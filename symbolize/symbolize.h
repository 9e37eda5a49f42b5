/* symbolize.h - finds names for code offsets, one image at a time.
 *
 * locate.c describes where the file of an image is searched for and how it is
 * proved to be the recorded one. The table resolvers[] of symbolize.c lists the
 * sources of names, best first. */
#pragma once
#include <stddef.h>

#include "stitch/symbol.h"
#include "symbolize/options.h"
#include "symbolize/report.h"

struct image;

struct symbolizer *symbolize_new(const struct symbolize_opts *o);
void symbolize_free(struct symbolizer *sy);

/* Names the n offsets of code[], which is sorted by off without duplicates.
 * Calls fn at least once for each offset (name NULL: unknown) and fills *rep.
 * Returns 0, or -1 and *err. A file that cannot be read is no error: its
 * offsets stay unknown and the report has the reason. */
int symbolize_image(struct symbolizer *sy, const struct image *img,
		    const struct code_place *code, size_t n, symbol_fn *fn,
		    void *arg, struct image_report *rep, struct err *err);
