/* lock_names.h - names of the locks that are data of the kernel, for report
 * --latency.
 *
 * Order of calls: lock_names_new(), lock_names_take() for each event that waits
 * for a lock, lock_names_name() when the kernel's image is named. */
#ifndef CLI_INGEST_LOCK_NAMES_H
#define CLI_INGEST_LOCK_NAMES_H
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
/* Returns whether events of a type begin to wait for a lock. capture: its
 * number, from 0 on. */
bool lock_names_wants(struct lock_names *l, unsigned int capture, uint32_t type,
		      const struct event_def *def);
/* Keeps the lock of such an event. */
void lock_names_take(struct lock_names *l, unsigned int capture,
		     const struct event_def *def, const struct field *f);
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
#endif
