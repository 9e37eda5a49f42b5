/* code.h - the code that a database knows: images, frames with their names and
 * lines, stacks, and the chains that were recorded.
 *
 * Loaded at once with a handful of scans. Memory is bounded by the number of
 * distinct images, frames, stacks and chains, not of samples. An item's index
 * is its id in the database; item 0 of each array is empty and means none.
 * Even of a damaged database, ids in the arrays are in range and a parent is
 * smaller than its child, so that a walk to the outermost frame ends. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/image_status.h"
#include "stitch/tasks/frame.h"

struct err;
struct rows;
struct store;

struct code_image {
	struct image img; /* kind, path, build-id, start, len, t0 */
	enum image_status status;
	int64_t pid; /* the process whose anonymous memory it is; else 0 */
	bool proved; /* its names are proved to be of its file */
};

/* A function, and a place in its source. */
struct code_where {
	const char *name; /* demangled; NULL: not known */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct code_frame {
	struct code_where at;	     /* of the function that is not inlined */
	const char *raw_name;	     /* mangled; NULL: the same as at.name */
	const char *bogus;	     /* "no_call", "no_code", or NULL */
	uint64_t off;		     /* as frame.off */
	uint64_t vaddr;		     /* for addr2line; if has_vaddr */
	uint64_t symoff;	     /* from the function's start */
	uint64_t symsize;	     /* of the function; 0 not known */
	uint32_t image;		     /* 1 to n_image - 1 */
	uint32_t flags;		     /* enum frame_flag */
	uint32_t inlined, n_inlined; /* in inlined[], innermost first */
	bool has_vaddr;
};

struct code_stack {
	uint32_t parent; /* less than its own id; 0: outermost */
	uint32_t frame;
	bool callerless; /* the parent is not the caller, which is missing; with
			  * CODE_CALLERS */
};

struct code_chain {
	const void *addrs; /* see store_addrs(); with CODE_ADDRS */
	uint32_t len, stack;
	uint8_t ended;	/* enum unwind_end; 0: as it was recorded */
	uint8_t caller; /* enum unwind_caller */
};

struct known_code {
	struct code_image *image;
	struct code_frame *frame;
	struct code_where *inlined;
	struct code_stack *stack;
	struct code_chain *chain;
	size_t n_image, n_frame, n_inlined, n_stack, n_chain; /* with item 0 */
	/* by stack: the position of its first bogus frame; 0: none; with
	 * CODE_WRONG, else NULL */
	uint32_t *wrong;
};

/* Returns a raw chain; item 0, which is empty, if there is no such chain:
 * samples of a database from elsewhere may name any. */
static inline const struct code_chain *code_chain_at(const struct known_code *c,
						     int64_t raw)
{
	return &c->chain[raw > 0 && (uint64_t)raw < c->n_chain ? raw : 0];
}

/* What to load beyond images, places of frames, and stacks. */
enum code_parts {
	CODE_NAMES = 1,	  /* at.name */
	CODE_LINES = 2,	  /* raw_name, at.file and at.line */
	CODE_INLINED = 4, /* inlined functions, with their lines */
	CODE_BOGUS = 8,	  /* bogus */
	CODE_CHAINS = 16, /* chains without addresses */
	CODE_ADDRS = 32,  /* chains with addresses */
	CODE_ALL = 63,
	CODE_CALLERS = 64, /* callerless */
	CODE_WRONG = 128,  /* wrong */
	CODE_BARE = 256	   /* images alone; see bare_code.h too */
};

/* Loads these parts (a sum of enum code_parts). Returns NULL and *err if the
 * database is damaged. Strings live until code_free(). */
struct known_code *code_load(struct store *db, unsigned int parts,
			     struct err *err);
void code_free(struct known_code *c);
/* Returns the rows of table stack, for code_next_stack() and rows_end(), which
 * accept NULL; NULL and *err on failure. */
struct rows *code_open_stacks(struct store *db, struct err *err);
/* Reads the next stack; its parent and frame are in range. n_frame is the
 * highest id of a frame, plus 1. Returns false at the end, or if the stack is
 * damaged, which rows_end() reports. */
bool code_next_stack(struct rows *r, size_t n_frame, struct code_stack *out);
