/* events.h - iterates over the events of a database that a filter selects, in
 * time order, with their types, threads and names; and over rows of other
 * tables that belong to events.
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

/* An event; comm, kraw, uraw and verdict 0: none. time: ns on the timeline. */
struct event_row {
	int64_t id, time, cpu, comm, type, weight;
	int64_t kraw, uraw; /* raw chains: kernel half, user half (joined) */
	/* of the request: enum request_verdict, enum confidence, flags */
	int64_t verdict, confidence, flags;
	int64_t ip;	 /* user-mode address that a request interrupted; 0: not
			  * known */
	int64_t payload; /* payload.id; 0: none */
	uint32_t thread; /* thread.id; 0: none */
	bool timed, on_cpu; /* whether time, cpu are known */
	bool weighed;	    /* false: the weight is not known */
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

/* Returns the id of a row in 32 bits; 0: none, or out of range, as a database
 * from elsewhere may have any value. */
static inline uint32_t id_of_row(int64_t id)
{
	return id > 0 && id < INT32_MAX ? (uint32_t)id : 0;
}

/* Rows of table event, by increasing ids. Members of struct event_row that are
 * not read are 0. */
struct event_rows {
	struct rows *rows, *requests;
	unsigned int n; /* how many columns are read */
};

/* How many columns are read: each takes time. */
enum event_rows_to {
	EVENT_ROWS_TO_TYPE = 3,	  /* id, time, type */
	EVENT_ROWS_TO_WEIGHT = 8, /* and cpu, comm, kraw, uraw, weight */
	EVENT_ROWS_TO_THREAD = 9,
	EVENT_ROWS_TO_PAYLOAD = 10,
};

/* Returns rows for rows_close() or rows_end(); .rows NULL and *err on
 * failure. */
struct event_rows event_rows_open(const struct store *db, enum event_rows_to to,
				  struct err *err);
/* Opens table request too, for event_rows_ask(), which sets ip only with
 * EVENT_ROWS_TO_PAYLOAD. For event_rows_close(). */
struct event_rows event_rows_open_both(const struct store *db,
				       enum event_rows_to to, struct err *err);
void event_rows_close(struct event_rows *r);
/* Return 1 and *e, 0 if there is none, or -1 and *err, as rows_next_ints() and
 * rows_seek_ints() do. */
int event_rows_next(struct event_rows *r, struct event_row *e, struct err *err);
int event_rows_seek(struct event_rows *r, int64_t id, struct event_row *e,
		    struct err *err);
/* If an event has a request, sets its uraw, verdict, confidence, flags and ip
 * in *e. A join in SQL takes twice as long. To be called with increasing ids.
 * Returns 0, or -1 and *err. */
int event_rows_ask(struct event_rows *r, struct event_row *e, struct err *err);

struct events;

enum events_how {
	EVENTS_ALL,	 /* in time order */
	EVENTS_FEW,	 /* the same, but thread, ip and payload may be 0 */
	EVENTS_BY_THREAD /* by event type, then thread, then time */
};
/* Opens the events that a filter selects. Returns NULL and *err if the database
 * cannot be read or a filter option is refused. */
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

/* Rows of a statement that belong to events: its column 0 is the id of an
 * event, in ascending order, and rows are found in the order of these ids. All
 * zeros is empty. */

struct row_cursor {
	struct rows *rows;
	bool more;     /* rows is at a row, */
	int64_t event; /* and the row belongs to this event */
};

/* Opens a statement at its first row. Returns 0, or -1 and *err; close it in
 * either case. */
int row_cursor_open(struct row_cursor *c, struct store *db, const char *sql,
		    struct err *err);
/* Returns whether this can be the name of an ev_ table: the store makes them
 * of letters, digits and '_', but a database may be from elsewhere. */
bool row_cursor_is_table(const char *name);
/* Like row_cursor_open() for all rows of an ev_ table. pages: as by
 * rows_by_pages(); values of another kind than is asked for are then 0 or
 * "". */
int row_cursor_open_table(struct row_cursor *c, struct store *db,
			  const char *name, bool pages, struct err *err);
/* Moves to the next row. Returns 0, at the end too, or -1 and *err. */
int row_cursor_step(struct row_cursor *c, struct err *err);
/* Moves to the first row of an event. Returns 1, 0: it has none, or -1 and
 * *err. */
int row_cursor_seek(struct row_cursor *c, int64_t event, struct err *err);
void row_cursor_close(struct row_cursor *c);
