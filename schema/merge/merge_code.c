/* merge_code.c - images, frames, stacks and symbols of databases that are
 * merged, each stored once.
 *
 * An image is known by its kind, path and build-id; without a build-id, by all
 * that is known of it and by host and kernel. The name of a frame, the file of
 * an image and the check of a call are taken from the first database that
 * knows most: those of frames are written in the end, when all have been
 * read. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"

#define HASH_BYTES 16

struct code_row { /* an image or a frame: its values, in columns of the table */
	struct value *v;
	uint32_t owner; /* number of the part that has named it */
	int64_t from;	/* and its id there: of several, only one gives code */
	uint8_t known;	/* how much was known */
};

struct code_list {
	struct code_row *row; /* by id - 1 */
	size_t n, cap;
	struct table index;
};

struct code_site { /* the call before a frame */
	bool known, checked, unverified;
	uint8_t kind;
	uint8_t start;	/* enum thread_start */
	uint8_t open;	/* enum judged, as the innermost frame */
	int64_t target; /* 0: NULL */
};

struct code_node {
	uint32_t parent, frame, depth;
	bool used;
	uint8_t hash[HASH_BYTES];
};

struct merge_code {
	struct arena text;
	unsigned int image_table, frame_table;
	uint32_t part; /* number of the part that is read */
	struct intern images, symbols, frames, raws, sections;
	struct code_list image, frame;
	struct code_node *stack;
	size_t n_stack, cap_stack;
	uint64_t paths;		/* rows of stack_path that the part may have */
	struct table stacks;	/* by parent and frame */
	struct code_site *site; /* by frame id */
	size_t n_site, cap_site;
	struct store_link *link;
	size_t n_link, cap_link;
	struct table links;
	int64_t *fresh; /* by image id: its row in this part, if this part was
			 * the first to have the image; else 0 */
	size_t n_fresh, cap_fresh;
};

#define IMAGE_COLUMNS 15

/* All columns, which naming fills later in a database that is ingested. */
static const struct bulk_shape image_shape = { "image", NULL, IMAGE_COLUMNS,
					       true, PAGES_NONE };
static const struct bulk_shape frame_shape = { "frame", NULL, 9, true,
					       PAGES_NONE };

struct merge_code *merge_code_new(struct store *db)
{
	struct merge_code *c = mem_new(1, sizeof(*c));

	c->image_table = db_table_add(db, &image_shape);
	c->frame_table = db_table_add(db, &frame_shape);
	return c;
}

void merge_code_free(struct merge_code *c)
{
	if (!c)
		return;
	arena_release(&c->text);
	intern_release(&c->images);
	intern_release(&c->symbols);
	intern_release(&c->frames);
	intern_release(&c->raws);
	intern_release(&c->sections);
	table_release(&c->stacks);
	table_release(&c->links);
	free(c->image.row);
	free(c->frame.row);
	free(c->stack);
	free(c->site);
	free(c->link);
	free(c->fresh);
	free(c);
}

/* ---- keys of several values */

#define KEY_MAX 8192

struct code_key {
	unsigned char byte[KEY_MAX];
	size_t n;
};

/* Adds a value, with its kind and length, so that keys are equal only if all
 * their values are. Of longer texts the hash stands for the rest. */
static void merge_code_key_add(struct code_key *k, const struct value *v)
{
	size_t len = v->kind == VALUE_INT ? sizeof(v->num) : v->len;
	const void *p = v->kind == VALUE_INT ? (const void *)&v->num
					     : (const void *)v->text;
	uint64_t hash[2];

	if (len > 1024) {
		hash[0] = hash_content(p, len, 1);
		hash[1] = hash_content(p, len, 2);
		p = hash;
		len = sizeof(hash);
	}
	if (k->n + len + 3 > KEY_MAX)
		return;
	k->byte[k->n++] = (unsigned char)v->kind;
	k->byte[k->n++] = (unsigned char)(len & 0xff);
	k->byte[k->n++] = (unsigned char)(len >> 8);
	if (len)
		memcpy(k->byte + k->n, p, len);
	k->n += len;
}

/* ---- images and frames */

/* Stores the values of a row, if it is new or more is known of it than before.
 * Returns whether they were taken. */
