/* firefox_threads.h - the samples and markers of each thread of a profile for
 * the Firefox Profiler.
 *
 * Samples and markers of a thread come in time order and are kept in a file:
 * memory is bounded by the number of threads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct event_comm;
struct event_row;
struct events;
struct firefox;
struct firefox_threads;
struct json;
struct loss_row;
struct offcpu_wait;
struct store;

/* Returns NULL and *err on failure. */
struct firefox_threads *firefox_threads_new(struct store *db, struct err *err);
void firefox_threads_free(struct firefox_threads *t);
/* Gives each thread the last of its names. */
void firefox_name_threads(struct firefox_threads *t, const struct events *e);
/* Adds a sample. Returns 0, or -1 and *err. */
int firefox_sample(struct firefox_threads *t, const struct event_row *e,
		   const struct event_comm *comm, uint32_t stack,
		   uint64_t weight, struct err *err);
/* Adds a wait of the thread with that name. Returns 0, or -1 and *err. */
int firefox_wait(struct firefox_threads *t, const struct offcpu_wait *w,
		 const struct event_comm *comm, struct err *err);
/* Adds an event that is no sample of the profile, as a marker. name: borrowed
 * until the threads are written; NULL: the text is what it is called. text: its
 * fields, len bytes; stack: FIREFOX_NONE if it has none. Returns 0, or -1 and
 * *err. */
int firefox_event(struct firefox_threads *t, const struct event_row *e,
		  const struct event_comm *comm, const char *name,
		  const char *text, size_t len, uint32_t stack,
		  struct err *err);
/* Adds a loss, whose text is borrowed until the threads are written. Returns 0,
 * or -1 and *err. */
int firefox_loss(struct firefox_threads *t, const struct loss_row *l,
		 struct err *err);

/* What weights are. */
struct firefox_weights {
	bool given;   /* else all weigh 1 */
	bool is_time; /* they are ns of CPU time */
};

/* Writes "threads": [...], and adds the strings of markers to f. */
void firefox_put_threads(struct firefox_threads *t, struct firefox *f,
			 const struct firefox_weights *w, struct json *j);
/* Returns the index of the thread with the largest weight in that list. */
uint32_t firefox_heaviest(const struct firefox_threads *t);
/* Returns the duration of the profile in ns. */
uint64_t firefox_duration(const struct firefox_threads *t);
/* Writes "markerSchema": [...], which tells the profiler what to show. */
void firefox_put_mark_schema(struct json *j);
