/* firefox_threads.h - the samples and markers of each thread of a profile for
 * the Firefox Profiler.
 *
 * Samples and markers come in the order of time, and wait in a file: memory
 * grows with the number of threads only. */
#ifndef CLI_EXPORT_FIREFOX_FIREFOX_THREADS_H
#define CLI_EXPORT_FIREFOX_FIREFOX_THREADS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct context_switch;
struct err;
struct event_comm;
struct event_row;
struct firefox;
struct firefox_threads;
struct loss_row;
struct store;

/* NULL and *err. */
struct firefox_threads *firefox_threads_new(struct store *db, struct err *err);
void firefox_threads_free(struct firefox_threads *t);
/* 0, or -1 and *err. */
int firefox_sample(struct firefox_threads *t, const struct event_row *e,
		   const struct event_comm *comm, uint32_t stack,
		   uint64_t weight, struct err *err);
/* A thread leaves a CPU or comes to one: sw is what the event says. */
int firefox_switch(struct firefox_threads *t, const struct event_row *e,
		   const struct event_comm *comm,
		   const struct context_switch *sw, struct err *err);
/* Its text is borrowed until the threads are written. 0, or -1 and *err. */
int firefox_loss(struct firefox_threads *t, const struct loss_row *l,
		 struct err *err);

/* How weights are written. */
struct firefox_weights {
	bool given;   /* else all weigh 1 */
	bool is_time; /* they are ns of CPU time */
};

/* "threads": [...], strings of markers are added to f. */
void firefox_put_threads(struct firefox_threads *t, struct firefox *f,
			 const struct firefox_weights *w, FILE *out);
/* The place in that list of the one with most weight. */
uint32_t firefox_heaviest(const struct firefox_threads *t);
/* How long the profile is; ns. */
uint64_t firefox_duration(const struct firefox_threads *t);
#endif
