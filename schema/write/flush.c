/* flush.c - new images, frames, stacks and raw chains become rows.
 *
 * Each kind is an array with dense ids in struct frames, so ids above the
 * highest one written so far are new. A stack is in use if a raw chain refers
 * to it. Only stacks in use have a path and a hash; the others are inner nodes.
 */

#include "schema/db/addrs.h"
#include "schema/write/frame_names.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/base/digits.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"

static int flush_image(struct store *db, uint32_t id, struct err *err)
{
	const struct image *m = frames_get_image(db->w->fr, id);
	const bool inode = m->maj || m->min || m->ino;
	const bool range = m->start || m->len;
	const bool has_id = m->id_len && m->id_len <= sizeof(m->id);

	return PUT_ROW(db, T_IMAGE, err, VALUE_OF(id), VALUE_OF(m->kind),
		       value_text(m->path),
		       value_blob(has_id ? m->id : NULL, m->id_len),
		       value_known(inode, m->maj), value_known(inode, m->min),
		       value_known(inode, (int64_t)m->ino),
		       value_known(inode, (int64_t)m->ino_gen),
		       value_known(range, (int64_t)m->start),
		       value_known(range, (int64_t)m->len), VALUE_ID(m->t0),
		       VALUE_ID(m->space));
}

static bool flush_named_by_capture(enum image_kind kind)
{
	return kind == IMAGE_SYMBOLS || kind == IMAGE_SCRIPT;
}

static int flush_frame(struct store *db, uint32_t id, struct err *err)
{
	const struct frame *f = frames_get_frame(db->w->fr, id);
	uint64_t symoff = 0;
	uint32_t symbol = 0;

	/* the capture has the name: naming has nothing to look up */
	if (flush_named_by_capture(
		    frames_get_image(db->w->fr, f->image)->kind) &&
	    symbol_rows_said(db, f->image, f->off, &symbol, &symoff, err))
		return -1;
	if (symbol)
		*mem_add(db->w->named, db->w->n_named, db->w->cap_named) = id;
	if (db->w->frame_names) {
		const struct frame_name name = { .symbol = symbol,
						 .symoff = symoff };

		if (symbol)
			frame_names_put(db, id, &name);
		return 0;
	}
	struct block *b = db_packed(db, T_FRAME, 0, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, 0);

	packing_int(&p, f->image);
	packing_int(&p, (int64_t)f->off);
	packing_int(&p, f->flags);
	if (symbol) {
		packing_null(&p); /* vaddr */
		packing_int(&p, symbol);
		packing_int(&p, (int64_t)symoff);
	}
	packing_end(&p);
	return 0;
}

/* As flush_frame(), where frames have no rows. */
static void flush_sums_frame(struct store *db, uint32_t id)
{
	const struct frame *f = frames_get_frame(db->w->fr, id);
	uint64_t start, size;
	const char *name = NULL;

	if (flush_named_by_capture(frames_get_image(db->w->fr, f->image)->kind))
		name = frames_symbol_at(db->w->fr, f->off, &start, &size);
	if (!name)
		return;
	sums_code_put(db, id, name, f->off - start, NULL);
	*mem_add(db->w->named, db->w->n_named, db->w->cap_named) = id;
}

static bool flush_is_used(const struct store *db, uint32_t stack)
{
	return stack / 8 < db->w->cap_used &&
	       db->w->used[stack / 8] >> (stack % 8) & 1;
}

static int flush_stack(struct store *db, uint32_t id, struct err *err)
{
	const struct stack *s = frames_get_stack(db->w->fr, id);
	bool used = flush_is_used(db, id);
	uint8_t hash[16];
	struct block *b = db_packed(db, T_STACK, sizeof(hash), err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, sizeof(hash));

	packing_id(&p, s->parent);
	packing_int(&p, s->frame);
	packing_int(&p, s->depth);
	if (used) {
		frames_hash(db->w->fr, id, hash);
		packing_bytes(&p, RECORD_BLOB, hash, sizeof(hash));
	}
	packing_end(&p);
	return 0;
}

int flush_path_row(struct store *db, uint32_t stack, size_t pos, uint32_t frame,
		   struct err *err)
{
	struct block *b = db_packed(db, T_PATH, 0, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, 0, 0);

	packing_int(&p, stack);
	packing_int(&p, (int64_t)pos);
	packing_int(&p, frame);
	packing_end(&p);
	return 0;
}