static bool merge_code_list_take(struct merge_code *c, struct code_list *l,
				 uint32_t id, const struct value *v, size_t n,
				 uint8_t known)
{
	bool is_new = id > l->n;

	mem_reach(l->row, l->n, l->cap, id);
	struct code_row *row = &l->row[id - 1];

	if (!is_new && known <= row->known)
		return false;
	if (!row->v)
		row->v = arena_take(&c->text, n * sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		row->v[i] = v[i];
		if (v[i].kind != VALUE_TEXT && v[i].kind != VALUE_BLOB)
			continue;
		char *copy = arena_take(&c->text, v[i].len + 1);

		if (v[i].len)
			memcpy(copy, v[i].text, v[i].len);
		copy[v[i].len] = 0;
		row->v[i].text = copy;
	}
	row->owner = c->part;
	row->from = v[MERGE_ID].num;
	row->known = known;
	return true;
}

/* What is known of an image's file: names, names of a file that may be another
 * one, or why there are none. */
static uint8_t merge_code_image_known(const struct value *status)
{
	if (status->kind != VALUE_TEXT)
		return 0;
	if (!strcmp(status->text, "named"))
		return 3;
	if (!strcmp(status->text, "unverified"))
		return 2;
	return *status->text != 0;
}

static int merge_code_take_image(struct merge *m, struct merge_part *p,
				 const struct rows *r, struct err *err)
{
	struct merge_code *c = m->code;
	bool has_id = rows_value(r, MERGE_IMAGES_BUILD_ID).len > 0;
	uint32_t process = merge_map_get(&p->map[MERGE_PROCESS],
					 rows_int(r, MERGE_IMAGES_PROCESS));
	struct value v[IMAGE_COLUMNS];
	struct code_key key = { .n = 0 };

	for (unsigned int i = 0; i < IMAGE_COLUMNS; i++)
		v[i] = rows_value(r, i);
	v[MERGE_IMAGES_PROCESS] =
		(struct value){ .kind = process ? VALUE_INT : VALUE_NULL,
				.num = process };
	for (unsigned int i = MERGE_IMAGES_KIND;
	     i <= (has_id ? MERGE_IMAGES_BUILD_ID : MERGE_IMAGES_PROCESS); i++)
		merge_code_key_add(&key, &v[i]);
	if (!has_id)
		merge_code_key_add(
			&key, &(struct value){ .kind = VALUE_TEXT,
					       .text = p->in->place,
					       .len = strlen(p->in->place) });

	size_t before = c->images.n;
	uint32_t id = intern_add_bytes(&c->images, key.byte, key.n) + 1;

	mem_reach(c->fresh, c->n_fresh, c->cap_fresh, (size_t)id + 1);
	if (c->images.n > before)
		c->fresh[id] = rows_int(r, MERGE_IMAGES_ID);
	merge_code_list_take(c, &c->image, id, v, IMAGE_COLUMNS,
			     merge_code_image_known(&v[MERGE_IMAGES_STATUS]));
	return merge_part_map(p, MERGE_IMAGE, rows_int(r, MERGE_IMAGES_ID), id,
			      err);
}

static int merge_code_take_symbol(struct merge *m, struct merge_part *p,
				  const struct rows *r, struct err *err)
{
	struct merge_code *c = m->code;
	uint32_t image = merge_map_get(&p->map[MERGE_IMAGE],
				       rows_int(r, MERGE_SYMBOLS_IMAGE));
	struct code_key key = { .n = 0 };
	size_t before = c->symbols.n;
	struct row row;

	merge_code_key_add(&key,
			   &(struct value){ .kind = VALUE_INT, .num = image });
	for (unsigned int i = MERGE_SYMBOLS_START;
	     i <= MERGE_SYMBOLS_UNVERIFIED; i++) {
		struct value v = rows_value(r, i);

		merge_code_key_add(&key, &v);
	}
	uint32_t id = intern_add_bytes(&c->symbols, key.byte, key.n) + 1;

	if (merge_part_map(p, MERGE_SYMBOL, rows_int(r, MERGE_SYMBOLS_ID), id,
			   err))
		return -1;
	if (c->symbols.n == before)
		return 0;
	if (db_row(m->db, T_SYMBOL, merge_row_bytes(r), &row, err))
		return -1;
	row_key(&row, id);
	row_id(&row, MERGE_SYMBOLS_IMAGE, image);
	merge_put_values(&row, r, MERGE_SYMBOLS_START);
	return 0;
}

#define FRAME_COLUMNS 9

