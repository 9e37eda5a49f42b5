/* chrome_tracks.h - the tracks of a Chrome trace for threads and CPUs, with
 * their names.
 *
 * The track of a thread has its pid and tid. CPUs are threads of a process
 * whose pid is above the largest one of Linux. Pids of another kernel
 * (capture.together) are shifted further, so that those of two machines do not
 * collide. Memory is bounded by the number of threads. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/waits/waits.h"

struct err;
struct event_row;
struct events;
struct json;
struct slices;
struct tracks;
struct chrome_calls;
struct stacks;

/* Returns NULL and *err on failure; there may be none. path, t, j: borrowed. */
struct chrome_calls *chrome_calls_load(struct store *db, const char *path,
				       struct tracks *t, struct json *j,
				       struct err *err);
void chrome_calls_free(struct chrome_calls *c); /* NULL is fine */
/* Writes the slice that an event begins or, if its begin is not known, ends.
 * Events come by increasing ids. Returns whether the event is a record of a
 * call, which slices tell. */
bool chrome_calls_put(struct chrome_calls *c, const struct event_row *e);
bool chrome_calls_any(const struct chrome_calls *c);

/* Borrows j, in the array traceEvents whenever objects are written, events,
 * for names, and filter. Returns NULL and *err on failure. */
struct tracks *tracks_load(struct json *j, struct store *db,
			   const struct filter *filter, struct events *events,
			   struct err *err);
void tracks_free(struct tracks *t);

/* Writes "ts" in microseconds with three decimals. */
void tracks_time(struct json *j, int64_t ns);
/* Begin an object with the "pid" and "tid" of an event's thread, or of a CPU of
 * a capture (-1: all CPUs). The names are written before the first use. */
void tracks_begin_thread(struct tracks *t, const struct event_row *e);
void tracks_begin_cpu(struct tracks *t, uint32_t capture, int64_t cpu);

/* Slices are times in which a thread ran, from one switch to the next, and
 * arrows from who woke a thread to the slice that this began, as
 * analyze/waits/waits.h tells them. About 64 bytes each.
 *
 * t, stacks: borrowed. Returns NULL and *err on failure; there may be no
 * slices. */
struct slices *slices_load(struct tracks *t, struct store *db, const char *path,
			   struct stacks *stacks, struct err *err);
void slices_free(struct slices *s);
/* Returns what was read, and what has no end. */
const struct offcpu_sums *slices_sums(const struct slices *s);
/* Writes the begins and ends of slices up to an event, which has that time. */
void slices_put(struct slices *s, int64_t time, int64_t event);
