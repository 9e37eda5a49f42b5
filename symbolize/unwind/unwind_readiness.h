/* unwind_readiness.h - by which means can a stack be unwound through the code
 * of an image? Asked of single places in it. */
#ifndef SYMBOLIZE_UNWIND_UNWIND_READINESS_H
#define SYMBOLIZE_UNWIND_UNWIND_READINESS_H
#include <stdbool.h>
#include <stdint.h>

struct image;
struct unwind_readiness;
struct symbolizer;

enum ready_by {
	READY_FP = 1,	  /* the frame pointer points to the caller's frame */
	READY_SFRAME = 2, /* SFrame has a rule */
	READY_EH = 4,	  /* .eh_frame has one */
};

/* The file of an image: one with another build-id is never used. NULL and
 * *why when there is none. */
struct unwind_readiness *unwind_readiness_open(struct symbolizer *sy,
					       const struct image *img,
					       const char **why);
void unwind_readiness_close(struct unwind_readiness *r);
/* enum ready_by of the place at a file offset. Whether the frame pointer is
 * set up there is what .eh_frame says, else SFrame; a machine or ABI that has
 * no chain of frame pointers (s390x) never is. */
unsigned int unwind_readiness_at(const struct unwind_readiness *r,
				 uint64_t off);
/* Its SFrame version: 0 none, -1 one that cannot be read. */
int unwind_readiness_sframe(const struct unwind_readiness *r);
#endif
