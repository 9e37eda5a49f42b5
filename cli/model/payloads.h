/* payloads.h - what tracepoints say, as text: script's field 'trace'.
 *
 * Payloads lie in one table for each event name, or in event_raw; each is
 * read once, in the order of events, beside the samples. So events must be
 * asked for in the order of their ids. */
#ifndef CLI_MODEL_PAYLOADS_H
#define CLI_MODEL_PAYLOADS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct payloads;
struct store;

struct payloads *payloads_open(struct store *db, struct err *err);
void payloads_close(struct payloads *ps);
/* The payload of an event of this type, printable and in one line; "" when
 * it has none. Borrowed until the next call; NULL and *err. */
const char *payloads_text(struct payloads *ps, int64_t event, int64_t type,
			  struct err *err); /* Is this a machine of 32 bits, as
					       far as its name tells? */
bool payloads_long32(const char *arch);

/* The same for a perf.data file, in which the event's type has this id:
 * its format, free() it, NULL when there is none; and the bytes of an event
 * (of those the order holds, too): 1, 0 it has none, -1. */
char *payloads_perf_format(const struct payloads *ps, int64_t type,
			   const char *name, uint32_t id);
struct payload_of {
	int64_t event, type;
	uint32_t id, tid;
};
int payloads_perf(struct payloads *ps, const struct payload_of *of,
		  const void **data, size_t *len, struct err *err);
#endif
