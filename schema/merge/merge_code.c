/* merge_code.c - stores images, frames, stacks and symbols of merged databases,
 * each once.
 *
 * An image is identified by its kind, path and build-id; without a build-id, by
 * all its facts and by host and kernel. The name of a frame, the file of an
 * image and the check of a call are taken from the first database with the most
 * information, of which a name that the file proves is more than one that it
 * does not: those of frames are written at the end, when all have been read. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/image_status.h"

#define HASH_BYTES 16

struct code_row { /* an image or a frame: its values, in columns of the table */
	struct value *v;
	uint32_t owner; /* number of the part that has named it */
	int64_t from;	/* and its id there: of several parts, only one provides
			   the code */
	uint8_t known;	/* how much this part knew */
};

struct code_list {
	struct code_row *row; /* by id - 1 */
	size_t n, cap;
	struct table index;
};

struct code_site { /* the call before a frame */
	bool known, checked, unverified;
	bool sframe;
	uint8_t kind;
	uint8_t start;	/* enum thread_start */
	uint8_t open;	/* enum judged, as the innermost frame */
	uint32_t bytes; /* of the stack */
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
	uint32_t part; /* number of the current part */
	struct intern images, symbols, frames, raws, sections;
	struct code_list image, frame;
	struct code_node *stack;
	size_t n_stack, cap_stack;
	uint64_t paths; /* the most rows of stack_path that the part may have */
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

struct merge_code *merge_code_new(struct maker *out)
{
	struct merge_code *c = mem_new(1, sizeof(*c));

	c->image_table = maker_table_add(out, &image_shape);
	c->frame_table = maker_table_add(out, &frame_shape);
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
	free_all(c->image.row, c->frame.row, c->stack, c->site, c->link,
		 c->fresh, c);
}

#define KEY_MAX 8192

struct code_key {
	unsigned char byte[KEY_MAX];
	size_t n;
};

/* Adds a value, with its kind and length, so that keys are equal only if all
 * their values are. For a longer text, its hash replaces the rest. */
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

/* Stores the values of a row, if it is new or this part knows more. */
static void merge_code_list_take(struct merge_code *c, struct code_list *l,
				 uint32_t id, const struct value *v, size_t n,
				 uint8_t known)
{
	bool is_new = id > l->n;

	mem_reach(l->row, l->n, l->cap, id);
	struct code_row *row = &l->row[id - 1];

	if (!is_new && known <= row->known)
		return;
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
}

/* Returns how much is known of an image's file: names, names of a file that may
 * be another one, or why there are none. */
static uint8_t merge_code_image_known(const struct value *status)
{
	if (status->kind != VALUE_TEXT || !*status->text)
		return 0;
	enum image_status s = image_status_of(status->text);

	return s == IMAGE_NAMED ? 3 : s == IMAGE_UNVERIFIED ? 2 : 1;
}

static int merge_code_take_image(struct merge *m, struct merge_part *p,
				 const struct rows *r UNUSED, struct value *v,
				 struct err *err)
{
	struct merge_code *c = m->code;
	bool has_id = v[MERGE_IMAGES_BUILD_ID].len > 0;
	struct code_key key = { .n = 0 };

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
		c->fresh[id] = v[MERGE_IMAGES_ID].num;
	merge_code_list_take(c, &c->image, id, v, IMAGE_COLUMNS,
			     merge_code_image_known(&v[MERGE_IMAGES_STATUS]));
	return merge_part_map(p, MERGE_IMAGE, v[MERGE_IMAGES_ID].num, id, err);
}

static int merge_code_take_symbol(struct merge *m, struct merge_part *p,
				  const struct rows *r UNUSED, struct value *v,
				  struct err *err)
{
	struct merge_code *c = m->code;
	struct code_key key = { .n = 0 };
	size_t before = c->symbols.n;

	for (unsigned int i = MERGE_SYMBOLS_IMAGE;
	     i <= MERGE_SYMBOLS_UNVERIFIED; i++)
		merge_code_key_add(&key, &v[i]);
	uint32_t id = intern_add_bytes(&c->symbols, key.byte, key.n) + 1;

