/* chrome_tracks.h - the tracks of a Chrome trace for threads and CPUs, with
 * their names.
 *
 * The track of a thread has its pid and tid. CPUs are threads of a process
 * whose pid is above the largest one of Linux. Pids of another kernel
 * (capture.together) are shifted further, so that those of two machines do not
 * collide. Memory is bounded by the number of threads. */
#pragma once
#include <stdint.h>

struct err;
struct event_row;
struct events;
struct filter;
struct json;
struct store;
struct tracks;

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
