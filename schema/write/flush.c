/* flush.c - makes rows of new images, frames, stacks and raw chains.
 *
 * Each kind is an array with dense ids in struct frames, so ids above the
 * highest one written so far are new. A stack is in use if a raw chain refers
 * to it. Only stacks in use have a path and a hash; the others are inner
 * nodes. */

#include "schema/db/addrs.h"
#include "schema/db/sums_code.h"
#include "schema/write/labels.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/digits.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/symbol.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"

/* Larger code is no function but a code cache that was logged as one. */
#define JIT_BYTES_MAX ((size_t)4 << 20)

int symbol_rows_resume(struct maker *mk, struct err *err)
{
	int64_t max;

	if (maker_number(mk, "SELECT coalesce(max(id), 0) FROM symbol", &max,
			 err))
		return -1;
	if (max < 0 || max >= UINT32_MAX)
		return err_set(err, ERR_FORMAT,
			       "%s: symbol ids are out of "
			       "range",
			       mk->db->path);
	mk->w->symbols = (uint32_t)max;
	mk->table[T_SYMBOL]->next_id = (uint32_t)max + 1;
	return 0;
}

int symbol_rows_put(struct maker *mk, uint32_t image, const struct symbol *s,
		    uint32_t *id, struct err *err)
{
	bool raw = s->raw_name && strcmp(s->raw_name, s->name) != 0;

	*id = mk->w->symbols + 1;
	if (PUT_ROW(mk, T_SYMBOL, err, VALUE_OF(*id), VALUE_OF(image),
		    VALUE_OF(s->start), VALUE_OF(s->size), value_text(s->name),
		    value_text(raw ? s->raw_name : NULL), value_text(s->how),
		    VALUE_OF(s->unverified)))
		return -1;
	mk->w->symbols++;
	frame_names_symbol(mk, *id, s->name);
	return 0;
}

/* Stores the symbol that a capture named at an offset of an image in *id, 0 for
 * none, and the distance from its start in *symoff. */
static int symbol_rows_find(struct maker *mk, uint32_t image, uint64_t off,
			    uint32_t *id, uint64_t *symoff, struct err *err)
{
	struct symbol s = { .off = off, .how = "text" };

	s.name = frames_symbol_at(mk->w->fr, off, &s.start, &s.size);
	if (!s.name || image >> 24)
		return 0;
	/* the upper 40 bits of start identify the symbol, the rest is 0 */
	uint64_t h = hash_u64(s.start ^ image);
	uint32_t known = table_find_hash(&mk->w->said, h);

	*symoff = off - s.start;
	*id = known;
	if (known != TABLE_NONE)
		return 0;
	if (symbol_rows_put(mk, image, &s, id, err))
		return -1;
	table_add(&mk->w->said, h, *id);
	return 0;
}