	if (merge_part_map(p, MERGE_SYMBOL, v[MERGE_SYMBOLS_ID].num, id, err))
		return -1;
	v[MERGE_SYMBOLS_ID].num = id;
	return c->symbols.n > before;
}

#define FRAME_COLUMNS 9

static int merge_code_take_frame(struct merge *m, struct merge_part *p,
				 const struct rows *r, struct value *v,
				 struct err *err)
{
	struct merge_code *c = m->code;
	struct {
		int64_t off;
		uint32_t image, flags;
	} key = { rows_int(r, MERGE_FRAMES_OFF),
		  (uint32_t)v[MERGE_FRAMES_IMAGE].num,
		  (uint32_t)rows_int(r, MERGE_FRAMES_FLAGS) };

	if (!key.image)
		return err_set(err, ERR_DB,
			       "%s: the database is damaged: a frame is in no "
			       "image",
			       p->in->path);
	uint32_t id = intern_add_bytes(&c->frames, &key, sizeof(key)) + 1;

	merge_code_list_take(
		c, &c->frame, id, v, FRAME_COLUMNS,
		(uint8_t)((!v[MERGE_FRAMES_SYMBOL].num	      ? 0
			   : rows_int(r, MERGE_FRAMES_PROVED) ? 8
							      : 4) +
			  (v[MERGE_FRAMES_LINE].kind ? 2 : 0) +
			  (v[MERGE_FRAMES_VADDR].kind ? 1 : 0)));
	return merge_part_map(p, MERGE_FRAME, v[MERGE_FRAMES_ID].num, id, err);
}

/* The fewest bytes of a row of stack_path in a database: a pointer to its cell,
 * a length, and the record's header. */
#define PATH_BYTES 7

static int merge_code_take_stack(struct merge *m, struct merge_part *p,
				 const struct rows *r, struct value *v,
				 struct err *err)
{
	struct merge_code *c = m->code;
	int64_t old = v[MERGE_STACKS_ID].num;
	int64_t above = rows_int(r, MERGE_STACKS_ABOVE);
	uint32_t parent = (uint32_t)v[MERGE_STACKS_ABOVE].num;
	uint32_t frame = (uint32_t)v[MERGE_STACKS_FRAME].num;
	const struct value *hash = &v[MERGE_STACKS_HASH];

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
	if (hash->len == HASH_BYTES) {
		struct code_node *s = &c->stack[at];

		if (!s->used && s->depth > c->paths)
			return err_set(err, ERR_DB,
				       "%s: the database is damaged: its "
				       "stacks are deeper than their frames "
				       "have room for",
				       p->in->path);
		c->paths -= s->used ? 0 : s->depth;
		s->used = true;
		memcpy(s->hash, hash->text, HASH_BYTES);
	}
	return merge_part_map(p, MERGE_STACK, old, at + 1, err);
}

static int merge_code_take_raw(struct merge *m, struct merge_part *p,
			       const struct rows *r, struct value *v,
			       struct err *err)
{
	struct merge_code *c = m->code;
	const struct value *addrs = &v[MERGE_RAWS_ADDRS];
	/* no two lists are ever expected to have the same 128 bits */
	const struct {
		uint64_t hash[2];
		uint32_t stack, note;
	} key = { { hash_content(addrs->text, addrs->len, 1),
		    hash_content(addrs->text, addrs->len, 2) },
		  (uint32_t)v[MERGE_RAWS_STACK].num,
		  (uint32_t)((uint64_t)rows_int(r, MERGE_RAWS_ENDED) << 8 |
			     (uint64_t)rows_int(r, MERGE_RAWS_CALLER)) };
	size_t before = c->raws.n;
	uint32_t id = intern_add_bytes(&c->raws, &key, sizeof(key)) + 1;

