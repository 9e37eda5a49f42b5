/* payload_raws.h - raw payloads of events, read along with the events.
 *
 * Events are asked for in the order of their ids. An event has either a new
 * payload, the next one of the table, or one that it shares with an event
 * shortly before it, which is kept here; others are looked up. */
#ifndef CLI_MODEL_PAYLOAD_RAWS_H
#define CLI_MODEL_PAYLOAD_RAWS_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct kept_payload;
struct rows;
struct store;
struct value;

/* All zeros: not yet opened. The fields are this module's. */
struct payload_raws {
	struct rows *next; /* the payloads, in the order of their ids */
	int64_t last;	   /* id of the one read last */
	bool ended;
	struct rows *one;		   /* a payload by its id */
	struct kept_payload *kept, *again; /* new ones; looked up ones */
};

/* Stores the bytes of a payload in *v, valid until the next call; v->kind is
 * not VALUE_BLOB if the database does not have them. Returns 0, or -1 and *err.
 */
int payload_raws_read(struct payload_raws *raws, struct store *db, int64_t id,
		      struct value *v, struct err *err);
void payload_raws_release(struct payload_raws *raws);
#endif
