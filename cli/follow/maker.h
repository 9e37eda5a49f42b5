/* maker.h - the process that makes the databases of segments.
 *
 * It lives as long as follow does and makes one segment after the other, so
 * that what does not change is read once: names, tables, files. What goes wrong
 * in it does not reach the process that receives: maker_give() starts another
 * one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct folder_lock;
struct maker;

/* Statuses of a segment beside those of command.h. */
enum make_status {
	MAKE_EMPTY = 10, /* the parts have not even a header */
	MAKE_GONE,	 /* the files of the segment were removed */
	MAKE_BAD,	 /* the parts cannot be read */
	MAKE_NO_ROOM,	 /* the disk is full */
};

/* What is said of a finished segment. */
struct glance {
	uint64_t samples;
	uint64_t lost;	   /* records */
	bool lost_unknown; /* and more, nobody knows how many */
	uint64_t open;	   /* deferred stacks still to come */
};

/* How a segment went. */
struct maker_done {
	int status; /* that of waitpid() if the process is lost */
	bool ends;  /* the process keeps too much, and ends */
	bool glanced;
	struct glance glance; /* if glanced */
};

enum maker_got {
	MAKER_BUSY,
	MAKER_DONE,
	MAKER_LOST, /* the process has ended; another one can be given work */
};

struct maker_opts {
	const struct folder_lock *claim;
	const struct load_ask *load; /* how segments are read */
	bool glances;		     /* something is said of each segment */
	/* Called in the process, which must not hold inputs open; NULL:
	 * nothing. */
	void (*leave)(void *arg);
	void *leave_arg;
};

/* Borrows claim, load and leave_arg. */
struct maker *maker_new(const struct maker_opts *o);
/* Lets the process end, when it has made what it was given. NULL is fine. */
void maker_free(struct maker *m);
/* Has the database of a segment made. The one before must be done. Returns
 * false, and sets errno, if there is no process and none can be started. */
bool maker_give(struct maker *m, uint32_t number);
/* Asks how the segment went, and waits up to wait_ms for that. */
enum maker_got maker_take(struct maker *m, int wait_ms,
			  struct maker_done *done);
/* Returns whether the process has used no processor time since this was asked
 * last: it waits for something. False if that is not known. */
bool maker_sleeps(struct maker *m);
/* Kills the process, whatever it waits for; maker_give() starts another one. */
void maker_kill(struct maker *m);