	if (merge_part_map(p, MERGE_RAW, v[MERGE_RAWS_ID].num, id, err))
		return -1;
	v[MERGE_RAWS_ID].num = id;
	return c->raws.n > before;
}

/* Returns whether a row of this part, whose id there is `from`, is the one that
 * the image or frame with the new id was taken from. */
static bool merge_code_owns(const struct merge_code *c,
			    const struct code_list *l, int64_t id, int64_t from)
{
	return id && l->row[id - 1].owner == c->part &&
	       l->row[id - 1].from == from;
}

/* Takes inlined functions of frames that this part has named. */
static int merge_code_take_inlined(struct merge *m, struct merge_part *p UNUSED,
				   const struct rows *r, struct value *v,
				   struct err *err UNUSED)
{
	return merge_code_owns(m->code, &m->code->frame, v[MERGE_ID].num,
			       rows_int(r, MERGE_ID));
}

/* Takes segments and sections of images whose file this part has named. */
static int merge_code_take_file(struct merge *m, struct merge_part *p UNUSED,
				const struct rows *r, struct value *v,
				struct err *err UNUSED)
{
	return merge_code_owns(m->code, &m->code->image, v[MERGE_ID].num,
			       rows_int(r, MERGE_ID));
}

/* Takes jitted code, which needs no name, of images that this part was the
 * first to have. */
static int merge_code_take_jit(struct merge *m, struct merge_part *p UNUSED,
			       const struct rows *r, struct value *v,
			       struct err *err UNUSED)
{
	return v[MERGE_ID].num &&
	       m->code->fresh[v[MERGE_ID].num] == rows_int(r, MERGE_ID);
}

static int merge_code_take_site(struct merge *m, struct merge_part *p UNUSED,
				const struct rows *r, struct value *v,
				struct err *err UNUSED)
{
	struct merge_code *c = m->code;
	uint8_t kind = (uint8_t)rows_int(r, MERGE_SITES_KIND);
	bool checked = kind != CALLSITE_UNCHECKED;
	struct code_site *s = mem_at(c->site, c->n_site, c->cap_site,
				     v[MERGE_SITES_FRAME].num);

	if (s->known && (s->checked || !checked))
		return 0;
	*s = (struct code_site){
		.known = true,
		.start = s->start,
		.open = s->open,
		.bytes = s->bytes,
		.sframe = s->sframe,
		.checked = checked,
		.unverified = rows_int(r, MERGE_SITES_UNVERIFIED) != 0,
		.kind = kind,
		.target = rows_int(r, MERGE_SITES_TARGET),
	};
	return 0;
}

/* Takes why stacks end in a frame. A part in which a stack ends there knows
 * more than one in which none does: a thread's begin has the smallest numbers,
 * and "no frame pointer", which is checked in both, the largest but one. */
static int merge_code_take_end(struct merge *m, struct merge_part *p UNUSED,
			       const struct rows *r, struct value *v,
			       struct err *err UNUSED)
{
	struct merge_code *c = m->code;
	uint8_t start = (uint8_t)rows_int(r, MERGE_ENDS_START);
	struct code_site *s = mem_at(c->site, c->n_site, c->cap_site,
				     v[MERGE_ENDS_FRAME].num);

