/* thread_start.h - decides whether a thread begins in the function in which a
 * stack ends and, if not, why a walk along frame pointers ends there.
 *
 * Call thread_start_at() once per distinct outermost frame, while the file is
 * open: callsite_reopen(). What all frames of a file share is found with the
 * first of them and kept with the file: most of it from a few functions; only a
 * file that starts threads itself is read as a whole. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct callsite;
struct callsite_file;
struct frame_share;
struct image;
struct symbolizer;

/* Returns the verdict. off: offset in the file of an outermost frame, a return
 * address; site: the call before it. */
enum thread_start thread_start_at(struct callsite_file *f, uint64_t off,
				  const struct callsite *site);
/* For a return address in which no stack ends. Returns ENDS_FUNCTION if its
 * function has set no frame pointer there, so that its caller is not in the
 * chain; ENDS_SWITCH if its callee is on another stack, too; what begins there,
 * as thread_start_at() does, if that is known without reading the whole file:
 * the C library's first functions run once; else START_UNKNOWN. *used: the
 * register has other data, so that the chain may continue with anything. */
enum thread_start thread_start_midway(struct callsite_file *f, uint64_t off,
				      const struct callsite *site, bool *used);
/* Returns the verdict of thread_start_at() for a return address if a thread
 * begins there, not only main(); else START_UNKNOWN. whole: read the whole file
 * if needed. */
enum thread_start thread_start_first(struct callsite_file *f, uint64_t off,
				     bool whole);
/* Returns how many functions of the file set a frame pointer, counted at the
 * first call; borrowed from f. sy, img: to open the file again if it was
 * settled. */
const struct frame_share *thread_start_share(struct callsite_file *f,
					     struct symbolizer *sy,
					     const struct image *img);
