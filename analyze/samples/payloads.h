/* payloads.h - payloads of tracepoints as text: script's field 'trace'.
 *
 * Payloads are in one table for each event name, or raw in table payload. Each
 * ev_ table is read once along with the events, so the functions below must get
 * events in the order of their ids. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct event_row;
struct field;
struct field_def;
struct payload;
struct payloads;
struct rows;
struct store;

/* Returns NULL and *err if the database cannot be read. */
struct payloads *payloads_open(struct store *db, struct err *err);
void payloads_close(struct payloads *ps);
/* Returns the payload of an event as one printable line of *len bytes, "" if it
 * has none; valid until the next call. NULL and *err on failure. */
const char *payloads_text(struct payloads *ps, const struct event_row *e,
			  size_t *len, struct err *err);
/* Returns whether the text of an event is a message of the program that wrote
 * it: an event of ftrace's markers, in each version, or trace_marker of other
 * recorders. */
bool payloads_is_message(const char *event);
/* Returns 1 + the index of a field; 0: there is none, or name is NULL. */
size_t payload_field(const struct field_def *def, size_t n, const char *name);
/* Returns the n fields of events of this type; NULL and 0 if they have none. */
const struct field_def *payloads_defs(const struct payloads *ps, int64_t type,
				      size_t *n);
/* Stores the fields of an event, one for each of payloads_defs(), valid until
 * the next call. Returns 1, 0 if it has none, or -1 and *err. */
int payloads_fields(struct payloads *ps, const struct event_row *e,
		    const struct field **out, struct err *err);
/* Returns a value of a column of the ev_ table as the text of the event shows
 * it; valid until the next call. value: as SQLite prints it. */
const char *payloads_value_text(struct payloads *ps, int64_t type,
				const char *column, const char *value);
/* Returns the format of payloads in a row of query print_formats, for
 * payload_free(); NULL if it has none. */
struct payload *payloads_of_row(const struct rows *r);
/* Returns whether the name of a machine says that it is a 32-bit one. */
bool payloads_long32(const char *arch);

/* Returns the format of an event type for a perf.data file in which the type
 * has this id and name; NULL if it has none. The caller frees it. */
char *payloads_perf_format(const struct payloads *ps, int64_t type,
			   const char *name, uint32_t id);
struct payload_of {
	uint32_t id, tid; /* of the event type in the file; of the thread */
};
/* Stores the payload of an event as bytes for a perf.data file, valid until the
 * next call. Returns 1, 0 if the event has none, or -1 and *err. */
int payloads_perf(struct payloads *ps, const struct event_row *e,
		  const struct payload_of *of, const void **data, size_t *len,
		  struct err *err);
