/* resolve.h - turns recorded addresses into interned stacks.
 *
 * A list that was resolved before, in the same state of the same space, costs
 * one hash and one comparison. The cache has a fixed size. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"

struct header_ids;
struct jit_view;
struct record;
struct region;
struct resolve;
struct source;
struct space;

/* Returns a new resolver, to be freed by resolve_free(). It takes over ids and
 * borrows fr. */
struct resolve *resolve_new(struct frames *fr, struct header_ids *ids);
void resolve_free(struct resolve *rv);

/* Return the interned image of a REC_MAP or REC_KSYMBOL. Sets *pgoff to the
 * offset of the region's start in the image. process: row id, 0 for the
 * kernel. */
uint32_t resolve_map_image(struct resolve *rv, const struct source *src,
			   const struct record *rec, uint32_t process,
			   uint64_t *pgoff);
uint32_t resolve_ksymbol_image(struct resolve *rv, const struct record *rec);

/* Returns the image for a copy, len bytes long, of a file's code in other
 * memory mapped in its place. */
uint32_t resolve_copy_image(struct resolve *rv, uint32_t image, uint64_t len);
/* Returns whether an image is memory that does not belong to a file on a
 * disk. */
bool resolve_is_memory(const struct resolve *rv, uint32_t image);

/* Path of a file whose name is unknown: each mapping becomes a separate
 * image. */
#define RESOLVE_UNNAMED "[unnamed file]"

#define RESOLVE_NONE UINT32_MAX

/* The context of a list of user addresses. */
struct resolve_in {
	const struct space *space;
	const struct jit_view *jit; /* NULL: none */
	/* the process's spaces in other captures */
	const struct space *const *shared;
	uint32_t n_shared;
	uint32_t space_id;	/* row id of the process */
	uint32_t view;		/* identifies the space in the cache */
	uint32_t inferred;	/* index of an address that was not recorded, or
				 * RESOLVE_NONE */
	bool inferred_function; /* the inferred address is the start of a
				 * function whose return address is not known */
	uint32_t guessed;	/* index of the first address found by frame
				 * pointer, or RESOLVE_NONE */
	struct raw_note note;
	uint64_t mask;	/* see user_mask_of() */
	int64_t t;	/* time of the record */
	bool uncertain; /* a lost mapping record may be the reason why an
			 * address is not mapped */
	bool partial;	/* not all mappings of the process are known */
	/* If partial: returns whether an address is data of the file whose code
	 * is at r. NULL: not known. */
	bool (*is_data)(void *arg, const struct region *r, uint64_t addr);
	/* Returns whether nothing has called the function at a return address,
	 * which is code at r. NULL: not known. */
	bool (*begins)(void *arg, const struct region *r, uint64_t addr);
	void *arg;
	bool once;	/* a dump: the cache is not used, as such lists seldom
			 * repeat */
	uint64_t asked; /* *asked of resolve_known(), under which the result is
			 * cached, if the unwinder's answer depends only on
			 * mapped code; 0: it was not called */
};

/* The context of a list of kernel addresses: the mappings of up to two
 * captures, the better one first. over: code that was added above the kernel's
 * own mapping. */
struct resolve_kernel {
	const struct space *base[2], *over[2];
	unsigned int n;
	uint32_t space_id; /* identifies the space in the cache */
	uint32_t like;	   /* a number that lists which are often equal share;
			    * the result does not depend on it */
	struct raw_note note;
	int64_t t;
};

/* Which addresses of a list are not mapped. */
struct resolve_found {
	bool bare;  /* the innermost address, in the process's own space, nor
		     * before exec */
	bool stray; /* some address, in all spaces: its frame is unknown */
};

/* Returns the raw chain that an equal list of a space (view) got with the
 * unwinder's answer, or 0: then the unwinder must be asked. *asked: in, other
 * values on which the answer depends; out, the value for resolve_in.asked. The
 * process must have no jitted code, and no mappings of a program before
 * exec. */
uint32_t resolve_known(struct resolve *rv, const struct space *sp,
		       uint32_t view, int64_t t, const struct addrs *a,
		       uint64_t *asked);
/* Prefetches what resolve_known() and resolve_user() will look up first. */
void resolve_prefetch(const struct resolve *rv, uint32_t view,
		      const struct addrs *a);
/* Return the raw chain id, or 0 for an empty list. */
uint32_t resolve_user(struct resolve *rv, const struct resolve_in *in,
		      const struct addrs *a, struct resolve_found *found);
uint32_t resolve_kernel(struct resolve *rv, const struct resolve_kernel *in,
			const struct addrs *a);
/* Resolves all addresses to code of a guest's kernel, or of its programs. */
uint32_t resolve_guest(struct resolve *rv, const struct addrs *a, bool user,
		       struct raw_note note);
