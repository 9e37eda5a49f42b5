/* maker.h - the process that makes the databases of segments.
 *
 * It lives as long as follow does and makes one segment after the other, so
 * that what does not change is read once: names, tables, files. What goes wrong
 * in it does not reach the process that receives: maker_give() starts another
 * one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct claim;
struct maker;

enum maker_got {
	MAKER_BUSY,
	MAKER_DONE,
	MAKER_LOST, /* the process has ended; another one can be given work */
};

struct maker_opts {
	const struct claim *claim;
	bool glances; /* each segment is reported */
	/* Called in the process, which must not hold inputs open; NULL:
	 * nothing. */
	void (*leave)(void *arg);
	void *leave_arg;
};

/* Borrows claim and leave_arg. */
struct maker *maker_new(const struct maker_opts *o);
/* Lets the process end, when it has made what it was given. NULL is fine. */
void maker_free(struct maker *m);
/* Has the database of a segment made. The one before must be done. Returns
 * false, and sets errno, if there is no process and none can be started. */
bool maker_give(struct maker *m, uint32_t number);
/* Asks how the segment went, and waits up to wait_ms for that. *status is that
 * of make_segment() if it is done, that of waitpid() if the process is lost. */
enum maker_got maker_take(struct maker *m, int wait_ms, int *status);
/* Returns whether the process has used no processor time since this was asked
 * last: it waits for something. False if that is not known. */
bool maker_sleeps(struct maker *m);
/* Kills the process, whatever it waits for; maker_give() starts another one. */
void maker_kill(struct maker *m);
/* Returns the report of the segment that was done last, which the caller
 * closes; NULL: none. */
FILE *maker_report(const struct maker *m);