	if (start && (!s->start || start < s->start))
		s->start = start;
	if (!s->open)
		s->open = (uint8_t)rows_int(r, MERGE_ENDS_OPEN);
	raise_to(s->bytes, (uint32_t)rows_int(r, MERGE_ENDS_BYTES));
	s->sframe |= rows_int(r, MERGE_ENDS_SFRAME) != 0;
	return 0;
}

static int merge_code_take_link(struct merge *m, struct merge_part *p UNUSED,
				const struct rows *r, struct value *v,
				struct err *err UNUSED)
{
	struct merge_code *c = m->code;
	struct store_link l = {
		.inner = (uint32_t)v[MERGE_LINKS_INNER].num,
		.frame = (uint32_t)v[MERGE_LINKS_FRAME].num,
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

/* Images come before their symbols and frames, frames before stacks, and these
 * before lists of addresses. The counts of a file's functions are taken from
 * the first part that has them. */
static const struct merge_copy code_tables[] = {
	{ "merge_images", .take = merge_code_take_image },
	{ "merge_symbols", .table = T_SYMBOL, .take = merge_code_take_symbol,
	  .many = true },
	{ "merge_frames", .take = merge_code_take_frame },
	{ "merge_stacks", .take = merge_code_take_stack },
	{ "merge_raws", .table = T_RAW, .take = merge_code_take_raw,
	  .many = true },
	{ "merge_sites", .take = merge_code_take_site },
	{ "merge_ends", .take = merge_code_take_end },
	{ "merge_shares", .put = "put_frame_share" },
	{ "merge_links", .take = merge_code_take_link },
	{ "merge_inlined", .table = T_INLINE, .take = merge_code_take_inlined },
	{ "merge_jit_code", .table = T_JIT_CODE, .take = merge_code_take_jit },
	{ "merge_jit_lines", .table = T_JIT_LINE, .take = merge_code_take_jit },
	{ "merge_segments", .table = T_SEGMENT, .take = merge_code_take_file },
	{ "merge_sections", .take = merge_code_take_file,
	  .put = "put_section" },
};

int merge_code_take(struct merge *m, struct merge_part *p, struct err *err)
{
	struct merge_code *c = m->code;

	c->part++;
	c->paths = p->in->bytes / PATH_BYTES;
	if (c->n_fresh)
		memset(c->fresh, 0, c->n_fresh * sizeof(*c->fresh));
	return merge_copy_rows(m, p, code_tables, ARRAY_SIZE(code_tables), err);
}

static int merge_code_write_list(struct merge *m, const struct code_list *l,
				 unsigned int table, unsigned int n,
				 struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		l->row[i].v[MERGE_ID].num = (int64_t)i + 1;
		if (tables_put(m->out, table, l->row[i].v, n, err))
			return -1;
	}
	return 0;
}

static int merge_code_write_sites(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;
	struct store_callsite *s = mem_new(c->n_site + 1, sizeof(*s));
	struct store_end *at = mem_new(c->n_site + 1, sizeof(*at));
	size_t n = 0;
	size_t ends = 0;

	for (size_t i = 1; i < c->n_site; i++) {
		if (c->site[i].start || c->site[i].open || c->site[i].bytes ||
		    c->site[i].sframe)
			at[ends++] = (struct store_end){
				(uint32_t)i,
				(enum thread_start)c->site[i].start,
				(enum judged)c->site[i].open, c->site[i].bytes,
				c->site[i].sframe
			};
		if (c->site[i].known)
			s[n++] = (struct store_callsite){
				.frame = (uint32_t)i,
				.kind = (enum callsite_kind)c->site[i].kind,
				.target = (uint64_t)c->site[i].target,
				.unverified = c->site[i].unverified,
			};
	}
	int rc = store_callsites(m->out, s, n, err) ||
				 store_ends(m->out, at, ends, err)
			 ? -1
			 : 0;
	free_all(s, at);
	return rc;
}

int merge_code_write(struct merge *m, struct err *err)
{
	const struct merge_code *c = m->code;

	if (merge_code_write_list(m, &c->image, c->image_table, IMAGE_COLUMNS,
				  err) ||
	    merge_code_write_list(m, &c->frame, c->frame_table, FRAME_COLUMNS,
				  err))
		return -1;

	for (size_t i = 0; i < c->n_stack; i++) {
		const struct code_node *s = &c->stack[i];

		if (PUT_ROW(m->out, T_STACK, err, VALUE_OF(i + 1),
			    VALUE_ID(s->parent), VALUE_OF(s->frame),
			    VALUE_OF(s->depth),
			    value_blob(s->used ? s->hash : NULL, HASH_BYTES)))
			return -1;
	}
	/* Write the frames of each stack that is used. */

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
			rc = flush_path_row(m->out, id, n, frame[n], err);
	}
	free(frame);
	if (rc)
		return -1;
	if (merge_code_write_sites(m, err))
		return -1;
	return store_links(m->out, c->link, c->n_link, err);
}
