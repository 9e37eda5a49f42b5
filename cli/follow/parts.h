/* parts.h - the queue of segments, of which a worker makes databases.
 *
 * parts_add() appends segments. parts_reap() collects the results of child
 * processes and gives the next segment to the worker: one database is made at a
 * time. The user's command runs for each finished database, which is not
 * removed before the command has ended. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/follow/segments.h"

struct parts;

/* The most segments that wait before the streams are no longer read. */
#define PARTS_WAITING 32

struct parts_opts {
	const struct folder_lock *claim;
	const struct load_ask *load; /* how segments are read; borrowed */
	struct disk_space *room;
	struct segment_limit keep;
	const char *command; /* NULL: none */
	bool quiet;
	bool each; /* print a line for each finished segment */
	/* Called in the worker, which must not hold inputs open; NULL: there is
	 * nothing to close. */
	void (*leave)(void *arg);
	void *leave_arg;
	bool (*stop)(void); /* whether the user wants to stop */
};

/* Returns a queue that starts with *left, whose array it takes over. `next` is
 * the first segment of this run. */
struct parts *parts_new(const struct parts_opts *o, struct segments_left *left,
			uint32_t next);
void parts_free(struct parts *q); /* waits for the worker; NULL is fine */
/* Appends all segments before `end`: they are complete. Calls parts_reap(). */
void parts_add(struct parts *q, uint32_t end);
/* Collects results without waiting, and starts the next database. */
void parts_reap(struct parts *q);
/* Waits while more than PARTS_WAITING segments wait, or until stop(). The
 * recorder counts what it loses meanwhile, and the stream has the counts. */
void parts_hold(struct parts *q);
/* Waits until no segment waits, or the user wants to stop. */
void parts_drain(struct parts *q);
/* A disk_space.wait function: waits a little for the database being made, whose
 * parts are then removed, and removes databases beyond the limit `keep`. */
bool parts_wait_room(void *parts);
/* Waits until all segments are databases and all commands have ended. Once the
 * user wants to stop, a worker that is idle for 15 s is killed. Returns 0, or
 * -1 and *err if there are parts of which no database could be made. */
int parts_wait(struct parts *q, struct err *err);
/* Returns how many segments wait, with the one being made, and sets *lag_ns to
 * how long the oldest has waited; 0: none waits, or an earlier run left it. */
uint32_t parts_waiting(const struct parts *q, int64_t *lag_ns);
/* Returns whether part of the stream was lost or damaged. */
bool parts_damaged(const struct parts *q);
/* Prints the summary. */
void parts_tell(const struct parts *q);
