/* lock_names.h - names of the locks that are data of the kernel, for report
 * --latency.
 *
 * Order of calls: lock_names_new(), lock_names_take() for each event that waits
 * for a lock, lock_names_name() when the kernel's image is named. What programs
 * wait at is only kept here: data_names.h names it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct err;
struct event_def;
struct field;
struct image;
struct image_report;
struct lock_names;
struct store;
struct symbolizer;

struct lock_names_image {
	const struct image *image;
	const struct code_place *code; /* sorted, without duplicates */
	size_t n;
};

struct lock_names *lock_names_new(void);
void lock_names_free(struct lock_names *l); /* NULL is fine */
/* Where an event is from. */
struct lock_from {
	unsigned int capture; /* its number, from 0 on */
	uint32_t type;
	uint32_t thread;     /* 0: not known */
	const char *machine; /* NULL: not known */
};

/* A thread that waited at an address. */
struct lock_futex {
	uint64_t addr;
	unsigned int capture;
	uint32_t thread;
};

/* Returns whether events of a type may begin to wait for a lock or a futex.
 * capture: its number, from 0 on. */
bool lock_names_wants(struct lock_names *l, unsigned int capture, uint32_t type,
		      const struct event_def *def);
/* Keeps the lock or futex of such an event, each once. */
void lock_names_take(struct lock_names *l, const struct lock_from *from,
		     const struct event_def *def, const struct field *f);
/* Returns the *n futexes, borrowed. l: NULL is fine. */
const struct lock_futex *lock_names_futexes(const struct lock_names *l,
					    size_t *n);
/* Names the code of an image, as symbolize_image() does, and with it each lock
 * that is itself a symbol of data of the kernel, or of a module of which its
 * symbols tell: as meta "lock ADDR" of the capture. A lock inside of a
 * structure has none, as not all kernels list all of their data. Where there
 * are several kernels none has: an address does not tell which. l: NULL is
 * fine. */
int lock_names_name(struct lock_names *l, struct store *db,
		    struct symbolizer *sy, const struct lock_names_image *i,
		    symbol_fn *fn, void *arg, struct image_report *rep,
		    struct err *err);
