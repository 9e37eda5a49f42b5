/* futex_locks.h - names of the futexes of a database, for report --latency. */
#pragma once
#include <stdint.h>

struct err;
struct futex_locks;
struct intern;
struct store;

/* names: where names go; borrowed. Returns NULL and *err if the database fails.
 */
struct futex_locks *futex_locks_open(struct store *db, struct intern *names,
				     struct err *err);
void futex_locks_close(struct futex_locks *l); /* NULL is fine */
/* Returns the name of an address of a process (its row, and its pid) at a time:
 * of the variable there, as far as mappings tell, or its number. */
uint32_t futex_locks_name(struct futex_locks *l, uint32_t process, int64_t pid,
			  int64_t time, uint64_t addr);
