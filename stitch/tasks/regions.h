/* regions.h - regions of an address space in a tree that is cheap to copy.
 *
 * A B-tree, by index and by address, whose nodes are shared: a copy of n
 * regions takes O(1), and a change copies the O(log n) nodes on its path that
 * somebody else has as well. Processes map files from high addresses downwards
 * and fork with thousands of mappings, so an array would be moved or copied for
 * each record.
 *
 * After a fork the ids and times of all regions change at once. A link says so
 * for everything below it, until a change needs the nodes for itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

struct region {
	uint64_t start, end; /* [start, end); end 0 means 2^64 */
	uint64_t pgoff;	     /* offset of start in the image */
	uint32_t image;
	uint32_t prot, flags;
	uint32_t id;	/* id of the mapping row */
	int64_t t0, t1; /* TIME_NONE: before the capture; not ended */
	int64_t since;	/* when it was mapped; after a cut, only t0 of the
			 * remaining parts changes. Set by space_map() */
	bool derived;	/* pgoff was computed, not recorded */
};

/* Returns true if it may contain code: it is executable, or that is unknown. It
 * is known where flags are: one of MAP_SHARED and MAP_PRIVATE is always set. So
 * a PROT_NONE mapping, as the stack of a new thread at first, is none. */
static inline bool region_is_code(const struct region *r)
{
	return r->prot & PROT_EXEC || (!r->prot && !r->flags);
}

struct region_node;

/* Regions, sorted by start, without overlaps. All zero: none. */
struct regions {
	struct region_node *node;
	size_t n;
	uint64_t last; /* the last address of the last region; n > 0 */
	/* The regions are those that a parent had at a fork: their ids are
	 * first_id + index (0: they have no rows), and they begin at forked. */
	bool inherited;
	uint32_t first_id;
	int64_t forked;
};

/* Returns the index of the first region that ends above addr, or n. */
size_t regions_first_above(const struct regions *rs, uint64_t addr);
/* Returns region i (0..n-1) as it is stored: its id and times may be the
 * parent's. Borrowed until the next change. */
const struct region *regions_stored(const struct regions *rs, size_t i);
/* Returns region i with the ids and times of these regions. */
struct region regions_get(const struct regions *rs, size_t i);
/* Inserts r before region i (0..n), or removes region i. held, which may be
 * NULL, counts the regions and links that are copied because they are shared,
 * until they are freed. */
void regions_insert(struct regions *rs, size_t i, const struct region *r,
		    size_t *held);
void regions_remove(struct regions *rs, size_t i, size_t *held);
/* Calls fn for each region in order, with its own id and times. told: only for
 * those that have a row. */
typedef void region_fn(void *arg, const struct region *r);
void regions_each(const struct regions *rs, bool told, region_fn *fn,
		  void *arg);
/* Returns the same regions once more, for regions_release(). */
struct regions regions_share(const struct regions *rs);
void regions_release(struct regions *rs);
