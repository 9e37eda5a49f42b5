/* spool.h - a list of many items of one size, kept in a file without a name
 * instead of in memory.
 *
 * For forms that want in columns, or thread by thread, what comes in the order
 * of time. Items are zero at first, and stay until spool_free(); their places
 * are 0, 1, 2, ... */
#ifndef CLI_EXPORT_SPOOL_H
#define CLI_EXPORT_SPOOL_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct spool;

/* In $TMPDIR or /tmp. NULL and *err. */
struct spool *spool_new(size_t size, struct err *err);
void spool_free(struct spool *s);
/* One more item, which is the last one; NULL and *err when there is no more
 * room. Earlier pointers are not good any more. */
void *spool_add(struct spool *s, struct err *err);
/* Borrowed until the next spool_add(). */
void *spool_at(struct spool *s, size_t i);
size_t spool_count(const struct spool *s);
#endif