static int flush_image(struct maker *mk, uint32_t id, struct err *err)
{
	const struct image *m = frames_get_image(mk->w->fr, id);
	const bool inode = m->maj || m->min || m->ino;
	const bool range = m->start || m->len;
	const bool has_id = m->id_len && m->id_len <= sizeof(m->id);

	return PUT_ROW(mk, T_IMAGE, err, VALUE_OF(id), VALUE_OF(m->kind),
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

static int flush_frame(struct maker *mk, uint32_t id, struct err *err)
{
	const struct frame *f = frames_get_frame(mk->w->fr, id);
	uint64_t symoff = 0;
	uint32_t symbol = 0;

	/* the capture has the name: naming has nothing to look up */
	if (flush_named_by_capture(
		    frames_get_image(mk->w->fr, f->image)->kind) &&
	    symbol_rows_find(mk, f->image, f->off, &symbol, &symoff, err))
		return -1;
	if (symbol)
		*mem_add(mk->w->named, mk->w->n_named, mk->w->cap_named) = id;
	if (mk->w->frame_names) {
		const struct frame_name name = { .symbol = symbol,
						 .symoff = symoff };

		if (symbol)
			frame_names_put(mk, id, &name);
		return 0;
	}
	struct block *b = maker_packed(mk, T_FRAME, 0, err);

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

/* flush_frame() for a database in which frames have no rows. */
static void flush_sums_frame(struct maker *mk, uint32_t id)
{
	const struct frame *f = frames_get_frame(mk->w->fr, id);
	uint64_t start, size;
	const char *name = NULL;

	if (flush_named_by_capture(frames_get_image(mk->w->fr, f->image)->kind))
		name = frames_symbol_at(mk->w->fr, f->off, &start, &size);
	if (!name)
		return;
	sums_code_put(mk->db->sums, id, name, f->off - start, NULL);
	*mem_add(mk->w->named, mk->w->n_named, mk->w->cap_named) = id;
}

static bool flush_is_used(const struct maker *mk, uint32_t stack)
{
	return stack / 8 < mk->w->cap_used &&
	       mk->w->used[stack / 8] >> (stack % 8) & 1;
}

static int flush_stack(struct maker *mk, uint32_t id, struct err *err)
{
	const struct stack *s = frames_get_stack(mk->w->fr, id);
	bool used = flush_is_used(mk, id);
	uint8_t hash[16];
	struct block *b = maker_packed(mk, T_STACK, sizeof(hash), err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, sizeof(hash));

	packing_id(&p, s->parent);
	packing_int(&p, s->frame);
	packing_int(&p, s->depth);
	if (used) {
		frames_hash(mk->w->fr, id, hash);
		packing_bytes(&p, RECORD_BLOB, hash, sizeof(hash));
	}
	packing_end(&p);
	return 0;
}

int flush_path_row(struct maker *mk, uint32_t stack, size_t pos, uint32_t frame,
		   struct err *err)
{
	struct block *b = maker_packed(mk, T_PATH, 0, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, 0, 0);

	packing_int(&p, stack);
	packing_int(&p, (int64_t)pos);
	packing_int(&p, frame);
	packing_end(&p);
	return 0;
}

static int flush_path(struct maker *mk, uint32_t stack, struct err *err)
{
	uint32_t n = frames_get_stack(mk->w->fr, stack)->depth;
	uint32_t i = n;

	mem_grow(mk->w->work, mk->w->cap_work, n);
	for (uint32_t at = stack; at && i;) {
		const struct stack *s = frames_get_stack(mk->w->fr, at);

		mk->w->work[--i] = s->frame;
		at = s->parent;
	}
	for (i = 0; i < n; i++)
		if (flush_path_row(mk, stack, n - 1 - i, mk->w->work[i], err))
			return -1;
	return 0;
}

static int flush_chain(struct maker *mk, uint32_t id, struct err *err)
{
	const struct raw_chain *c = frames_get_raw(mk->w->fr, id);
	size_t max = (size_t)c->n * ADDRS_BYTES_MAX;
	struct block *b = maker_packed(mk, T_RAW, max, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, max);

	packing_id(&p, c->stack);

	unsigned char *end = p.value;
	uint64_t last = 0;
	uint32_t n;

	for (uint32_t at = 0; at < c->n; at += n) {
		const uint64_t *ip = frames_raw_ips(mk->w->fr, c, at, &n);

		end = addrs_pack(end, ip, n, &last);
	}
	packing_written(&p, RECORD_BLOB, (size_t)(end - p.value));
	packing_id(&p, c->note.ended);
	packing_id(&p, c->note.caller);
	packing_end(&p);
	return 0;
}

/* Writes bytes and lines of an image if it is jitted code. */
static int jitted_put(struct maker *mk, uint32_t id, struct err *err)
{
	const struct jit_code *c = frames_get_image(mk->w->fr, id)->code;

	if (!c)
		return 0;
	if (c->bytes && c->n_bytes <= JIT_BYTES_MAX &&
	    PUT_ROW(mk, T_JIT_CODE, err, VALUE_OF(id), VALUE_OF(c->machine),
		    VALUE_OF(c->start), value_blob(c->bytes, c->n_bytes)))
		return -1;
	for (size_t i = 0; i < c->n_line; i++)
		/* Lines are sorted by offset; of several lines of one
		 * instruction the last one is stored. */
		if (c->line[i].file && c->line[i].off < c->len &&
		    (i + 1 == c->n_line ||
		     c->line[i + 1].off != c->line[i].off) &&
		    PUT_ROW(mk, T_JIT_LINE, err, VALUE_OF(id),
			    VALUE_OF(c->line[i].off),
			    value_text(c->line[i].file),
			    VALUE_ID(c->line[i].line)))
			return -1;
	return 0;
}

struct flush_used {
	uint64_t stack;
};

SORT_BY_DIGITS(flush_by_stack, struct flush_used, stack);

int flush_frames(struct maker *mk, struct err *err)
{
	uint32_t raws = mk->w->fr ? mk->w->fr->n_raw : 0;
	int rc = 0;

	if (!mk->w->fr)
		return 0;
	for (; !rc && mk->w->images < mk->w->fr->n_image; mk->w->images++)
		rc = flush_image(mk, mk->w->images + 1, err)
			     ?: jitted_put(mk, mk->w->images + 1, err);
	for (; mk->db->sums && mk->w->frames < mk->w->fr->n_frame;)
		flush_sums_frame(mk, ++mk->w->frames);
	if (mk->db->sums)
		return rc;
	for (; !rc && mk->w->frames < mk->w->fr->n_frame; mk->w->frames++)
		rc = flush_frame(mk, mk->w->frames + 1, err);
	if (!rc) {
		/* Write the new stacks, and the paths of those that raw chains
		 * up to `raws` are the first to use: sorted, so that they are
		 * appended to the table. */
		struct writing *w = mk->w;
		struct flush_used *list = NULL;
		size_t n = 0;
		size_t cap = 0;
		uint32_t stacks = w->fr->n_stack;
		rc = 0;

		for (uint32_t id = w->raws + 1; id <= raws; id++) {
			uint32_t s = frames_get_raw(w->fr, id)->stack;

			if (!s || flush_is_used(mk, s))
				continue;
			size_t old = mk->w->cap_used;
			size_t byte = s / 8;

			mem_grow(mk->w->used, mk->w->cap_used, byte + 1);
			if (mk->w->cap_used > old)
				memset(mk->w->used + old, 0,
				       mk->w->cap_used - old);
			mk->w->used[byte] |= (unsigned char)(1 << (s % 8));
			*mem_add(list, n, cap) = (struct flush_used){ s };
			if (s <= w->stacks)
				*mem_add(w->late, w->n_late, w->cap_late) = s;
		}
		if (n)
			list = flush_by_stack(list, n);
		for (; !rc && w->stacks < stacks; w->stacks++)
			rc = flush_stack(mk, w->stacks + 1, err);
		for (size_t i = 0; !rc && i < n; i++)
			rc = flush_path(mk, (uint32_t)list[i].stack, err);
		free(list);
	}
	for (; !rc && mk->w->raws < raws; mk->w->raws++)
		rc = flush_chain(mk, mk->w->raws + 1, err);
	return rc;
}

int flush_late_hashes(struct maker *mk, struct err *err)
{
	if (!mk->w->n_late)
		return 0;
	sqlite3_stmt *st = maker_prepare(
		mk, "UPDATE stack SET hash = ?2 WHERE id = ?1", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < mk->w->n_late; i++) {
		uint8_t hash[16];

		frames_hash(mk->w->fr, mk->w->late[i], hash);
		sqlite3_bind_int64(st, 1, mk->w->late[i]);
		sqlite3_bind_blob(st, 2, hash, sizeof(hash), SQLITE_STATIC);
		rc = db_step(mk->db, st, err);
	}
	sqlite3_finalize(st);
	mk->w->n_late = 0;
	return rc;
}

int store_flush(struct maker *mk, struct ledger *lg, struct err *err)
{
	if (flush_frames(mk, err) || store_entries(mk, lg, err))
		return -1;
	return tables_tidy(mk, err);
}
