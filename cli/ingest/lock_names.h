/* lock_names.h - names of the locks that are data of the kernel, for report
 * --latency.
 *
 * Order of calls: lock_names_new(), lock_names_take() for each event that waits
 * for a lock, lock_names_store() when the kernel's image is named. */
#ifndef CLI_INGEST_LOCK_NAMES_H
#define CLI_INGEST_LOCK_NAMES_H
#include <stdbool.h>

struct err;
struct event_def;
struct field;
struct image;
struct lock_names;
struct store;
struct symbolizer;

struct lock_names *lock_names_new(void);
void lock_names_free(struct lock_names *l); /* NULL is fine */
/* Returns whether events of a type begin to wait for a lock. */
bool lock_names_wants(const struct event_def *def);
/* Keeps the lock of such an event. capture: its number, from 0 on. */
void lock_names_take(struct lock_names *l, unsigned int capture,
		     const struct event_def *def, const struct field *f);
/* Stores the name of each lock that is itself a symbol of data of the kernel,
 * or of a module of which its symbols tell: as meta "lock ADDR" of the capture.
 * A lock inside of a structure has none, as not all kernels list all of their
 * data. Does nothing for images of other kinds, and where there are several
 * kernels: an address does not tell which. Returns 0, or -1 and *err. */
int lock_names_store(struct lock_names *l, struct store *db,
		     struct symbolizer *sy, const struct image *kernel,
		     struct err *err);
#endif
