/* unwind_readiness.h - finds out by which methods a stack can be unwound
 * through an image, for single offsets in it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/image_status.h"

struct image;
struct symbolizer;

enum ready_by {
	READY_FP = 1,	  /* FP points to the saved FP of the caller */
	READY_SFRAME = 2, /* SFrame covers it */
	READY_EH = 4,	  /* .eh_frame covers it */
};

struct unwind_readiness {
	uint16_t machine;
	int sframe; /* its version: 0 none, -1 unreadable */
	struct unwind_rows *by_sframe, *by_eh; /* NULL: none */
	struct segment *seg;
	size_t n_seg;
};

/* Opens the file of an image, never one with another build-id. Returns NULL and
 * *why if there is none. */
struct unwind_readiness *unwind_readiness_open(struct symbolizer *sy,
					       const struct image *img,
					       enum image_status *why);
void unwind_readiness_close(struct unwind_readiness *r);
/* Returns the enum ready_by flags for a file offset. .eh_frame, or else SFrame,
 * shows whether FP is set up. s390x has no frame-pointer chain. */
unsigned int unwind_readiness_at(const struct unwind_readiness *r,
				 uint64_t off);
