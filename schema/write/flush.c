/* flush.c - new images, frames, stacks and raw chains become rows.
 *
 * Each kind is an array with dense ids in struct frames, so "new" is what is
 * above the highest id written so far. A stack is in use when a raw chain
 * names it; only those have a path and a hash, others are inner nodes. */
#include <stdlib.h>
#include <string.h>

#include "schema/inner.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"

static int put_image(struct store *db, uint32_t id, struct err *err)
{
	const struct image *m = frames_get_image(db->fr, id);
	size_t len = (m->path ? strlen(m->path) : 0) + m->id_len;
	struct row r;

	if (store_row(db, T_IMAGE, len, &r, err))
		return -1;
	row_key(&r, id);
	row_int(&r, 1, m->kind);
	row_text(&r, 2, m->path);
	if (m->id_len && m->id_len <= sizeof(m->id))
		row_blob(&r, 3, m->id, m->id_len);
	if (m->maj || m->min || m->ino) {
		row_int(&r, 4, m->maj);
		row_int(&r, 5, m->min);
		row_int(&r, 6, (int64_t)m->ino);
		row_int(&r, 7, (int64_t)m->ino_gen);
	}
	if (m->start || m->len) {
		row_int(&r, 8, (int64_t)m->start);
		row_int(&r, 9, (int64_t)m->len);
	}
	row_id(&r, 10, m->t0);
	row_id(&r, 11, m->space);
	return 0;
}

static bool is_named(enum image_kind kind)
{
	return kind == IMAGE_SYMBOLS || kind == IMAGE_SCRIPT;
}

static int put_frame(struct store *db, uint32_t id, struct err *err)
{
	const struct frame *f = frames_get_frame(db->fr, id);
	uint64_t symoff = 0;
	uint32_t symbol = 0;
	struct row r;

	/* Said by the capture: naming has nothing to look for. */
	if (is_named(frames_get_image(db->fr, f->image)->kind) &&
	    naming_said(db, f->image, f->off, &symbol, &symoff, err))
		return -1;
	if (store_row(db, T_FRAME, 0, &r, err))
		return -1;
	row_key(&r, id);
	row_int(&r, 1, f->image);
	row_int(&r, 2, (int64_t)f->off);
	row_int(&r, 3, f->flags);
	if (symbol) {
		row_int(&r, 4, symbol);
		row_int(&r, 5, (int64_t)symoff);
	}
	return 0;
}

static bool is_used(const struct store *db, uint32_t stack)
{
	return stack / 8 < db->cap_used &&
	       db->used[stack / 8] >> (stack % 8) & 1;
}

static int put_stack(struct store *db, uint32_t id, struct err *err)
{
	const struct stack *s = frames_get_stack(db->fr, id);
	bool used = is_used(db, id);
	uint8_t hash[16];
	struct row r;

	if (store_row(db, T_STACK, used ? sizeof(hash) : 0, &r, err))
		return -1;
	row_key(&r, id);
	row_id(&r, 1, s->parent);
	row_int(&r, 2, s->frame);
	row_int(&r, 3, s->depth);
	if (used) {
		frames_hash(db->fr, id, hash);
		row_blob(&r, 4, hash, sizeof(hash));
	}
	return 0;
}

/* pos counts from the innermost frame, rows are written outermost first:
 * the order of the table's key. */
static int put_path(struct store *db, uint32_t stack, struct err *err)
{
	uint32_t n = frames_get_stack(db->fr, stack)->depth;
	uint32_t i = n;
	struct row r;

	db->work = mem_grow(db->work, &db->cap_work, n, sizeof(*db->work));
	for (uint32_t at = stack; at && i;) {
		const struct stack *s = frames_get_stack(db->fr, at);

		db->work[--i] = s->frame;
		at = s->parent;
	}
	for (i = 0; i < n; i++) {
		if (store_row(db, T_PATH, 0, &r, err))
			return -1;
		row_int(&r, 0, stack);
		row_int(&r, 1, n - 1 - i);
		row_int(&r, 2, db->work[i]);
	}
	return 0;
}

/* ---- raw chains */

static unsigned char *put_varint(unsigned char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

static int put_chain(struct store *db, uint32_t id, struct err *err)
{
	const struct raw_chain *c = frames_get_raw(db->fr, id);
	size_t max = (size_t)c->n * 10;
	uint64_t last = 0;
	struct row r;

	if (store_row(db, T_RAW, max, &r, err))
		return -1;
	row_key(&r, id);
	row_id(&r, 1, c->stack);

	unsigned char *start = row_data(&r, max);
	unsigned char *p = start;

	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t d = c->ip[i] - last;

		p = put_varint(p, d << 1 ^ (0 - (d >> 63)));
		last = c->ip[i];
	}
	row_data_end(&r, 2, start, max, (size_t)(p - start));
	if (c->note.ended)
		row_int(&r, 3, c->note.ended);
	if (c->note.caller)
		row_int(&r, 4, c->note.caller);
	return 0;
}

