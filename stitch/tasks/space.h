/* space.h - the mappings of an address space over time.
 *
 * A newer mapping replaces the part of an older one that it overlaps, because
 * the kernel reports no munmap. The remaining parts become regions of their own
 * from then on. closed() tells the owner of the space about each region that
 * ends, once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* A B-tree, by index and by address, whose nodes are shared: a copy of n
 * regions takes O(1), and a change copies the O(log n) nodes on its path that
 * are shared. Processes map files from high addresses downwards and fork with
 * thousands of mappings, so an array would be moved or copied for each record.
 *
 * After a fork the ids and times of all regions change at once. A link holds
 * them for everything below it, until a change needs separate nodes. */

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

/* Returns true if the region may contain code: it is executable, or its
 * protection is unknown. That is known if flags are set, as they always have
 * MAP_SHARED or MAP_PRIVATE: so a PROT_NONE mapping, like a new thread's stack
 * at first, is no code. */
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
	/* The regions are those of the parent at a fork: their ids are first_id
	 * + index (first_id 0: they have no rows), and they begin at
	 * `forked`. */
	bool inherited;
	uint32_t first_id;
	int64_t forked;
};

/* Returns region i (0..n-1) as it is stored: its id and times may be the
 * parent's. Borrowed until the next change. */
const struct region *regions_stored(const struct regions *rs, size_t i);
/* Returns region i with the ids and times of these regions. */
struct region regions_get(const struct regions *rs, size_t i);
/* Calls fn for each region in order, with its own id and times. with_rows: only
 * for those that have a row. */
typedef void region_fn(void *arg, const struct region *r);
void regions_each(const struct regions *rs, bool with_rows, region_fn *fn,
		  void *arg);
void regions_release(struct regions *rs);

/* A child of clone(CLONE_VM), as vfork() and posix_spawn() make it, runs in its
 * parent's address space until it calls exec, but the FORK record does not tell
 * it from a child with a copy (Linux 7.2). So parent and child are kin until
 * one of them calls exec, and what one of them maps after the FORK may be
 * mapped for all. */

/* [start, end) */
struct space_range {
	uint64_t start, end;
};

/* Processes that are kin, and the ranges that they mapped since. */
struct shared_space {
	uint32_t members;	/* 0: unused */
	struct space_range *at; /* sorted; two are never adjacent */
	size_t n, cap;
};

/* All zeros: empty. */
struct shared_spaces {
	struct shared_space *kin;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
};

void shared_spaces_release(struct shared_spaces *ks);
/* Adds a member to a kin; kin 0: creates one. Returns the number of the kin. */
uint32_t shared_spaces_join(struct shared_spaces *ks, uint32_t kin);
/* Removes a member; kin 0: does nothing. */
void shared_spaces_leave(struct shared_spaces *ks, uint32_t kin);
/* Notes that a member maps [start, end); kin 0: does nothing. */
void shared_spaces_map(struct shared_spaces *ks, uint32_t kin, uint64_t start,
		       uint64_t end);
/* Returns whether a member mapped the address. */
bool shared_spaces_maps(const struct shared_spaces *ks, uint32_t kin,
			uint64_t addr);

struct space {
	struct regions now;
	struct region *old; /* regions that ended; used with keep_old */
	size_t n_old, cap_old;
	struct regions before; /* regions that the last exec ended */
	bool keep_old;	 /* records may be late: keep regions for look-ups */
	bool complete;	 /* all mappings of code are known: from exec or fork on
			  * by records, or from a list. Else only some are. A
			  * change of it alone is not counted below. */
	bool cut_short;	 /* the recorder's list of them ended early */
	bool anon_code;	 /* it has anonymous code, which mremap() moves and
			  * extends without a record (Linux 7.2) */
	int64_t changed; /* time of the last change */
	/* Change counters: of code that was cut or ended, and of any change.
	 * Cached stacks whose frames are all in code are valid while cut is the
	 * same; others while both are. Programs that map and unmap data all the
	 * time do not lose their stacks. */
	uint32_t cut, any;
};

/* The owner of a space. closed() is called for each region that ends. */
struct space_owner {
	uint32_t *ids; /* the last id that a mapping got */
	void (*closed)(const struct space_owner *own, const struct region *r);
	void *arg;	  /* for closed(), as is `process` */
	uint32_t process; /* row id of the process; 0: the kernel */
	size_t *held;	/* number of regions copied after forks; may be NULL */
	bool with_rows; /* new mappings already have a row: they get no id */
};

/* Returns true if code is mapped where the space says so, and nowhere else. */
static inline bool space_is_complete(const struct space *sp)
{
	return sp->complete && !sp->anon_code && !sp->cut_short;
}

/* Maps r from r->t0 on and sets its id. Ignores empty and wrapping regions. */
void space_map(struct space *sp, const struct region *r,
	       const struct space_owner *own);
/* Removes everything in [start, end) at t. */
void space_unmap(struct space *sp, uint64_t start, uint64_t end, int64_t t,
		 const struct space_owner *own);
/* Removes everything at t: exec, or the end of the process. */
void space_clear(struct space *sp, int64_t t, const struct space_owner *own);
/* Gives an empty child the parent's mappings, at t. Copies nothing until one of
 * them changes. rows: the regions get ids and will be closed; else they serve
 * look-ups only. */
void space_copy(struct space *child, struct space *parent, int64_t t, bool rows,
		const struct space_owner *own);
/* Returns true if this range is mapped to the same image at the same offset. */
bool space_has(const struct space *sp, const struct region *r);
/* Returns true if all mappings of other are mapped in sp too. */
bool space_has_all(const struct space *sp, const struct space *other);
/* Returns the region that covered addr at t (TIME_NONE: now), or NULL. Its id
 * and times may be the parent's. */
const struct region *space_find(const struct space *sp, uint64_t addr,
				int64_t t);
/* Calls fn with each part of r, which space_map() has mapped, that is still
 * mapped (its t1 is TIME_NONE) or was mapped until its t1; its t0 is r->t0. */
void space_parts_of(const struct space *sp, const struct region *r,
		    region_fn *fn, void *arg);
/* Like space_clear(), but keeps the regions for space_before_exec(). */
void space_exec(struct space *sp, int64_t t, const struct space_owner *own);
/* Returns the region that covered addr before the last exec, or NULL. Until
 * execve() starts the new program, the task's user registers are those of the
 * old program. */
const struct region *space_before_exec(const struct space *sp, uint64_t addr);
/* Returns the current region with the highest end below addr, or NULL. */
const struct region *space_below(const struct space *sp, uint64_t addr);
/* Returns the mask of an address's bits in this space; mask: that of the
 * machine. AArch64 has addresses of 39, 42, 47 or 48 bits, with signatures
 * above them: the last mapping, of a library or [vdso], shows which. With 52
 * bits, a program must request addresses above 48. */
uint64_t space_user_mask(const struct space *sp, uint64_t mask);
/* Sets the bounds of the gap around an address that is not mapped: the end of
 * the region below (0: none) and the start of the region above (0: none). */
void space_hole(const struct space *sp, uint64_t addr, uint64_t *start,
		uint64_t *end);
void space_release(struct space *sp);
