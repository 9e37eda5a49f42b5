/* push_body.c - the rows of an insert, as RowBinary packed with gzip. */
#include "cli/push/push_body.h"

#include "cli/fleet/fleet_batch.h"
#include "cli/fleet/fleet_schema.h"
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

int push_body_finish(struct push_body *b, struct err *err)
{
	if (pack_add(b->pack, b->buf.at, b->buf.n, err) ||
	    pack_finish(b->pack, err))
		return -1;
	pack_free(b->pack);
	b->pack = NULL;
	blob_release(&b->buf);
	return 0;
}
