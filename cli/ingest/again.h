/* again.h - looks again at user stacks when mappings came late. */
#pragma once

struct err;
struct frames;
struct order;
struct stitch;
struct store;

/* Corrects the stacks that were stored before mappings of their processes came.
 * Call it after store_groups_end(). Returns 0, or -1 and *err. */
int again_resolve(struct store *db, struct stitch *st, struct order *ord,
		  struct frames *fr, struct err *err);