static int merge_code_take_frame(struct merge *m, struct merge_part *p,
				 const struct rows *r, struct err *err)
{
	struct merge_code *c = m->code;
	uint32_t image = merge_map_get(&p->map[MERGE_IMAGE],
				       rows_int(r, MERGE_FRAMES_IMAGE));
	uint32_t symbol = merge_map_get(&p->map[MERGE_SYMBOL],
					rows_int(r, MERGE_FRAMES_SYMBOL));
	struct value v[FRAME_COLUMNS];
	struct {
		int64_t off;
		uint32_t image, flags;
	} key = { rows_int(r, MERGE_FRAMES_OFF), image,
		  (uint32_t)rows_int(r, MERGE_FRAMES_FLAGS) };

	if (!image)
		return err_set(err, ERR_DB,
			       "%s: the database is damaged: a frame is in no "
			       "image",
			       p->in->path);
	for (unsigned int i = 0; i < FRAME_COLUMNS; i++)
		v[i] = rows_value(r, i);
	v[MERGE_FRAMES_IMAGE].num = image;
	v[MERGE_FRAMES_SYMBOL] =
		(struct value){ .kind = symbol ? VALUE_INT : VALUE_NULL,
				.num = symbol };

	uint32_t id = intern_add_bytes(&c->frames, &key, sizeof(key)) + 1;

	merge_code_list_take(c, &c->frame, id, v, FRAME_COLUMNS,
			     (uint8_t)((symbol ? 4 : 0) +
				       (v[MERGE_FRAMES_LINE].kind ? 2 : 0) +
				       (v[MERGE_FRAMES_VADDR].kind ? 1 : 0)));
	return merge_part_map(p, MERGE_FRAME, rows_int(r, MERGE_FRAMES_ID), id,
			      err);
}

/* ---- stacks and lists of addresses */

/* Bytes that a row of stack_path has in a database at least: a pointer to its
 * cell, a length, and the record's header. */
#define PATH_BYTES 7

static int merge_code_take_stack(struct merge *m, struct merge_part *p,
				 const struct rows *r, struct err *err)
{
	struct merge_code *c = m->code;
	int64_t old = rows_int(r, MERGE_STACKS_ID);
	int64_t above = rows_int(r, MERGE_STACKS_PARENT);
	uint32_t parent = merge_map_get(&p->map[MERGE_STACK], above);
	uint32_t frame = merge_map_get(&p->map[MERGE_FRAME],
				       rows_int(r, MERGE_STACKS_FRAME));
	struct value hash = rows_value(r, MERGE_STACKS_HASH);

	if (!frame || above >= old || (above && !parent))
		return err_set(err, ERR_DB,
			       "%s: the database is damaged: a stack has no "
			       "frame",
			       p->in->path);
	uint64_t h = hash_u32s(parent, frame);
	uint32_t at = table_find_hash(&c->stacks, h);

	if (at == TABLE_NONE) {
		at = (uint32_t)c->n_stack;
		table_add(&c->stacks, h, at);
		*mem_add(c->stack, c->n_stack,
			 c->cap_stack) = (struct code_node){
			.parent = parent,
			.frame = frame,
			.depth = parent ? c->stack[parent - 1].depth + 1 : 1,
		};
	}
	/* The frames of a stack with a hash are in stack_path. Without the
	 * limit, a small hostile database of deep stacks, with few rows of
	 * stack_path, could grow to any size. */
	if (hash.len == HASH_BYTES) {
		struct code_node *s = &c->stack[at];

		if (!s->used && s->depth > c->paths)
			return err_set(err, ERR_DB,
				       "%s: the database is damaged: its "
				       "stacks are deeper than their frames "
				       "have room for",
				       p->in->path);
		c->paths -= s->used ? 0 : s->depth;
		s->used = true;
		memcpy(s->hash, hash.text, HASH_BYTES);
	}
	return merge_part_map(p, MERGE_STACK, old, at + 1, err);
}

