/* chrome_tracks.h - the tracks of a Chrome trace for threads and CPUs, with
 * their names and the slices between context switches.
 *
 * The track of a thread has its pid and tid. CPUs are threads of a process
 * whose pid is above the largest one of Linux. Pids of another kernel
 * (capture.together) are shifted further, so that those of two machines do not
 * collide. Memory is bounded by the number of threads. */
#ifndef CLI_EXPORT_CHROME_CHROME_TRACKS_H
#define CLI_EXPORT_CHROME_CHROME_TRACKS_H
#include <stdbool.h>
#include <stdint.h>

struct context_switch;
struct err;
struct event_row;
struct events;
struct json;
struct store;
struct tracks;

/* Borrows j, in the array traceEvents whenever objects are written, and events,
 * for names. Returns NULL and *err on failure. */
struct tracks *tracks_load(struct json *j, struct store *db,
			   struct events *events, struct err *err);
void tracks_free(struct tracks *t);

/* Writes "ts" in microseconds with three decimals. */
void tracks_time(struct json *j, int64_t ns);
/* Begin an object with the "pid" and "tid" of an event's thread, or of a CPU of
 * a capture (-1: all CPUs). The names are written before the first use. */
void tracks_begin_thread(struct tracks *t, const struct event_row *e);
void tracks_begin_cpu(struct tracks *t, uint32_t capture, int64_t cpu);
/* Ends the slice of the thread that leaves, and begins that of the one that
 * comes. To be called in two passes, each ended by tracks_end(): the first with
 * all switches, which draws nothing, the second along with the other events. */
void tracks_switch(struct tracks *t, const struct event_row *e,
		   uint32_t capture, const struct context_switch *sw);
void tracks_end(struct tracks *t, int64_t time);
/* To be called before an event at that time: ends the slices of captures that
 * had ended by then. */
void tracks_until(struct tracks *t, int64_t time);
/* Returns the number of slices left out because their end is not known. */
uint64_t tracks_torn(const struct tracks *t);
#endif
