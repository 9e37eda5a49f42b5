/* parts.h - whole parts of the stream wait, and become databases.
 *
 * parts_add() appends a segment, parts_reap() takes what child processes have
 * done, and gives the next one to the worker: one database is made at a time. A
 * command of the user runs for each finished segment, and holds it in the
 * folder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/follow/segments.h"

struct parts;

/* Segments that may wait before the stream has to. */
#define PARTS_WAITING 32

struct parts_opts {
	const struct folder_lock *claim;
	const struct load_ask *load; /* how segments are read; borrowed */
	struct disk_space *room;
	struct segment_limit keep;
	const char *command; /* NULL: none */
	bool quiet;
	bool each; /* say a line for each segment */
	/* Called in the process that makes databases, which must not hold
	 * inputs open; NULL: nothing. */
	void (*leave)(void *arg);
	void *leave_arg;
	bool (*stop)(void); /* does the user want an end? */
};

/* The segments that were left behind wait already; takes their numbers. `next`
 * is the first of this run. */
struct parts *parts_new(const struct parts_opts *o, struct segments_left *left,
			uint32_t next);
void parts_free(struct parts *q); /* NULL is fine */
/* Says that all segments before `end` are whole. */
void parts_add(struct parts *q, uint32_t end);
/* Takes results, without waiting. */
void parts_reap(struct parts *q);
/* Waits while too many segments do: the recorder counts what it loses
 * meanwhile, and the counts are in the stream. stop() ends that. */
void parts_hold(struct parts *q);
/* Waits until no segment does, or the user wants an end. */
void parts_drain(struct parts *q);
/* Waits a little for what makes room: for the database that is made, whose
 * parts are removed then, and for the age of others; disk_space.wait. */
bool parts_wait_room(void *parts);
/* Waits until all segments are databases, and all commands have ended; once the
 * user wants an end, not for a process that does nothing for 15 s.
 * Returns 0, or -1 and *err if there are parts of which no database could be
 * made. */
int parts_wait(struct parts *q, struct err *err);
/* Returns the segments that wait, and sets *lag_ns to how long the oldest of
 * them has waited; 0: none does, or it was left by an earlier run. */
uint32_t parts_waiting(const struct parts *q, int64_t *lag_ns);
/* Returns whether part of the stream was lost or damaged. */
bool parts_damaged(const struct parts *q);
/* Prints the summary. */
void parts_tell(const struct parts *q);