static int merge_code_take_raw(struct merge *m, struct merge_part *p,
			       const struct rows *r, struct err *err)
{
	struct merge_code *c = m->code;
	uint32_t stack = merge_map_get(&p->map[MERGE_STACK],
				       rows_int(r, MERGE_RAWS_STACK));
	struct value addrs = rows_value(r, MERGE_RAWS_ADDRS);
	int64_t ended = rows_int(r, MERGE_RAWS_ENDED);
	int64_t caller = rows_int(r, MERGE_RAWS_CALLER);
	/* no two lists were ever seen with the same 128 bits */
	const struct {
		uint64_t hash[2];
		uint32_t stack, note;
	} key = { { hash_content(addrs.text, addrs.len, 1),
		    hash_content(addrs.text, addrs.len, 2) },
		  stack,
		  (uint32_t)((uint64_t)ended << 8 | (uint64_t)caller) };
	size_t before = c->raws.n;
	uint32_t id = intern_add_bytes(&c->raws, &key, sizeof(key)) + 1;
	struct row row;

	if (merge_part_map(p, MERGE_RAW, rows_int(r, MERGE_RAWS_ID), id, err))
		return -1;
	if (c->raws.n == before)
		return 0;
	if (db_row(m->db, T_RAW, addrs.len, &row, err))
		return -1;
	row_key(&row, id);
	row_id(&row, 1, stack);
	merge_put_value(&row, 2, &addrs);
	row_id(&row, 3, (uint64_t)ended);
	row_id(&row, 4, (uint64_t)caller);
	return 0;
}

/* ---- what is known of an image's code */

/* Returns whether a row of this part, whose id there is `from`, is the one that
 * the image or frame with the new id was taken from. */
static bool merge_code_owns(const struct merge_code *c, enum merge_kind kind,
			    uint32_t id, int64_t from)
{
	const struct code_list *l = kind == MERGE_IMAGE ? &c->image : &c->frame;

	return id && l->row[id - 1].owner == c->part &&
	       l->row[id - 1].from == from;
}

/* Copies the rows of a table that begin with the id of an image or a frame:
 * inlined functions of frames that this part has named; jitted code, which does
 * not need a name, of images that this part was the first to have. */
static int merge_code_take_owned(struct merge *m, struct merge_part *p,
				 const char *query, unsigned int table,
				 enum merge_kind kind, struct err *err)
{
	struct rows *r = rows_of(p->db, query, err);
	const struct merge_code *c = m->code;

	while (rows_step(r)) {
		int64_t from = rows_int(r, MERGE_ID);
		uint32_t id = merge_map_get(&p->map[kind], from);
		struct row row;

		if (kind == MERGE_IMAGE ? !id || c->fresh[id] != from
					: !merge_code_owns(c, kind, id, from))
			continue;
		if (db_row(m->db, table, merge_row_bytes(r), &row, err))
			return rows_stop(r);
		if (m->db->table[table]->shape.has_id)
			row_key(&row, id);
		else
			row_int(&row, 0, id);
		merge_put_values(&row, r, 1);
	}
	return rows_end(r, err);
}

/* Copies segments and sections of images whose file this part has named. */
static int merge_code_take_files(struct merge *m, struct merge_part *p,
				 const char *query, const char *put,
				 struct err *err)
{
	struct rows *r = rows_of(p->db, query, err);
	sqlite3_stmt *st = r ? db_prepare(m->db, store_sql(put), err) : NULL;
	int rc = st ? 0 : -1;

