/* lock_names.h - names of the locks and futexes at which threads waited, for
 * 'latency'.
 *
 * Order of calls: lock_names_new(); while a capture is read, lock_names_take()
 * for each event that begins to wait, or lock_names_read() for those of a
 * database; lock_names_store() when all code is named. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct call;
struct err;
struct event_def;
struct field;
struct lock_names;
struct maker;
struct name_ask;
struct source;
struct store;
struct symbolize_text;

struct lock_names *lock_names_new(void);
void lock_names_free(struct lock_names *l); /* NULL is fine */
/* Where an event comes from. */
struct lock_from {
	unsigned int capture; /* its number, from 0 on */
	uint32_t type;
	uint32_t thread;     /* 0: not known */
	const char *machine; /* NULL: not known */
};

/* Returns whether events of a type may begin to wait for a lock or a futex.
 * capture: its number, from 0 on. */
bool lock_names_wants(struct lock_names *l, unsigned int capture, uint32_t type,
		      const struct event_def *def);
/* Returns false if an event of such a type is another system call than futex,
 * as most are, by what was read already (call; NULL: nothing). */
bool lock_names_may_wait(struct lock_names *l, const struct source *src,
			 uint32_t type, const struct call *call);
/* Keeps the lock or futex of an event that begins to wait, each once. */
void lock_names_take(struct lock_names *l, const struct lock_from *from,
		     const struct event_def *def, const struct field *f);
/* Keeps locks and futexes of a database's events. Returns 0, or -1 and *err. */
int lock_names_read(struct lock_names *l, struct store *db, struct err *err);
/* Stores the names; call it after the call-site check, which may doubt a file.
 * A lock that is itself a symbol of data of the kernel, or of a module in the
 * kernel's symbols, gets meta "lock ADDR" of the capture. One inside of a
 * structure has no name, as not all kernels list all of their data; none has if
 * there are several kernels, as an address does not tell which. A variable of a
 * file in which a futex may be gets meta "data OFF IMAGE", whenever the file
 * was mapped below it: readers know the time (analyze/names/data_maps.h).
 * captured: copies of kallsyms in captures; NULL: none. Returns 0, or -1 and
 * *err. */
int lock_names_store(struct lock_names *l, const struct name_ask *a,
		     struct maker *mk, const struct symbolize_text *captured,
		     struct err *err);
