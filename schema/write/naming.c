/* naming.c - names for frames, image by image; and the labels of the folded
 * views, which are made of them.
 *
 * store_unnamed() goes through the images that unnamed.c lists. What
 * store_symbol() is told is kept in an array beside the offsets and written to
 * the frames when the image is done, one UPDATE each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/inner.h"
#include "schema/store.h"
#include "schema/write/unnamed.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/mem.h"
#include "stitch/symbol.h"

#define LABEL_SIZE 4096

struct answer {
	uint64_t symoff;
	const char *file; /* NULL: not known */
	uint32_t line;
	uint32_t symbol; /* 0: no name */
	uint32_t todo;	 /* the first with this offset */
	bool told;
};

struct known { /* symbols of the current image */
	uint64_t start;
	char *name;
	uint32_t id;
};

struct naming {
	sqlite3_stmt *update;
	bool walking;
	struct unnamed todo;
	size_t next;		 /* of todo.image[] */
	struct unnamed_image at; /* current; image 0: none */
	struct answer *answer;	 /* one for each of at.code[] */
	size_t cap_answer;
	struct known *known;
	size_t n_known, cap_known;
	struct table by_name;
	struct table said;  /* image and start of what captures said: id */
	uint32_t symbols;   /* last id */
	struct symbol last; /* told last, its strings owned; name NULL:
			     * nothing waits */
	struct segment *seg;
	size_t n_seg, cap_seg;
	struct jit_code jit;
	struct arena text; /* of the current image's strings */
};

static struct naming *naming(struct store *db)
{
	if (!db->naming)
		db->naming = mem_new(1, sizeof(*db->naming));
	return db->naming;
}

static void end_walk(struct naming *nm)
{
	sqlite3_finalize(nm->update);
	nm->update = NULL;
	unnamed_release(&nm->todo);
	nm->next = 0;
	nm->walking = false;
}

void naming_free(struct naming *nm)
{
	if (!nm)
		return;
	end_walk(nm);
	table_release(&nm->by_name);
	table_release(&nm->said);
	arena_release(&nm->text);
	free(nm->answer);
	free(nm->known);
	free(nm->seg);
	free(nm);
}

int naming_resume(struct store *db, struct err *err)
{
	int64_t max;

	if (store_number(db, "SELECT coalesce(max(id), 0) FROM symbol", &max,
			 err))
		return -1;
	if (max < 0 || max >= UINT32_MAX)
		return err_set(err, ERR_FORMAT,
			       "%s: symbol ids are out of "
			       "range",
			       db->path);
	naming(db)->symbols = (uint32_t)max;
	db->table[T_SYMBOL]->next_id = (uint32_t)max + 1;
	return 0;
}

/* ---- answers */

static bool same_symbol(const void *owner, uint32_t id, const void *key)
{
	const struct known *a = &((const struct naming *)owner)->known[id];
	const struct symbol *b = key;

	return a->start == b->start && !strcmp(a->name, b->name);
}

static int put_symbol(struct store *db, uint32_t image, uint32_t id,
		      const struct symbol *s, struct err *err)
{
	bool raw = s->raw_name && strcmp(s->raw_name, s->name) != 0;
	size_t len = strlen(s->name) + (raw ? strlen(s->raw_name) : 0) +
		     (s->how ? strlen(s->how) : 0);
	struct row r;

	if (store_row(db, T_SYMBOL, len, &r, err))
		return -1;
	row_key(&r, id);
	row_int(&r, 1, image);
	row_int(&r, 2, (int64_t)s->start);
	row_int(&r, 3, (int64_t)s->size);
	row_text(&r, 4, s->name);
	if (raw)
		row_text(&r, 5, s->raw_name);
	row_text(&r, 6, s->how);
	row_int(&r, 7, s->unverified);
	return 0;
}

/* Many offsets are in one symbol: one row each. */
static int symbol_id(struct store *db, struct naming *nm,
		     const struct symbol *s, uint32_t *id, struct err *err)
{
	uint64_t h = hash_bytes(s->name, strlen(s->name), s->start);
	uint32_t at = table_find(&nm->by_name, h, same_symbol, nm, s);

	if (at == TABLE_NONE) {
		at = (uint32_t)nm->n_known;
		nm->known = mem_grow(nm->known, &nm->cap_known, nm->n_known + 1,
				     sizeof(*nm->known));
		nm->known[nm->n_known++] = (struct known){
			s->start,
			arena_strdup(&nm->text, s->name),
			++nm->symbols,
		};
		table_add(&nm->by_name, h, at);
		if (put_symbol(db, nm->at.image, nm->symbols, s, err))
			return -1;
	}
	*id = nm->known[at].id;
	return 0;
}