	while (!rc && rows_step(r)) {
		uint32_t image = merge_map_get(&p->map[MERGE_IMAGE],
					       rows_int(r, MERGE_ID));

		if (!merge_code_owns(m->code, MERGE_IMAGE, image,
				     rows_int(r, MERGE_ID)))
			continue;
		sqlite3_bind_int64(st, 1, image);
		for (unsigned int i = 1; i < rows_columns(r); i++) {
			struct value v = rows_value(r, i);

			if (v.kind == VALUE_TEXT)
				db_bind_text(st, (int)i + 1, v.text);
			else
				db_bind_known(st, (int)i + 1,
					      v.kind == VALUE_INT, v.num);
		}
		rc = db_step(m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc ? rows_stop(r) : rows_end(r, err);
}

/* ---- the check of calls */

static int merge_code_take_site(struct merge *m, struct merge_part *p,
				const struct rows *r)
{
	struct merge_code *c = m->code;
	uint32_t frame = merge_map_get(&p->map[MERGE_FRAME],
				       rows_int(r, MERGE_SITES_FRAME));
	uint8_t kind = (uint8_t)rows_int(r, MERGE_SITES_KIND);
	bool checked = kind != CALLSITE_UNCHECKED;

	if (!frame)
		return 0;
	struct code_site *s = mem_at(c->site, c->n_site, c->cap_site, frame);

	if (s->known && (s->checked || !checked))
		return 0;
	*s = (struct code_site){
		.known = true,
		.start = s->start,
		.open = s->open,
		.checked = checked,
		.unverified = rows_int(r, MERGE_SITES_UNVERIFIED) != 0,
		.kind = kind,
		.target = rows_int(r, MERGE_SITES_TARGET),
	};
	return 0;
}

/* A part in which a stack ends in the frame knows more of it than one in which
 * none does: where a thread begins has the smallest numbers, that the function
 * has no frame pointer, which is asked in both, the largest but one. */
static int merge_code_take_end(struct merge *m, struct merge_part *p,
			       const struct rows *r)
{
	struct merge_code *c = m->code;
	uint32_t frame = merge_map_get(&p->map[MERGE_FRAME],
				       rows_int(r, MERGE_ENDS_FRAME));

	if (!frame)
		return 0;
	mem_reach(c->site, c->n_site, c->cap_site, (size_t)frame + 1);
	uint8_t start = (uint8_t)rows_int(r, MERGE_ENDS_START);

	if (start && (!c->site[frame].start || start < c->site[frame].start))
		c->site[frame].start = start;
	if (!c->site[frame].open)
		c->site[frame].open = (uint8_t)rows_int(r, MERGE_ENDS_OPEN);
	return 0;
}

/* The first part that counted the functions of a file has them. */
static int merge_code_put_share(struct merge *m, struct merge_part *p,
				const struct rows *r, struct err *err)
{
	const struct store_frame_share s = {
		.image = merge_map_get(&p->map[MERGE_IMAGE],
				       rows_int(r, MERGE_SHARES_IMAGE)),
		.functions = (uint32_t)rows_int(r, MERGE_SHARES_FUNCTIONS),
		.framed = (uint32_t)rows_int(r, MERGE_SHARES_FRAMED),
	};

	return s.image ? store_frame_share(m->db, &s, err) : 0;
}

static int merge_code_take_link(struct merge *m, struct merge_part *p,
				const struct rows *r)
{
	struct merge_code *c = m->code;
	struct store_link l = {
		.inner = merge_map_get(&p->map[MERGE_FRAME],
				       rows_int(r, MERGE_LINKS_INNER)),
		.frame = merge_map_get(&p->map[MERGE_FRAME],
				       rows_int(r, MERGE_LINKS_FRAME)),
		.link = (enum callsite_link)rows_int(r, MERGE_LINKS_LINK),
	};

	if (!l.inner || !l.frame)
		return 0;
	uint64_t h = hash_u32s(l.inner, l.frame);
	uint32_t at = table_find_hash(&c->links, h);

	if (at == TABLE_NONE) {
		table_add(&c->links, h, (uint32_t)c->n_link);
		*mem_add(c->link, c->n_link, c->cap_link) = l;
	} else if (c->link[at].link == CALLSITE_UNKNOWN) {
		c->link[at].link = l.link;
	}
	return 0;
}

/* ---- all of a part */

typedef int code_take_fn(struct merge *m, struct merge_part *p,
			 const struct rows *r);
typedef int code_write_fn(struct merge *m, struct merge_part *p,
			  const struct rows *r, struct err *err);

/* Calls one of the two functions for each row of a query. */
static int merge_code_take_rows(struct merge *m, struct merge_part *p,
				const char *query, code_take_fn *take,
				code_write_fn *put, struct err *err)
{
	struct rows *r = rows_of(p->db, query, err);
	int rc = 0;

	while (!rc && rows_step(r)) {
		int64_t id = rows_int(r, MERGE_ID);

		if (id < 0 || id >= UINT32_MAX)
			rc = err_set(err, ERR_DB,
				     "%s: the database is damaged: an id is "
				     "%lld",
				     p->in->path, (long long)id);
		else
			rc = take ? take(m, p, r) : put(m, p, r, err);
	}
	return rc ? rows_stop(r) : rows_end(r, err);
}

int merge_code_take(struct merge *m, struct merge_part *p, struct err *err)
{
	struct merge_code *c = m->code;

	c->part++;
	c->paths = p->in->bytes / PATH_BYTES;
	if (c->n_fresh)
		memset(c->fresh, 0, c->n_fresh * sizeof(*c->fresh));
	if (merge_code_take_rows(m, p, "merge_images", NULL,
				 merge_code_take_image, err) ||
	    merge_code_take_rows(m, p, "merge_symbols", NULL,
				 merge_code_take_symbol, err) ||
	    merge_code_take_rows(m, p, "merge_frames", NULL,
				 merge_code_take_frame, err) ||
	    merge_code_take_rows(m, p, "merge_stacks", NULL,
				 merge_code_take_stack, err) ||
	    merge_code_take_rows(m, p, "merge_raws", NULL, merge_code_take_raw,
				 err))
		return -1;
	if (merge_code_take_rows(m, p, "merge_sites", merge_code_take_site,
				 NULL, err) ||
	    merge_code_take_rows(m, p, "merge_ends", merge_code_take_end, NULL,
				 err) ||
	    merge_code_take_rows(m, p, "merge_shares", NULL,
				 merge_code_put_share, err) ||
	    merge_code_take_rows(m, p, "merge_links", merge_code_take_link,
				 NULL, err) ||
	    merge_code_take_owned(m, p, "merge_inlined", T_INLINE, MERGE_FRAME,
				  err) ||
	    merge_code_take_owned(m, p, "merge_jit_code", T_JIT_CODE,
				  MERGE_IMAGE, err) ||
	    merge_code_take_owned(m, p, "merge_jit_lines", T_JIT_LINE,
				  MERGE_IMAGE, err))
		return -1;
	return merge_code_take_files(m, p, "merge_segments",
				     "merge_put_segment", err) ||
			       merge_code_take_files(m, p, "merge_sections",
						     "put_section", err)
		       ? -1
		       : 0;
}

/* ---- writing */

static int merge_code_write_list(struct merge *m, const struct code_list *l,
				 unsigned int table, unsigned int n,
				 struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct value *v = l->row[i].v;
		size_t bytes = 0;
		struct row row;

		for (unsigned int k = 1; k < n; k++)
			bytes += v[k].len;
		if (db_row(m->db, table, bytes, &row, err))
			return -1;
		row_key(&row, (uint32_t)i + 1);
		for (unsigned int k = 1; k < n; k++)
			merge_put_value(&row, k, &v[k]);
	}
	return 0;
}

static int merge_code_write_stacks(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;

	for (size_t i = 0; i < c->n_stack; i++) {
		const struct code_node *s = &c->stack[i];
		struct row row;

		if (db_row(m->db, T_STACK, HASH_BYTES, &row, err))
			return -1;
		row_key(&row, (uint32_t)i + 1);
		row_id(&row, 1, s->parent);
		row_int(&row, 2, s->frame);
		row_int(&row, 3, s->depth);
		if (s->used)
			row_blob(&row, 4, s->hash, HASH_BYTES);
	}
	return 0;
}

/* Writes the frames of each stack that is used. */
static int merge_code_write_paths(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;
	uint32_t *frame = NULL; /* of a stack, the innermost first */
	size_t cap = 0;
	int rc = 0;

	for (uint32_t id = 1; !rc && id <= c->n_stack; id++) {
		size_t n = 0;

		if (!c->stack[id - 1].used)
			continue;
		for (uint32_t at = id; at; at = c->stack[at - 1].parent)
			*mem_add(frame, n, cap) = c->stack[at - 1].frame;
		while (!rc && n--)
			rc = flush_path_row(m->db, id, n, frame[n], err);
	}
	free(frame);
	return rc;
}

static int merge_code_write_sites(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;
	struct store_callsite *s = mem_new(c->n_site + 1, sizeof(*s));
	struct store_end *at = mem_new(c->n_site + 1, sizeof(*at));
	size_t n = 0;
	size_t ends = 0;
	int rc;

	for (size_t i = 0; i < c->n_site; i++) {
		if (c->site[i].start || c->site[i].open)
			at[ends++] = (struct store_end){
				(uint32_t)i,
				(enum thread_start)c->site[i].start,
				(enum judged)c->site[i].open
			};
		if (c->site[i].known)
			s[n++] = (struct store_callsite){
				.frame = (uint32_t)i,
				.kind = (enum callsite_kind)c->site[i].kind,
				.target = (uint64_t)c->site[i].target,
				.unverified = c->site[i].unverified,
			};
	}
	rc = store_callsites(m->db, s, n, err) ||
			     store_ends(m->db, at, ends, err)
		     ? -1
		     : 0;
	free(s);
	free(at);
	return rc;
}

int merge_code_write(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;

	if (merge_code_write_list(m, &c->image, c->image_table, IMAGE_COLUMNS,
				  err) ||
	    merge_code_write_list(m, &c->frame, c->frame_table, FRAME_COLUMNS,
				  err) ||
	    merge_code_write_stacks(m, err) || merge_code_write_paths(m, err) ||
	    merge_code_write_sites(m, err))
		return -1;
	return store_links(m->db, c->link, c->n_link, err);
}
