/* events.h - iterates over the events of a database in time order, as a filter
 * selects; with their types, threads and names; and over rows that are read
 * along with them.
 *
 * Memory is bounded by the number of names and event types. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct filter;
struct rows;
struct store;

/* comm, kraw, uraw and verdict are 0 if there is none. time: ns on the
 * timeline. */
struct event_row {
	int64_t id, time, cpu, comm, type, weight;
	int64_t kraw, uraw; /* raw chains: kernel half, user half (joined) */
	/* of the request: enum request_verdict, enum confidence, flags */
	int64_t verdict, confidence, flags;
	int64_t ip;	 /* user-mode address that a request interrupted; 0: not
			    known */
	int64_t payload; /* payload.id; 0: none */
	uint32_t thread; /* thread.id; 0: none */
	bool timed, on_cpu;
	bool weighed; /* false: the weight is not known */
};

/* One name of one thread. */
struct event_comm {
	const char *name; /* bytes of a capture: may be anything */
	int64_t pid, tid; /* -1: not known */
	uint32_t thread;  /* thread.id; 0: none */
	uint32_t process; /* process.id; 0: none */
};

struct event_type {
	const char *name;
	uint32_t capture; /* capture.id */
	bool sample;	  /* false: a record, such as a context switch */
};

/* Returns the id of a row as it is kept; 0: none, as of a database from
 * elsewhere it may be anything. */
static inline uint32_t id_of_row(int64_t id)
{
	return id > 0 && id < INT32_MAX ? (uint32_t)id : 0;
}

/* The rows of table event as they are, by increasing ids. What is not read is
 * 0. */
struct event_rows {
	struct rows *rows, *requests;
	unsigned int n; /* columns */
};

/* Up to which column they are read: each takes its time. */
enum event_rows_to {
	EVENT_ROWS_TO_TYPE = 3,	  /* id, time, type */
	EVENT_ROWS_TO_WEIGHT = 8, /* cpu, comm, kraw, uraw, weight */
	EVENT_ROWS_TO_THREAD = 9,
	EVENT_ROWS_TO_PAYLOAD = 10,
};

/* .rows is NULL on failure, with *err; else rows_close() or rows_end() it. */
struct event_rows event_rows_open(const struct store *db, enum event_rows_to to,
				  struct err *err);
/* The same for event_rows_ask(), which has .ip with EVENT_ROWS_TO_PAYLOAD; then
 * event_rows_close() it. */
struct event_rows event_rows_open_both(const struct store *db,
				       enum event_rows_to to, struct err *err);
void event_rows_close(struct event_rows *r);
/* As rows_next_ints() and rows_seek_ints(). */
int event_rows_next(struct event_rows *r, struct event_row *e, struct err *err);
int event_rows_seek(struct event_rows *r, int64_t id, struct event_row *e,
		    struct err *err);
/* Stores what the request of an event says, if it has one: which user half came
 * later, and what became of it. A join takes twice as long. Events come by
 * increasing ids. Returns 0, or -1 and *err. */
int event_rows_ask(struct event_rows *r, struct event_row *e, struct err *err);

struct events;

enum events_how {
	EVENTS_ALL,	 /* in time order */
	EVENTS_FEW,	 /* neither thread nor ip nor payload: they may be 0 */
	EVENTS_BY_THREAD /* by event type, then thread, then time */
};
/* Returns NULL and *err if the database or a filter option is refused. */
struct events *events_open(struct store *db, const struct filter *filter,
			   enum events_how how, struct err *err);
/* Returns 1 and *e, 0 at the end, or -1 and *err. */
int events_next(struct events *ev, struct event_row *e, struct err *err);
void events_close(struct events *ev);

/* Never return NULL: an unknown type has the name "", an unknown comm the name
 * "[no name]". Ids of types and comms are 1 to the count. */
const struct event_type *events_type(const struct events *ev, int64_t id);
const struct event_comm *events_comm(const struct events *ev, int64_t id);
size_t events_types(const struct events *ev);
size_t events_comms(const struct events *ev);

/* Column 0 of the statement is the id of an event, in ascending order; events
 * are asked for in the order of their ids. */

/* Zero-initialised is empty: it has no row. */
struct row_cursor {
	struct rows *rows;
	bool more;     /* rows is at a row, */
	int64_t event; /* which belongs to this event */
};

/* Opens a statement at its first row. Returns 0, or -1 and *err; close it in
 * either case. */
int row_cursor_open(struct row_cursor *c, struct store *db, const char *sql,
		    struct err *err);
/* Returns whether this can be the name of an ev_ table: the store makes them
 * of letters, digits and '_', but a database may be from elsewhere. */
bool row_cursor_is_table(const char *name);
/* Like row_cursor_open() for all rows of the ev_ table of that name. pages:
 * only values of their kind are asked for, see rows_by_pages(). */
int row_cursor_open_table(struct row_cursor *c, struct store *db,
			  const char *name, bool pages, struct err *err);
/* Moves to the next row. Returns 0, at the end too, or -1 and *err. */
int row_cursor_step(struct row_cursor *c, struct err *err);
/* Moves to the first row of an event. Returns 1 if there is one, 0 if not, or
 * -1 and *err. */
int row_cursor_seek(struct row_cursor *c, int64_t event, struct err *err);
void row_cursor_close(struct row_cursor *c);