/* Writes the frames of a stack. */
static int flush_path(struct store *db, uint32_t stack, struct err *err)
{
	uint32_t n = frames_get_stack(db->w->fr, stack)->depth;
	uint32_t i = n;

	mem_grow(db->w->work, db->w->cap_work, n);
	for (uint32_t at = stack; at && i;) {
		const struct stack *s = frames_get_stack(db->w->fr, at);

		db->w->work[--i] = s->frame;
		at = s->parent;
	}
	for (i = 0; i < n; i++)
		if (flush_path_row(db, stack, n - 1 - i, db->w->work[i], err))
			return -1;
	return 0;
}

static int flush_chain(struct store *db, uint32_t id, struct err *err)
{
	const struct raw_chain *c = frames_get_raw(db->w->fr, id);
	size_t max = (size_t)c->n * ADDRS_BYTES_MAX;
	struct block *b = db_packed(db, T_RAW, max, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, max);

	packing_id(&p, c->stack);

	unsigned char *end = p.value;
	uint64_t last = 0;
	uint32_t n;

	for (uint32_t at = 0; at < c->n; at += n) {
		const uint64_t *ip = frames_raw_ips(db->w->fr, c, at, &n);

		end = addrs_pack(end, ip, n, &last);
	}
	packing_written(&p, RECORD_BLOB, (size_t)(end - p.value));
	packing_id(&p, c->note.ended);
	packing_id(&p, c->note.caller);
	packing_end(&p);
	return 0;
}

struct flush_used {
	uint64_t stack;
};

SORT_BY_DIGITS(flush_by_stack, struct flush_used, stack);

static void flush_mark_used(struct store *db, uint32_t stack)
{
	size_t old = db->w->cap_used;
	size_t byte = stack / 8;

	mem_grow(db->w->used, db->w->cap_used, byte + 1);
	if (db->w->cap_used > old)
		memset(db->w->used + old, 0, db->w->cap_used - old);
	db->w->used[byte] |= (unsigned char)(1 << (stack % 8));
}

/* Writes the new stacks, and the paths of those that raw chains up to `raws`
 * are the first to use: sorted, so that they are appended to the table. */
static int flush_stacks(struct store *db, uint32_t raws, struct err *err)
{
	struct writing *w = db->w;
	struct flush_used *list = NULL;
	size_t n = 0;
	size_t cap = 0;
	uint32_t stacks = w->fr->n_stack;
	int rc = 0;

	for (uint32_t id = w->raws + 1; id <= raws; id++) {
		uint32_t s = frames_get_raw(w->fr, id)->stack;

		if (!s || flush_is_used(db, s))
			continue;
		flush_mark_used(db, s);
		*mem_add(list, n, cap) = (struct flush_used){ s };
		if (s <= w->stacks)
			*mem_add(w->late, w->n_late, w->cap_late) = s;
	}
	if (n)
		list = flush_by_stack(list, n);
	for (; !rc && w->stacks < stacks; w->stacks++)
		rc = flush_stack(db, w->stacks + 1, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = flush_path(db, (uint32_t)list[i].stack, err);
	free(list);
	return rc;
}

int flush_frames(struct store *db, struct err *err)
{
	uint32_t raws = db->w->fr ? db->w->fr->n_raw : 0;
	int rc = 0;

	if (!db->w->fr)
		return 0;
	for (; !rc && db->w->images < db->w->fr->n_image; db->w->images++)
		rc = flush_image(db, db->w->images + 1, err)
			     ?: jitted_put(db, db->w->images + 1, err);
	for (; db->w->sums && db->w->frames < db->w->fr->n_frame;)
		flush_sums_frame(db, ++db->w->frames);
	if (db->w->sums)
		return rc;
	for (; !rc && db->w->frames < db->w->fr->n_frame; db->w->frames++)
		rc = flush_frame(db, db->w->frames + 1, err);
	if (!rc)
		rc = flush_stacks(db, raws, err);
	for (; !rc && db->w->raws < raws; db->w->raws++)
		rc = flush_chain(db, db->w->raws + 1, err);
	return rc;
}

int flush_late_hashes(struct store *db, struct err *err)
{
	if (!db->w->n_late)
		return 0;
	sqlite3_stmt *st =
		db_prepare(db, "UPDATE stack SET hash = ?2 WHERE id = ?1", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->w->n_late; i++) {
		uint8_t hash[16];

		frames_hash(db->w->fr, db->w->late[i], hash);
		sqlite3_bind_int64(st, 1, db->w->late[i]);
		sqlite3_bind_blob(st, 2, hash, sizeof(hash), SQLITE_STATIC);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	db->w->n_late = 0;
	return rc;
}

int store_flush(struct store *db, struct ledger *lg, struct err *err)
{
	if (flush_frames(db, err) || store_entries(db, lg, err))
		return -1;
	return tables_tidy(db, err);
}
