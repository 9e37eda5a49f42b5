/* code.h - the code that a database knows: images, frames with their names and
 * lines, stacks, and the chains that were recorded.
 *
 * Loaded at once with a handful of scans, for whoever needs more of a frame
 * than its label (label.h): exports, checks. What is in memory is bounded by
 * the number of distinct images, frames, stacks and chains, not of samples.
 * Ids are those of the database; item 0 of each array is empty and means
 * none. Whatever a damaged database says, ids inside the arrays are in their
 * range and a parent is smaller than its child. */
#ifndef CLI_MODEL_CODE_H
#define CLI_MODEL_CODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"

struct err;
struct store;

struct code_image {
	struct image img;   /* kind, path, build-id, start, len, t0 */
	const char *status; /* "named", "no file", ...; "" */
	int64_t pid;	    /* whose anonymous memory it is; else 0 */
};

/* A function, and where in its source. */
struct code_where {
	const char *name; /* demangled; NULL: not named */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct code_frame {
	struct code_where at;	     /* of the function that is not inlined */
	const char *raw_name;	     /* as in the file; NULL: as at.name */
	const char *bogus;	     /* why no call returns to here; NULL */
	uint64_t off;		     /* as frame.off */
	uint64_t vaddr;		     /* what addr2line wants; has_vaddr */
	uint64_t symoff;	     /* from the function's start */
	uint64_t symsize;	     /* of the function; 0 not known */
	uint32_t image;		     /* 1 ... n_image - 1 */
	uint32_t flags;		     /* enum frame_flag */
	uint32_t inlined, n_inlined; /* in inlined[], innermost first */
	bool has_vaddr;
};

struct code_stack {
	uint32_t parent; /* < own id; 0: the outermost */
	uint32_t frame;
};

struct code_chain {
	const void *addrs; /* blob, see store_addrs() */
	uint32_t len, stack;
	uint8_t ended;	/* enum unwind_end; 0: it was recorded */
	uint8_t caller; /* enum unwind_caller */
};

struct known_code {
	struct code_image *image;
	struct code_frame *frame;
	struct code_where *inlined;
	struct code_stack *stack;
	struct code_chain *chain;
	size_t n_image, n_frame, n_inlined, n_stack, n_chain; /* with item 0 */
};

/* NULL and *err when the database is damaged. Strings live as long. */
struct known_code *code_load(struct store *db, struct err *err);
/* The same without names, lines, bogus frames and chains. */
struct known_code *code_load_places(struct store *db, struct err *err);
void code_free(struct known_code *c);
/* Is it code of the kernel, or of a guest's? */
bool code_is_kernel(enum image_kind kind);
#endif
