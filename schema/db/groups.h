/* groups.h - reads the samples of a database, added up in groups: from table
 * sample_group, or from memory if the database was just made. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* A row of sample_group; 0 stands for NULL, except in weight, which is n if it
 * was NULL. */
struct store_group {
	int64_t type, comm, kernel, user; /* of kernel and user: stacks */
	int64_t mark, kernel_mark;
	int64_t weight, n;
};
typedef int store_group_fn(void *arg, const struct store_group *g,
			   struct err *err);
/* Calls fn for each group, in the order of the rows. Returns 0, or -1 and *err,
 * also of fn. */
int store_groups_each(const struct store *db, store_group_fn *fn, void *arg,
		      struct err *err);

/* How many frames the kernel keeps of a stack of an event: of its own half, and
 * of both together. */
struct kept_frames {
	uint32_t kernel, both;
};
/* Returns these numbers for each event_type.id, *n with index 0, for the caller
 * to free; NULL and *err on failure. */
struct kept_frames *store_kept_frames(const struct store *db, size_t *n,
				      struct err *err);

/* A group in memory, 32 bytes: reading one touches one cache line. Its members
 * are as wide as the accesses to them: a processor stalls if it reads in wider
 * pieces what it has just written in narrower ones (measured: 16 ns for each
 * sample). */
struct sample_group {
	uint64_t stacks; /* the kernel's << 32 | the user's */
	uint64_t what;	 /* type << 32 | comm */
	uint64_t weight;
	uint32_t marks; /* mark (16 bits, signed; 0: NULL) << 16 | kernel_mark
			   (0: NULL) << 8 | 1 if it has a weight; if 0, the
			   weight is NULL */
	uint32_t n;	/* 0: a free slot */
};

#define GROUP_WEIGHS 1u

static inline uint32_t sample_group_type(const struct sample_group *g)
{
	return (uint32_t)(g->what >> 32);
}

static inline int16_t sample_group_mark(const struct sample_group *g)
{
	return (int16_t)(g->marks >> 16);
}