int store_addrs(const void *blob, size_t len, uint64_t *ip, uint32_t max)
{
	const unsigned char *p = blob;
	const unsigned char *end = p ? p + len : p;
	uint64_t last = 0;
	uint32_t n = 0;

	while (p && p < end) {
		uint64_t v = 0;
		unsigned int shift = 0;

		do {
			if (p == end || shift > 63)
				return -1;
			v |= (uint64_t)(*p & 0x7f) << shift;
			shift += 7;
		} while (*p++ & 0x80);
		if (n == max || n == INT32_MAX)
			return -1;
		last += v >> 1 ^ (0 - (v & 1));
		ip[n++] = last;
	}
	return (int)n;
}

/* ---- flush */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void mark_used(struct store *db, uint32_t stack)
{
	size_t old = db->cap_used;
	size_t byte = stack / 8;

	db->used = mem_grow(db->used, &db->cap_used, byte + 1, 1);
	if (db->cap_used > old)
		memset(db->used + old, 0, db->cap_used - old);
	db->used[byte] |= (unsigned char)(1 << (stack % 8));
}

/* Stacks that the raw chains from `first` on are the first to use; sorted,
 * so that their paths are appended. *list is the caller's to free. */
static size_t newly_used(struct store *db, uint32_t first, uint32_t last,
			 uint32_t **list)
{
	size_t n = 0;
	size_t cap = 0;

	*list = NULL;
	for (uint32_t id = first; id <= last; id++) {
		uint32_t s = frames_get_raw(db->fr, id)->stack;

		if (!s || is_used(db, s))
			continue;
		mark_used(db, s);
		*list = mem_grow(*list, &cap, n + 1, sizeof(**list));
		(*list)[n++] = s;
		if (s <= db->stacks) {
			db->late = mem_grow(db->late, &db->cap_late,
					    db->n_late + 1, sizeof(*db->late));
			db->late[db->n_late++] = s;
		}
	}
	if (n)
		qsort(*list, n, sizeof(**list), by_number);
	return n;
}

static int write_stacks(struct store *db, uint32_t raws, struct err *err)
{
	uint32_t *list;
	size_t n = newly_used(db, db->raws + 1, raws, &list);
	uint32_t stacks = frames_stacks(db->fr);
	int rc = 0;

	for (; !rc && db->stacks < stacks; db->stacks++)
		rc = put_stack(db, db->stacks + 1, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = put_path(db, list[i], err);
	free(list);
	return rc;
}

int store_write_frames(struct store *db, struct err *err)
{
	uint32_t raws = db->fr ? frames_raws(db->fr) : 0;
	int rc = 0;

	if (!db->fr)
		return 0;
	for (; !rc && db->images < frames_images(db->fr); db->images++)
		rc = put_image(db, db->images + 1, err) ||
				     jitted_put(db, db->images + 1, err)
			     ? -1
			     : 0;
	for (; !rc && db->frames < frames_frames(db->fr); db->frames++)
		rc = put_frame(db, db->frames + 1, err);
	if (!rc)
		rc = write_stacks(db, raws, err);
	for (; !rc && db->raws < raws; db->raws++)
		rc = put_chain(db, db->raws + 1, err);
	return rc;
}

/* An inner node that came into use after it was written. */
int store_late_hashes(struct store *db, struct err *err)
{
	if (!db->n_late)
		return 0;
	sqlite3_stmt *st = store_prepare(
		db, "UPDATE stack SET hash = ?2 WHERE id = ?1", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->n_late; i++) {
		uint8_t hash[16];

		frames_hash(db->fr, db->late[i], hash);
		sqlite3_bind_int64(st, 1, db->late[i]);
		sqlite3_bind_blob(st, 2, hash, sizeof(hash), SQLITE_STATIC);
		rc = store_step(db, st, err);
	}
	sqlite3_finalize(st);
	db->n_late = 0;
	return rc;
}

int store_flush(struct store *db, struct ledger *lg, struct err *err)
{
	if (store_write_frames(db, err) || store_ledger(db, lg, err))
		return -1;
	return store_tidy(db, err);
}
