/* path_lists.h - the waits and wake-ups of each thread, listed when they are
 * first asked for, and numbered when an id is. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/causes/proof.h"

struct path_lists;
struct path_run;

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