int naming_said(struct store *db, uint32_t image, uint64_t off, uint32_t *id,
		uint64_t *symoff, struct err *err)
{
	struct naming *nm = naming(db);
	struct symbol s = { .off = off, .how = "text" };

	s.name = frames_symbol_at(db->fr, off, &s.start, &s.size);
	if (!s.name || image >> 24)
		return 0;
	/* the upper 40 bits of start say which symbol, the rest is 0 */
	uint64_t h = hash_u64(s.start ^ image);
	uint32_t known = table_find(&nm->said, h, NULL, NULL, NULL);

	*symoff = off - s.start;
	*id = known != TABLE_NONE ? known : ++nm->symbols;
	if (known != TABLE_NONE)
		return 0;
	table_add(&nm->said, h, *id);
	return put_symbol(db, image, *id, &s, err);
}

static struct answer *answer_for(struct naming *nm, uint64_t off)
{
	size_t a = 0;
	size_t b = nm->at.n_code;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (nm->at.code[mid].off < off)
			a = mid + 1;
		else
			b = mid;
	}
	return a < nm->at.n_code && nm->at.code[a].off == off ? &nm->answer[a]
							      : NULL;
}

/* When it is named again, symbols that it has are not made twice. */
static int load_known(struct store *db, struct naming *nm, struct err *err)
{
	sqlite3_stmt *st = store_prepare(db, store_sql("known_symbols"), err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, nm->at.image);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(
			st, KNOWN_SYMBOLS_NAME);
		struct known k = {
			.start = (uint64_t)sqlite3_column_int64(
				st, KNOWN_SYMBOLS_START),
			.name = arena_strdup(&nm->text, name ? name : ""),
			.id = (uint32_t)sqlite3_column_int64(st,
							     KNOWN_SYMBOLS_ID),
		};

		table_add(&nm->by_name,
			  hash_bytes(k.name, strlen(k.name), k.start),
			  (uint32_t)nm->n_known);
		nm->known = mem_grow(nm->known, &nm->cap_known, nm->n_known + 1,
				     sizeof(*nm->known));
		nm->known[nm->n_known++] = k;
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : store_error(db, rc, err);
}

/* What was told last is the function itself, not one inlined into it. */
static int end_last(struct store *db, struct naming *nm, struct err *err)
{
	struct symbol *s = &nm->last;
	struct answer *a = s->name ? answer_for(nm, s->off) : NULL;
	int rc = 0;

	if (a) {
		rc = symbol_id(db, nm, s, &a->symbol, err);
		a->symoff = s->off - s->start;
		a->file = s->file;
		a->line = s->line;
	}
	s->name = NULL;
	return rc;
}

static int put_inline(struct store *db, struct naming *nm,
		      const struct symbol *s, struct err *err)
{
	const struct answer *a = answer_for(nm, s->off);
	size_t len = strlen(s->name) + (s->file ? strlen(s->file) : 0);

	if (!a)
		return 0;
	for (size_t i = a->todo; i < nm->at.n_todo; i++) {
		struct row r;

		if (nm->at.todo[i].at != (uint32_t)(a - nm->answer))
			break;
		if (store_row(db, T_INLINE, len, &r, err))
			return -1;
		row_int(&r, 0, nm->at.todo[i].frame);
		row_int(&r, 1, s->depth);
		row_text(&r, 2, s->name);
		row_text(&r, 3, s->file);
		row_id(&r, 4, s->line);
	}
	return 0;
}

static void keep(struct naming *nm, const struct symbol *s)
{
	const char *how = nm->last.how;

	/* mostly the one before's */
	if (!how || strcmp(how, s->how) != 0)
		how = arena_strdup(&nm->text, s->how);
	nm->last = *s;
	nm->last.how = how;
	nm->last.name = arena_strdup(&nm->text, s->name);
	nm->last.raw_name = NULL;
	nm->last.file = NULL;
	if (s->raw_name && strcmp(s->raw_name, s->name) != 0)
		nm->last.raw_name = arena_strdup(&nm->text, s->raw_name);
	if (s->file)
		nm->last.file = arena_strdup(&nm->text, s->file);
}

int store_symbol(struct store *db, uint32_t image, const struct symbol *sym,
		 struct err *err)
{
	struct naming *nm = naming(db);

	if (!db->writable || image != nm->at.image)
		return err_set(err, ERR_DB,
			       "%s: names for image %u, which "
			       "did not ask",
			       db->path, image);
	if (!sym->name)
		return 0;
	struct answer *a = answer_for(nm, sym->off);

