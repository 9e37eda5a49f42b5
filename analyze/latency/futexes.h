/* futexes.h - where the events that begin system calls have the address of a
 * futex, which is a lock, or anything else that threads wait for; and the names
 * of the futexes of a database, for 'latency'. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct field;
struct field_def;
struct futex_locks;
struct intern;
struct store;

/* Positions in the fields of an event, counted from 1; 0: it has none. */
struct futex_at {
	size_t addr;
	size_t number; /* of the call; 0: the event is of futex calls only */
};

/* Numbers of the futex calls on a machine; on x86-64, those of i386 too. */
#define FUTEX_NUMBERS 8
struct futex_numbers {
	int64_t number[FUTEX_NUMBERS];
	size_t n;
};

/* Returns whether a call of this name waits at one address, its first argument.
 * futex_waitv has several. */
bool futexes_is(const char *call);
/* Finds the address in the n fields of an event of this name, and stores its
 * position. Returns whether the event may have one. */
bool futexes_find(const char *event, const struct field_def *def, size_t n,
		  struct futex_at *out);
/* Stores the numbers of the futex calls on a machine. */
void futexes_numbers(const char *machine, struct futex_numbers *out);
/* Stores the address at which an event begins to wait, if its call is a futex
 * call: the caller checks that. Returns whether it has one. */
bool futexes_addr(const struct futex_at *at, const char *machine,
		  const struct field *f, uint64_t *addr);

/* names: receives the names, borrowed. Returns NULL and *err if the database
 * fails. */
struct futex_locks *futex_locks_open(struct store *db, struct intern *names,
				     struct err *err);
void futex_locks_close(struct futex_locks *l); /* NULL is fine */
/* Returns the id of the name for an address of a process (its row and pid) at a
 * time: the variable there, as far as mappings show it, or the number. */
uint32_t futex_locks_name(struct futex_locks *l, uint32_t process, int64_t pid,
			  int64_t time, uint64_t addr);
