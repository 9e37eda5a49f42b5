/* space.h - one address space: what is mapped where, and when it was.
 *
 * A newer mapping cuts an older one (the kernel reports no munmap); the
 * pieces of a cut mapping are mappings of their own, from that time on.
 * Regions that end go to the space's owner through closed(), once each. */
#ifndef STITCH_TASKS_SPACE_H
#define STITCH_TASKS_SPACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region {
	uint64_t start, end; /* [start, end); end 0 means 2^64 */
	uint64_t pgoff;	     /* offset in the image of start */
	uint32_t image;
	uint32_t prot, flags;
	uint32_t id;	/* of the mapping row */
	int64_t t0, t1; /* TIME_NONE: before; still there */
	int64_t since;	/* when it was mapped; a cut gives the rest a new t0
			 * only. Set by space_map() */
	bool derived;	/* pgoff was computed, nothing said it */
};

/* Sorted by start, not overlapping. A fork shares them until one side
 * changes something. */
struct regions {
	struct region *at;
	size_t n, cap;
	uint32_t refs;
	size_t charged; /* part of *held that goes with them */
	size_t *held;
};

struct space {
	struct regions *now; /* NULL: nothing */
	/* now is what another process had at the fork: its times and ids
	 * there are not ours; they are forked, and first_id + the place */
	bool inherited;
	uint32_t first_id; /* 0: no rows for them */
	int64_t forked;
	struct region *old; /* ended ones, when keep_old is set */
	size_t n_old, cap_old;
	struct regions *before; /* what the last exec ended; NULL: nothing */
	bool keep_old;	 /* records may come late: look-ups in the past */
	int64_t changed; /* time of the last change */
	/* Stacks resolved before stay right while these are the same: cut
	 * for stacks without unknown frames, any for all. */
	uint32_t cut, any;
};

typedef void region_fn(void *arg, const struct region *r);
typedef uint32_t region_id_fn(void *arg, size_t n);

/* How a space reaches its owner: n new ids for mappings, the first of which
 * is given back; news of ended ones. */
struct space_owner {
	region_id_fn *new_id;
	region_fn *closed;
	void *arg;
	size_t *held; /* regions that were copied after a fork; may be NULL */
	bool told;    /* what is mapped has its row already */
};

/* Maps r (r->t0 is now; id is set here). Empty or wrapping regions are
 * ignored. */
void space_map(struct space *sp, const struct region *r,
	       const struct space_owner *own);
/* Ends what overlaps [start, end) at t, without a successor. */
void space_unmap(struct space *sp, uint64_t start, uint64_t end, int64_t t,
		 const struct space_owner *own);
/* exec or the end of the process: nothing is mapped from t on. */
void space_clear(struct space *sp, int64_t t, const struct space_owner *own);
/* fork at t: the empty child starts with the parent's mappings, which costs
 * nothing until one of them changes. rows: they get ids and will be closed;
 * otherwise only look-ups know of them. */
void space_copy(struct space *child, struct space *parent, int64_t t, bool rows,
		const struct space_owner *own);
/* Is just this mapped now: the same range of the same image? */
bool space_has(const struct space *sp, const struct region *r);
/* Is all of it mapped that is in other? */
bool space_has_all(const struct space *sp, const struct space *other);
/* How many regions are mapped. */
size_t space_count(const struct space *sp);
/* What covered addr at t; NULL: nothing. TIME_NONE: now. Its id and times may
 * be the parent's. */
const struct region *space_find(const struct space *sp, uint64_t addr,
				int64_t t);
/* exec at t: as clear, but what was mapped is kept for space_before_exec(). */
void space_exec(struct space *sp, int64_t t, const struct space_owner *own);
/* What covered addr before the last exec; NULL: nothing. Until execve()
 * starts the new program, the task's user registers are the old program's. */
const struct region *space_before_exec(const struct space *sp, uint64_t addr);
/* The new program runs: nothing of the old one is looked up any more. */
void space_forget_exec(struct space *sp);
/* What is mapped now and ends nearest below addr; NULL: nothing. */
const struct region *space_below(const struct space *sp, uint64_t addr);
/* Between which mappings an address is that is not mapped: from the end of
 * the one below (0: none) to the start of the one above (0: none). */
void space_hole(const struct space *sp, uint64_t addr, uint64_t *start,
		uint64_t *end);
/* Where the next mapping above addr begins, at most end. */
uint64_t space_gap_end(const struct space *sp, uint64_t addr, uint64_t end);
void space_release(struct space *sp);
#endif