	if (!a)
		return 0;
	if (nm->last.name && nm->last.off == sym->off &&
	    sym->depth == nm->last.depth + 1) {
		/* the one before was inlined into this one */
		if (put_inline(db, nm, &nm->last, err))
			return -1;
	} else if (end_last(db, nm, err)) {
		return -1;
	} else if (a->told) {
		return 0;
	}
	a->told = true;
	keep(nm, sym);
	return 0;
}

/* ---- writing an image */

static void bind_vaddr(struct naming *nm, uint64_t off)
{
	sqlite3_bind_null(nm->update, 4);
	for (size_t i = 0; i < nm->n_seg; i++) {
		const struct segment *s = &nm->seg[i];

		if (off < s->off || off - s->off >= s->filesz)
			continue;
		sqlite3_bind_int64(nm->update, 4,
				   (int64_t)(off - s->off + s->vaddr));
		return;
	}
}

static void bind_line(struct naming *nm, const struct answer *a)
{
	sqlite3_bind_text(nm->update, 5, a->file, -1, SQLITE_STATIC);
	if (a->line)
		sqlite3_bind_int64(nm->update, 6, a->line);
	else
		sqlite3_bind_null(nm->update, 6);
}

/* Writes what was told about the current image, and forgets it. */
static int end_image(struct store *db, struct naming *nm, struct err *err)
{
	if (!nm->at.image)
		return 0;
	if (end_last(db, nm, err) || store_drain(db, err))
		return -1;
	for (size_t i = 0; i < nm->at.n_todo; i++) {
		const struct todo *t = &nm->at.todo[i];
		const struct answer *a = &nm->answer[t->at];

		if (!a->symbol && !nm->n_seg)
			continue;
		sqlite3_bind_int64(nm->update, 1, t->frame);
		if (a->symbol) {
			sqlite3_bind_int64(nm->update, 2, a->symbol);
			sqlite3_bind_int64(nm->update, 3, (int64_t)a->symoff);
		} else {
			sqlite3_bind_null(nm->update, 2);
			sqlite3_bind_null(nm->update, 3);
		}
		bind_vaddr(nm, nm->at.code[t->at].off);
		bind_line(nm, a);
		if (store_step(db, nm->update, err))
			return -1;
	}
	nm->at.image = 0;
	nm->n_seg = 0;
	nm->n_known = 0;
	table_release(&nm->by_name);
	memset(&nm->by_name, 0, sizeof(nm->by_name));
	return 0;
}

static int start(struct store *db, struct naming *nm, unsigned int how,
		 struct err *err)
{
	if (unnamed_load(db, how, &nm->todo, err))
		return -1;
	nm->update = store_prepare(db, store_sql("name_frame"), err);
	nm->walking = nm->update != NULL;
	return nm->update ? 0 : -1;
}

static void make_answers(struct naming *nm)
{
	const struct unnamed_image *at = &nm->at;

	nm->answer = mem_grow(nm->answer, &nm->cap_answer, at->n_code,
			      sizeof(*nm->answer));
	memset(nm->answer, 0, at->n_code * sizeof(*nm->answer));
	for (size_t i = at->n_todo; i-- > 0;)
		nm->answer[at->todo[i].at].todo = (uint32_t)i;
}

int store_unnamed(struct store *db, unsigned int how, uint32_t *id,
		  struct image *img, const struct code_place **code, size_t *n,
		  struct err *err)
{
	struct naming *nm = naming(db);

	if (!db->writable)
		return err_set(err, ERR_DB, "%s: opened for reading only",
			       db->path);
	if (end_image(db, nm, err))
		return -1;
	arena_release(&nm->text);
	nm->last = (struct symbol){ .name = NULL };
	if (!nm->walking && start(db, nm, how, err))
		return -1;
	if (nm->next == nm->todo.n_image) {
		end_walk(nm);
		return 0;
	}
	nm->at = nm->todo.image[nm->next++];
	if (unnamed_describe(db, nm->at.image, &nm->text, img, err))
		return -1;
	if (img->kind == IMAGE_JIT) {
		if (jitted_lines(db, nm->at.image, &nm->text, &nm->jit, err))
			return -1;
		img->code = &nm->jit;
	}
	make_answers(nm);
	if (how & NAME_LINES && !db->making && load_known(db, nm, err))
		return -1;
	*id = nm->at.image;
	*code = nm->at.code;
	*n = nm->at.n_code;
	return 1;
}

