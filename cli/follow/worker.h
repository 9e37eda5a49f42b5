/* worker.h - the process that makes the databases of segments.
 *
 * It lives as long as follow does and makes one segment after the other, so
 * that what does not change is read once: names, tables, files. What goes wrong
 * in it does not reach the process that receives: worker_give() starts another
 * one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct folder_lock;
struct worker;

/* Statuses of a segment besides those of command.h. */
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
	bool lost_unknown; /* and more, their number is not known */
	uint64_t open;	   /* deferred stacks still to come */
};

/* How a segment went. */
struct worker_done {
	int status; /* that of waitpid() if the process is lost */
	bool ends;  /* the process keeps too much, and ends */
	bool glanced;
	struct glance glance; /* if glanced */
};

enum worker_got {
	WORKER_BUSY,
	WORKER_DONE,
	WORKER_LOST, /* the process has ended; another one can be given work */
};

struct worker_opts {
	const struct folder_lock *claim;
	const struct load_ask *load; /* how segments are read */
	bool glances;		     /* something is said of each segment */
	/* Called in the process, which must not hold inputs open; NULL:
	 * nothing. */
	void (*leave)(void *arg);
	void *leave_arg;
};

/* Borrows claim, load and leave_arg. */
struct worker *worker_new(const struct worker_opts *o);
/* Lets the process end, when it has made what it was given. NULL is fine. */
void worker_free(struct worker *m);
/* Has the database of a segment made. The one before must be done. Returns
 * false, and sets errno, if there is no process and none can be started. */
bool worker_give(struct worker *m, uint32_t number);
/* Asks how the segment went, and waits up to wait_ms for that. */
enum worker_got worker_take(struct worker *m, int wait_ms,
			    struct worker_done *done);
/* Returns whether the process has used no processor time since this was asked
 * last: it waits for something. False if that is not known. */
bool worker_sleeps(struct worker *m);
/* Kills the process, whatever it waits for; worker_give() starts another one.
 */
void worker_kill(struct worker *m);
