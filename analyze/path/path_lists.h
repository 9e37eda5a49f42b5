/* path_lists.h - the waits and wake-ups of each thread, listed when they are
 * first asked for, and numbered when an id is; and what its waits are put down
 * to, as rows of table blame of backstitch-schema(5). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/path/path_run.h"

struct path_blame;
struct path_lists;

struct path_list {
	uint32_t *wait; /* numbers of their first pieces */
	uint32_t *wake; /* edges that ended a piece */
	size_t n_wait, cap_wait, n_wake, cap_wake;
	int64_t waits, wakes; /* of the threads before it, once numbered */
	bool made;
};

/* r: open, and borrowed. */
struct path_lists *path_lists_new(struct path_run *r);
void path_lists_free(struct path_lists *l); /* NULL is fine */
/* Returns the lists of a thread. */
const struct path_list *path_list_of(struct path_lists *l, uint32_t thread);
/* Returns what is proved of that an edge ended a piece of its thread, which is
 * listed. */
enum proof path_list_link(const struct path_lists *l, uint32_t edge);
/* Return ids, for which all threads are listed: of an edge that ended a piece
 * of the thread, and of a wait. */
int64_t path_list_wake_id(struct path_lists *l, uint32_t thread, uint32_t edge);
int64_t path_list_wait_id(struct path_lists *l, uint32_t thread, uint32_t wait);
/* Finds the thread and the item of an id, of a wake-up or a wait. Returns false
 * if there is none. */
bool path_lists_find(struct path_lists *l, int64_t id, bool wakes,
		     uint32_t *thread, size_t *item);

struct blame_row {
	uint32_t thread; /* that waited */
	struct path_sum sum;
	uint64_t waits;
};

/* r: open, and borrowed. */
struct path_blame *path_blame_new(struct path_run *r);
void path_blame_free(struct path_blame *b); /* NULL is fine */
/* Return row i of a thread, whose rows are made when it is first asked for, or
 * of all threads, most time first; NULL after the last. Valid until the next
 * call. */
const struct blame_row *path_blame_row(struct path_blame *b, uint32_t thread,
				       size_t i);
const struct blame_row *path_blame_any(struct path_blame *b, size_t i);
