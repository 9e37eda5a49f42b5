/* thread_start.h - does a thread begin in the function in which a stack ends?
 * If not, why does a walk along frame pointers end there?
 *
 * Call thread_start_at() once per distinct outermost frame, while the file is
 * open: callsite_reopen(). What is the same for all frames of a
 * file is found with the first of them and kept with the file: most of it by
 * looking at a few functions; only a file that starts threads itself is read as
 * a whole. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct callsite;
struct callsite_file;
struct frame_share;
struct image;
struct symbolizer;

/* off: offset in the file of an outermost frame, a return address; site: what
 * precedes it. */
enum thread_start thread_start_at(struct callsite_file *f, uint64_t off,
				  const struct callsite *site);
/* For a return address in which no stack ends. Returns ENDS_FUNCTION if its
 * function has set no frame pointer there, so that its own caller is not in the
 * chain; ENDS_SWITCH if what it has called is on another stack, too; what
 * begins there, if it is known without reading the whole file, as
 * thread_start_at() does: the C library's first functions run once; else
 * START_UNKNOWN. *used: it has other data in that register, so that the chain
 * may go on with anything. */
enum thread_start thread_start_midway(struct callsite_file *f, uint64_t off,
				      const struct callsite *site, bool *used);
/* Returns what thread_start_at() says about a return address, if a thread
 * begins there, not only main(); else START_UNKNOWN. whole: not only what is
 * known without reading the whole file. */
enum thread_start thread_start_first(struct callsite_file *f, uint64_t off,
				     bool whole);
/* Returns how many functions of the file set a frame pointer, counted with the
 * first call; borrowed from it. sy, img: to open the file again if it was
 * settled. */
const struct frame_share *thread_start_share(struct callsite_file *f,
					     struct symbolizer *sy,
					     const struct image *img);
