/* chrome_tracks.h - the tracks of a Chrome trace: which thread and which CPU
 * has which, their names, and the slices between context switches.
 *
 * A thread's track has its own pid and tid. CPUs are the threads of a process
 * of their own, behind the largest pid that Linux has. Threads and CPUs of
 * another kernel (capture.together) are moved further up, so that equal pids
 * of two machines stay apart. Memory is bounded by the number of threads. */
#ifndef CLI_EXPORT_CHROME_CHROME_TRACKS_H
#define CLI_EXPORT_CHROME_CHROME_TRACKS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct context_switch;
struct err;
struct event_row;
struct events;
struct store;
struct tracks;

/* NULL and *err. events: for names. */
struct tracks *tracks_load(FILE *out, struct store *db, struct events *events,
			   struct err *err);
void tracks_free(struct tracks *t);

/* Begins an object of traceEvents: "{" and what is between objects. */
void tracks_next(struct tracks *t);
/* "ts": microseconds with all three places behind the point. */
void tracks_time(FILE *out, int64_t ns);
/* The same with "pid":N,"tid":N of an event's thread, or of a CPU (-1: of all
 * CPUs) as a capture saw it. Their names are written before the first use. */
void tracks_begin_thread(struct tracks *t, const struct event_row *e);
void tracks_begin_cpu(struct tracks *t, uint32_t capture, int64_t cpu);
/* A context switch: ends the slices of who leaves, begins those of who comes.
 * Tell all of them once and call tracks_end(), which draws nothing, then again
 * all in their places among the other events, and tracks_end() for the last
 * slices. */
void tracks_switch(struct tracks *t, const struct event_row *e,
		   uint32_t capture, const struct context_switch *sw);
void tracks_end(struct tracks *t, int64_t time);
/* Before whatever has that time: ends the slices of captures that were over by
 * then. */
void tracks_until(struct tracks *t, int64_t time);
/* Slices that are left out, as nobody knows when they ended. */
uint64_t tracks_torn(const struct tracks *t);
#endif
