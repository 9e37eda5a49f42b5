/* rename.h - threads whose tid changed: one that is not the first of its
 * process and calls exec goes on under the tid of the first, which has ended.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rename_row {
	int64_t time;	  /* the tid had changed then */
	int32_t from, to; /* from -1: a thread of the process `to` */
};

struct renames {
	struct rename_row *at; /* free() it */
	size_t n, cap;
	bool sorted;
};

void renames_add(struct renames *r, const struct rename_row *row);
/* Returns the first change at or behind a time; NULL: there is none. */
const struct rename_row *renames_find(struct renames *r, int32_t from,
				      int32_t to, int64_t time);
