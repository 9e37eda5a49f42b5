/* callsite.h - the call-site check: can a return address be true, and does the
 * call in front of it go to the function of the next inner frame?
 *
 * callsite_open() for each image, callsite_at() for its return addresses, then
 * callsite_settle(): the file is closed and tables of functions are kept, for
 * callsite_link() between any two. Work per distinct place. */
#ifndef SYMBOLIZE_UNWIND_CALLSITE_H
#define SYMBOLIZE_UNWIND_CALLSITE_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct callsite_file;
struct image;
struct section_used;
struct symbolizer;

/* The file that ran, with its code. NULL and *why ("no file", ...) when there
 * is none. *unverified: no build-id proves that it is the one. */
struct callsite_file *callsite_open(struct symbolizer *sy,
				    const struct image *img, const char **why,
				    bool *unverified);
void callsite_close(struct callsite_file *f);
void callsite_settle(struct callsite_file *f);
/* The code that is looked into, before it is settled; borrowed from f. */
bool callsite_text(const struct callsite_file *f, struct section_used *out);

/* Is this range of the file, mapped as code, what a loader maps of this file's
 * code? Files of another build mostly have other sizes. */
bool callsite_fits(const struct callsite_file *f, uint64_t pgoff, uint64_t len);

/* What is in front of a return address, by its offset in the file. The target
 * is an ELF address; 0: none, or not known. */
struct callsite {
	enum callsite_kind kind;
	uint64_t target;
};

void callsite_at(const struct callsite_file *f, uint64_t off,
		 struct callsite *out);

/* Does the call at `site` in file f go to the function around the offset off
 * of the file `inner` (NULL: not known)? */
enum callsite_link callsite_link(const struct callsite_file *f,
				 const struct callsite *site,
				 const struct callsite_file *inner,
				 uint64_t off);
#endif
