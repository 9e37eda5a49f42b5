/* sums_code.h - what a database that was just made still has in memory: sums of
 * samples, and the code of a database of sums. */
#ifndef SCHEMA_WRITE_SUMS_CODE_H
#define SCHEMA_WRITE_SUMS_CODE_H
#include <stdint.h>

struct err;
struct frames;
struct store;

/* A database of sums (store_sums_only()) has its code in memory, and no rows of
 * frame, symbol, stack and raw_chain. Returns it, or NULL: it has the rows. */
const struct frames *store_sums_code(const struct store *db);
/* Returns the name of a frame of it, NULL if it is not known, and how far the
 * frame is from the start of the function in *symoff. */
const char *store_sums_name(const struct store *db, uint32_t frame,
			    uint64_t *symoff);
/* Returns the file of a frame whose function is one of several of its name, see
 * store_shared_names(); NULL: not known. */
const char *store_sums_file(const struct store *db, uint32_t frame);
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
#endif
