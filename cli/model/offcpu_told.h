/* offcpu_told.h - which waits other captures of the same kernel tell of, so
 * that no sleep counts twice. */
#ifndef CLI_MODEL_OFFCPU_TOLD_H
#define CLI_MODEL_OFFCPU_TOLD_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct offcpu_told;
struct store;

/* Returns an object without captures, to be freed with offcpu_told_free(). */
struct offcpu_told *offcpu_told_new(void);
void offcpu_told_free(struct offcpu_told *t);
/* Adds a capture that tells of all waits that begin from `from` to `to`: of
 * all threads, or of those only that have an event of that event_type. Returns
 * 0, or -1 and *err. */
int offcpu_told_add(struct offcpu_told *t, struct store *db, int64_t type,
		    int64_t from, int64_t to, bool of_all, struct err *err);
/* Returns whether a capture tells of the waits of a thread that begin at some
 * time from `from` to `to`. */
bool offcpu_told_has(const struct offcpu_told *t, int64_t tid, int64_t from,
		     int64_t to);
#endif
