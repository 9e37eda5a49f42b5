/* push_sender.c - inserts: their rows, and how they go to a server. */
#include "cli/push/push_sender.h"

#include "cli/clickhouse/clickhouse.h"
#include "analyze/fleet/fleet.h"
#include "cli/push/push_server.h"
#include "formats/pack.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

#define PUSH_BUF ((size_t)256 * 1024)

static int push_body_take(void *arg, const void *data, size_t n,
			  struct err *err UNUSED)
{
	blob_add(arg, data, n);
	return 0;
}

struct push_body *push_body_new(bool count_only)
{
	struct push_body *b = mem_new(1, sizeof(*b));

	if (!count_only)
		b->pack = pack_new_fast(push_body_take, &b->packed);
	return b;
}

void push_body_free(struct push_body *b)
{
	if (!b)
		return;
	pack_free(b->pack);
	free_all(b->packed.at, b->buf.at, b);
}

static void push_body_text(struct push_body *b, const struct fleet_cells *c,
			   uint32_t id, bool sized)
{
	size_t n = intern_length(c->pool, id);

	if (sized)
		blob_leb(&b->buf, n);
	blob_add(&b->buf, intern_get(c->pool, id), n);
}

static void push_body_value(struct push_body *b, const struct fleet_cells *c,
			    enum fleet_type type, size_t i)
{
	switch (type) {
	case FLEET_U8:
		blob_put(&b->buf, c->u8[i], 1);
		break;
	case FLEET_U16:
		blob_put(&b->buf, c->u16[i], 2);
		break;
	case FLEET_U32:
	case FLEET_I32:
		blob_put(&b->buf, c->u32[i], 4);
		break;
	case FLEET_U64:
	case FLEET_I64:
	case FLEET_F64:
		blob_put(&b->buf, c->u64[i], 8);
		break;
	case FLEET_STRING:
	case FLEET_HASH:
		push_body_text(b, c, c->id[i], type == FLEET_STRING);
		break;
	}
}

void push_body_row(struct push_body *b, const struct fleet_batch *batch,
		   size_t i)
{
	size_t was = b->buf.n;

	for (size_t k = 0; k < batch->table->n_column; k++) {
		const struct fleet_cells *c = &batch->cell[k];
		enum fleet_type type = batch->table->column[k].type;

		if (!c->first) {
			push_body_value(b, c, type, i);
			continue;
		}
		blob_leb(&b->buf, c->first[i + 1] - c->first[i]);
		for (size_t at = c->first[i]; at < c->first[i + 1]; at++)
			push_body_value(b, c, type, at);
	}
	b->rows++;
	b->plain += b->buf.n - was;
}

void push_body_add(struct push_body *b, uint64_t v, size_t size)
{
	blob_put(&b->buf, v, size);
	b->plain += size;
}

int push_body_flush(struct push_body *b, struct err *err)
{
	int rc = 0;

	if (b->buf.n < PUSH_BUF)
		return 0;
	if (b->pack)
		rc = pack_add(b->pack, b->buf.at, b->buf.n, err);
	b->buf.n = 0;
	return rc;
}

/* Ends a body that is to be sent: packed is whole. Returns 0, or -1 and
 * *err. */
static int push_body_finish(struct push_body *b, struct err *err)
{
	if (pack_add(b->pack, b->buf.at, b->buf.n, err) ||
	    pack_finish(b->pack, err))
		return -1;
	pack_free(b->pack);
	b->pack = NULL;
	blob_release(&b->buf);
	return 0;
}

#define STEP_MS 1000

static int push_sender_reported(const struct push_sender *s, struct err *err)
{
	if (s->failed)
		*err = s->err;
	return s->failed ? -1 : 0;
}

/* Takes one that has ended. Returns as clickhouse_step(). */
static int push_sender_step(struct push_sender *s, int ms, struct err *err)
{
	struct push_body **p = &s->bodies;
	struct clickhouse_done done;
	int ret = clickhouse_step(s->c, ms, &done, err);

	if (ret <= 0)
		return ret;
	struct push_body *b = done.arg;
	while (*p != b)
		p = &(*p)->next;
	*p = b->next;
	if (!done.rc) {
		s->inserts++;
		s->rows += b->rows;
		s->plain += b->plain;
		s->packed += b->packed.n;
	} else if (!s->failed) {
		s->failed = true;
		s->may_pass = done.may_pass;
		s->err = *err;
	}
	push_body_free(b);
	return 1;
}

int push_sender_put(struct push_sender *s, enum fleet_table_id t,
		    const char *id, struct push_body *b, struct err *err)
{
	bool counted = !b->pack;
	char *sql OWNED = NULL;
	int ret = counted ? 0 : push_body_finish(b, err);
	FILE *f;

	while (!counted && ret >= 0 && !s->failed &&
	       s->c->inserts >= s->connections)
		ret = push_sender_step(s, STEP_MS, err);
	if (counted || ret < 0 || push_sender_reported(s, err)) {
		push_body_free(b);
		return counted ? 0 : -1;
	}
	f = mem_stream(&sql, NULL);
	push_sql_insert(f, t);
	mem_stream_end(f);
	clickhouse_insert(s->c, sql, id, b->packed.at, b->packed.n, b);
	b->next = s->bodies;
	s->bodies = b;
	return push_sender_go_on(s, err);
}

int push_sender_go_on(struct push_sender *s, struct err *err)
{
	int ret = 1;

	while (ret > 0 && s->c->inserts)
		ret = push_sender_step(s, 0, err);
	return ret < 0 ? -1 : push_sender_reported(s, err);
}

int push_sender_drain(struct push_sender *s, struct err *err)
{
	while (s->c->inserts)
		if (push_sender_step(s, STEP_MS, err) < 0)
			return -1;
	return push_sender_reported(s, err);
}

void push_sender_drop(struct push_sender *s)
{
	clickhouse_drop_inserts(s->c);
	while (s->bodies) {
		struct push_body *b = s->bodies;

		s->bodies = b->next;
		push_body_free(b);
	}
}