int store_unnamed_at(struct store *db, size_t i, struct image *img,
		     const struct code_place **code, size_t *n, struct err *err)
{
	struct naming *nm = naming(db);

	if (!nm->walking || i >= nm->todo.n_image)
		return 0;

	const struct unnamed_image *u = &nm->todo.image[i];

	*code = u->code;
	*n = u->n_code;
	return unnamed_describe(db, u->image, &nm->text, img, err) ? -1 : 1;
}

static int put_segments(struct store *db, uint32_t image,
			const struct segment *seg, size_t n, struct err *err)
{
	sqlite3_stmt *st = store_prepare(
		db, "INSERT INTO segment VALUES(?1,?2,?3,?4,?5)", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		sqlite3_bind_int64(st, 1, image);
		sqlite3_bind_int64(st, 2, (int64_t)seg[i].off);
		sqlite3_bind_int64(st, 3, (int64_t)seg[i].vaddr);
		sqlite3_bind_int64(st, 4, (int64_t)seg[i].filesz);
		sqlite3_bind_int64(st, 5, seg[i].flags);
		rc = store_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int run(struct store *db, const char *name, uint32_t image,
	       const char *file, const char *status, struct err *err)
{
	sqlite3_stmt *st = store_prepare(db, store_sql(name), err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, image);
	/* a statement without ?2 and ?3 refuses them, and needs them not */
	sqlite3_bind_text(st, 2, file, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, status, -1, SQLITE_STATIC);

	int rc = store_step(db, st, err);

	sqlite3_finalize(st);
	return rc;
}

int store_image(struct store *db, uint32_t image, const char *file,
		const char *status, const struct segment *seg, size_t n,
		struct err *err)
{
	struct naming *nm = naming(db);

	if (store_drain(db, err) ||
	    (n && run(db, "drop_segments", image, file, status, err)) ||
	    run(db, "image_status", image, file && *file ? file : NULL, status,
		err) ||
	    put_segments(db, image, seg, n, err))
		return -1;
	if (image != nm->at.image)
		return 0;
	nm->seg = mem_grow(nm->seg, &nm->cap_seg, n, sizeof(*nm->seg));
	if (n)
		memcpy(nm->seg, seg, n * sizeof(*seg));
	nm->n_seg = n;
	return end_image(db, nm, err);
}

int naming_end(struct store *db, struct err *err)
{
	struct naming *nm = db->naming;

	if (!nm)
		return 0;
	int rc = end_image(db, nm, err);

	end_walk(nm);
	return rc;
}

/* ---- labels */

/* "[libc.so.6]" for a frame without a name, as stackcollapse-perf does. */
static size_t image_label(const char *path, char *out, size_t size)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *base = slash && slash[1] ? slash + 1 : path;
	size_t n;

	if (!base || !*base)
		base = "unknown";
	if (*base == '[')
		return text_label(base, out, size);
	out[0] = '[';
	n = text_label(base, out + 1, size - 2) + 1;
	out[n++] = ']';
	out[n] = '\0';
	return n;
}

static const char *mark_of(int kind)
{
	switch (kind) {
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_BPF:
	case IMAGE_OOL:
	case IMAGE_SYMBOLS:
		return "_[k]";
	case IMAGE_JIT:
		return "_[j]";
	default:
		return "";
	}
}

/* frame_label(symbol, path, kind): the text of a frame in folded stacks. */
static void frame_label(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	char out[LABEL_SIZE];
	const char *name = (const char *)sqlite3_value_text(v[0]);
	const char *path = (const char *)sqlite3_value_text(v[1]);
	size_t n;

	(void)argc;
	if (name)
		n = text_label(name, out, sizeof(out) - 8);
	else
		n = image_label(path, out, sizeof(out) - 8);
	n += (size_t)snprintf(out + n, sizeof(out) - n, "%s",
			      mark_of(sqlite3_value_int(v[2])));
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

/* inline_label(name): that of a function inlined at a frame. */
static void inline_label(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	char out[LABEL_SIZE];
	const char *name = (const char *)sqlite3_value_text(v[0]);
	size_t n = text_label(name ? name : "[unknown]", out, sizeof(out) - 8);

	(void)argc;
	n += (size_t)snprintf(out + n, sizeof(out) - n, "_[i]");
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

int naming_functions(struct store *db, struct err *err)
{
	const int flags =
		SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	int rc =
		sqlite3_create_function_v2(db->db, "frame_label", 3, flags,
					   NULL, frame_label, NULL, NULL, NULL);

	if (!rc)
		rc = sqlite3_create_function_v2(db->db, "inline_label", 1,
						flags, NULL, inline_label, NULL,
						NULL, NULL);
	return rc ? store_error(db, rc, err) : 0;
}
