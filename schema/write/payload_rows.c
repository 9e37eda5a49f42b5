/* payload_rows.c - payloads of events, each content once if it comes again
 * soon.
 *
 * Programs make the same system calls again and again: of a million payloads of
 * a compiler and its shell four fifths are equal to one of the last ten
 * thousand contents. Bytes are compared, not only hashes. The memory does not
 * grow: a payload takes the slot of another one, which is stored again when it
 * comes back. */

#include "schema/write/writing.h"
#include "stitch/base/mem.h"

/* Twice as many slots make the rows of those payloads 4 % fewer. */
#define SLOTS 16384
/* Longer payloads are file names and the like. */
#define SLOT_BYTES 120
/* Nearly all payloads of a trace of system calls are equal to one of the last
 * few hundred. For these the hash that decides on the slot, which was half of
 * the cost, is not needed. */
#define HINTS 1024

struct payload_slot {
	uint32_t id; /* payload.id; 0: empty */
	uint32_t len;
	unsigned char data[SLOT_BYTES];
};

struct payload_rows {
	uint16_t hint[HINTS]; /* slots, by payload_rows_hint() */
	struct payload_slot slot[SLOTS];
};

static bool payload_slot_has(const struct payload_slot *s, const void *p,
			     size_t len)
{
	return s->id && s->len == len && !memcmp(s->data, p, len);
}

static size_t payload_rows_hint(const void *p, size_t len)
{
	const unsigned char *at = p;
	uint64_t h = len;

	for (; len >= sizeof(h); at += sizeof(h), len -= sizeof(h)) {
		uint64_t w;

		memcpy(&w, at, sizeof(w));
		h = (h << 7 | h >> 57) ^ w;
	}
	return (h * 0x9e3779b97f4a7c15u) >> 32 & (HINTS - 1);
}

/* Returns the slot of a payload, NULL if it is too long for one. */
static struct payload_slot *payload_rows_slot(struct writing *w, const void *p,
					      size_t len)
{
	if (len > SLOT_BYTES)
		return NULL;
	if (!w->payload_rows)
		w->payload_rows = mem_new(1, sizeof(*w->payload_rows));
	struct payload_rows *rows = w->payload_rows;
	uint16_t *hint = &rows->hint[payload_rows_hint(p, len)];

	/* the same in each run, so that equal captures give equal databases */
	if (!payload_slot_has(&rows->slot[*hint], p, len))
		*hint = (uint16_t)(hash_content(p, len, 0) % SLOTS);
	return &rows->slot[*hint];
}

int payload_rows_put(struct maker *mk, const void *p, size_t len, uint32_t *id,
		     struct err *err)
{
	struct writing *w = mk->w;
	struct payload_slot *s = payload_rows_slot(w, p, len);

	if (s && payload_slot_has(s, p, len)) {
		*id = s->id;
		return 0;
	}
	struct block *b = maker_packed(mk, T_PAYLOAD, len, err);

	if (!b)
		return -1;
	*id = ++w->payloads;
	struct packing r = packing_begin(b, *id, len);

	packing_bytes(&r, RECORD_BLOB, p, len);
	packing_end(&r);
	if (s) {
		s->id = *id;
		s->len = (uint32_t)len;
		memcpy(s->data, p, len);
	}
	return 0;
}

void payload_rows_free(struct payload_rows *rows)
{
	free(rows);
}
