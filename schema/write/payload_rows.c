/* payload_rows.c - payloads of events, each content once if it comes again
 * soon.
 *
 * Programs make the same system calls again and again: of a million payloads of
 * a compiler and its shell four fifths are equal to one of the last ten
 * thousand contents. Bytes are compared, not only hashes. The memory does not
 * grow: a payload takes the slot of another one, which is stored again when it
 * comes back. */
#include <stdlib.h>
#include <string.h>

#include "schema/write/writing.h"
#include "stitch/base/mem.h"

/* Twice as many slots make the rows of those payloads 4 % fewer. */
#define SLOTS 16384
/* Longer payloads are file names and the like. */
#define SLOT_BYTES 120

struct payload_slot {
	uint32_t id; /* payload.id; 0: empty */
	uint32_t len;
	unsigned char data[SLOT_BYTES];
};

static struct payload_slot *payload_rows_slot(struct writing *w, const void *p,
					      size_t len)
{
	if (len > SLOT_BYTES)
		return NULL;
	if (!w->payload_slot)
		w->payload_slot = mem_new(SLOTS, sizeof(*w->payload_slot));
	/* the same in each run, so that equal captures give equal databases */
	return &w->payload_slot[hash_content(p, len, 0) % SLOTS];
}

int payload_rows_put(struct store *db, const void *p, size_t len, uint32_t *id,
		     struct err *err)
{
	struct writing *w = db->w;
	struct payload_slot *s = payload_rows_slot(w, p, len);

	if (s && s->id && s->len == len && !memcmp(s->data, p, len)) {
		*id = s->id;
		return 0;
	}
	struct block *b = db_packed(db, T_PAYLOAD, len, err);

	if (!b)
		return -1;
	*id = ++w->payloads;
	struct packing r = packing_begin(b, *id, len);

	packing_bytes(&r, CELL_BLOB, p, len);
	packing_end(&r);
	if (s) {
		s->id = *id;
		s->len = (uint32_t)len;
		memcpy(s->data, p, len);
	}
	return 0;
}

void payload_rows_free(struct payload_slot *slots)
{
	free(slots);
}
