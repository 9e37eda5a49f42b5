/* payload_raws.c - raw payloads of events, read along with the events. */
#include "cli/model/payload_raws.h"

#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

/* A payload that is read again is one of the last few thousand, or one that is
 * read again and again; there is room for KEPT of either. Those that are shared
 * are not longer (schema/write/payload_rows.c). */
#define KEPT 8192
#define KEPT_BYTES 120

struct kept_payload {
	int64_t id; /* 0: none */
	uint32_t len;
	char data[KEPT_BYTES];
};

static void payload_raws_keep(struct kept_payload *kept, int64_t id,
			      const struct value *v)
{
	struct kept_payload *k = &kept[(uint64_t)id % KEPT];

	if (v->kind != VALUE_BLOB || v->len > KEPT_BYTES)
		return;
	k->id = id;
	k->len = (uint32_t)v->len;
	if (v->len)
		memcpy(k->data, v->text, v->len);
}

static bool payload_raws_find(const struct kept_payload *kept, int64_t id,
			      struct value *v)
{
	const struct kept_payload *k = &kept[(uint64_t)id % KEPT];

	if (!id || k->id != id)
		return false;
	*v = (struct value){ .kind = VALUE_BLOB,
			     .text = k->data,
			     .len = k->len };
	return true;
}

/* Reads on until the payload. Returns 1 and *v, 0 if it is not there, or -1 and
 * *err. */
static int payload_raws_read_on(struct payload_raws *raws, int64_t id,
				struct value *v, struct err *err)
{
	while (raws->last < id && !raws->ended) {
		int ret = rows_next(raws->next, err);

		if (ret < 0)
			return -1;
		if (!ret) {
			raws->ended = true;
			break;
		}
		raws->last = rows_int(raws->next, PAYLOADS_ID);
		*v = rows_value(raws->next, PAYLOADS_DATA);
		payload_raws_keep(raws->kept, raws->last, v);
	}
	return raws->last == id && !raws->ended;
}

/* A statement of its own for each payload: with the lock that SQLite has for
 * raws->next, 0.6 us. */
static int payload_raws_look_up(struct payload_raws *raws, struct store *db,
				int64_t id, struct value *v, struct err *err)
{
	const struct value key = { .kind = VALUE_INT, .num = id };
	int ret;

	if (raws->one) {
		ret = rows_again(raws->one, &key, 1, err);
	} else {
		raws->one =
			rows_open(db, store_sql("payload_data"), &key, 1, err);
		ret = raws->one ? 0 : -1;
	}
	if (!ret)
		ret = rows_next(raws->one, err);
	*v = (struct value){ 0 };
	if (ret > 0)
		*v = rows_value(raws->one, PAYLOAD_DATA_DATA);
	payload_raws_keep(raws->again, id, v);
	return ret < 0 ? -1 : 0;
}

int payload_raws_read(struct payload_raws *raws, struct store *db, int64_t id,
		      struct value *v, struct err *err)
{
	if (!raws->kept) {
		raws->kept = mem_new(KEPT, sizeof(*raws->kept));
		raws->again = mem_new(KEPT, sizeof(*raws->again));
		raws->next = rows_of(db, "payloads", err);
		if (!raws->next)
			return -1;
	}
	if (raws->last < id) {
		int ret = payload_raws_read_on(raws, id, v, err);

		if (ret)
			return ret < 0 ? -1 : 0;
	} else if (payload_raws_find(raws->kept, id, v) ||
		   payload_raws_find(raws->again, id, v)) {
		return 0;
	}
	return payload_raws_look_up(raws, db, id, v, err);
}

void payload_raws_release(struct payload_raws *raws)
{
	rows_close(raws->next);
	rows_close(raws->one);
	free(raws->kept);
	free(raws->again);
	*raws = (struct payload_raws){ 0 };
}
