/* sample_groups.h - the samples of a database, added up: what reads table
 * sample_group, or has it in memory where the database was just made. */
#pragma once
#include <stdint.h>

struct err;
struct store;

/* A row of sample_group; 0: NULL, but for weight, which is then n. */
struct store_group {
	int64_t type, comm, kernel, user; /* of kernel and user: stacks */
	int64_t mark, kernel_mark;
	int64_t weight, n;
};
struct store_group_walk {
	int (*fn)(void *arg, const struct store_group *g, struct err *err);
	void *arg;
};
/* Calls fn for each group, in the order of the rows. Call it after
 * store_groups_end() if this connection makes the database: its groups are then
 * taken from memory, if all are there. Returns 0, or -1 and *err, also of fn.
 */
int store_groups_each(struct store *db, const struct store_group_walk *w,
		      struct err *err);
