/* resolve.h - recorded addresses to interned stacks.
 *
 * A list of addresses that was resolved before in the same state of the same
 * space costs one hash and one comparison; the cache has a fixed size. */
#ifndef STITCH_TASKS_RESOLVE_H
#define STITCH_TASKS_RESOLVE_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"

struct addrs;
struct frames;
struct jit_view;
struct record;
struct resolve;
struct source;
struct space;

struct resolve *resolve_new(struct frames *fr);
void resolve_free(struct resolve *rv);

/* What a REC_MAP or REC_KSYMBOL maps, as an interned image. *pgoff becomes
 * the offset of the region's start in that image. process: row id, 0 for the
 * kernel. */
uint32_t resolve_map_image(struct resolve *rv, const struct source *src,
			   const struct record *rec, uint32_t process,
			   uint64_t *pgoff);
uint32_t resolve_ksymbol_image(struct resolve *rv, const struct record *rec);

/* Of an image: is it a file, is it anonymous memory, and its path. */
bool resolve_is_file(const struct resolve *rv, uint32_t image);
bool resolve_is_anon(const struct resolve *rv, uint32_t image);
const char *resolve_path(const struct resolve *rv, uint32_t image);

/* Path of a file that nothing names: each mapping is an image of its own. */
#define RESOLVE_UNNAMED "[unnamed file]"

#define RESOLVE_NONE UINT32_MAX

/* Where and when a list of user addresses belongs. */
struct resolve_in {
	const struct space *space;
	const struct jit_view *jit; /* NULL: none */
	/* of other captures, for what the own one does not know */
	const struct space *const *shared;
	uint32_t n_shared;
	uint32_t space_id; /* row id of the process */
	uint32_t view;	   /* tells spaces apart */
	uint32_t inferred; /* index of an address that was not recorded, or
			    * RESOLVE_NONE */
	uint32_t guessed;  /* from this one on: found by frame pointer; or
			    * RESOLVE_NONE */
	struct raw_note note;
	uint64_t mask;	/* of user addresses (pointer authentication) */
	int64_t t;	/* the time of the record */
	bool uncertain; /* what is not mapped may be so because a mapping
			 * record was lost */
};

/* Kernel code, by up to two captures: the first that knows it is right. over:
 * code that comes and goes above the kernel's own map. */
struct resolve_kernel {
	const struct space *base[2], *over[2];
	unsigned int n;
	uint32_t space_id; /* tells them apart */
	int64_t t;
};

/* Raw chain ids; 0 for an empty list. *bare: the first address is not mapped
 * in the own space, nor was it before exec. */
uint32_t resolve_user(struct resolve *rv, const struct resolve_in *in,
		      const struct addrs *a, bool *bare);
uint32_t resolve_kernel(struct resolve *rv, const struct resolve_kernel *in,
			const struct addrs *a);
/* All addresses in code of a guest. */
uint32_t resolve_guest(struct resolve *rv, const struct addrs *a);
#endif
