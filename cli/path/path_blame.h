/* path_blame.h - what the waits of each thread are put down to, as rows: table
 * blame of backstitch-schema(5).
 *
 * Rows of a thread are made when it is first asked for. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "cli/path/path.h"

struct path_blame;

struct blame_row {
	uint32_t thread; /* that waited */
	struct path_sum sum;
	uint64_t waits;
};

/* r: open, and borrowed. */
struct path_blame *path_blame_new(struct path_run *r);
void path_blame_free(struct path_blame *b); /* NULL is fine */
/* Return row i of a thread, or of all threads, most time first; NULL behind the
 * last. Valid until the next call. */
const struct blame_row *path_blame_row(struct path_blame *b, uint32_t thread,
				       size_t i);
const struct blame_row *path_blame_any(struct path_blame *b, size_t i);
