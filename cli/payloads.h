/* payloads.h - what tracepoints say, as text: script's field 'trace'.
 *
 * Payloads lie in one table for each event name, or in event_raw; each is
 * read once, in the order of events, beside the samples. So events must be
 * asked for in the order of their ids. */
#ifndef CLI_PAYLOADS_H
#define CLI_PAYLOADS_H
#include <stdint.h>

struct err;
struct payloads;
struct store;

struct payloads *payloads_open(struct store *db, struct err *err);
void payloads_close(struct payloads *ps);
/* The payload of an event of this type, printable and in one line; "" when
 * it has none. Borrowed until the next call; NULL and *err. */
const char *payloads_text(struct payloads *ps, int64_t event, int64_t type,
			  struct err *err);
#endif
