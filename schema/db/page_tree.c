/* page_tree.c - the B-tree of one table, built from rows in the order of its
 * key. */
#include "schema/db/page_tree.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schema/db/packed_row.h"
#include "schema/db/packing.h"
#include "schema/db/page_file.h"
#include "schema/db/row_runs.h"
#include "stitch/base/mem.h"

/* Types of pages. */
enum {
	PAGE_INDEX_INNER = 2,
	PAGE_TABLE_INNER = 5,
	PAGE_INDEX_LEAF = 10,
	PAGE_TABLE_LEAF = 13
};

/* Offsets in the header of a page. */
enum {
	PAGE_CELLS = 3,
	PAGE_TOP = 5,
	PAGE_RIGHT = 8, /* only of inner pages */
	PAGE_LEAF_HEAD = 8,
	PAGE_INNER_HEAD = 12
};

#define CELL_MIN 4 /* a cell must have room for a free block */
#define POINTER 4  /* bytes of a page number */
/* Bytes of rows that wait for others with lower keys: at first, more for each
 * row that came too late nevertheless, and at most. */
#define NEAR_FIRST ((size_t)1 << 20)
#define NEAR_MORE 256
#define NEAR_MAX ((size_t)12 << 20)
/* Most bytes of rows that came too late, and are put between the others at the
 * end. */
#define LATE_MAX ((size_t)8 << 20)

/* A finished page. */
struct page_child {
	uint32_t place;
	uint32_t len; /* PAGES_PAIR: bytes of the cell behind the page */
	uint64_t key; /* the page's last id; PAGES_PAIR: where that cell is */
};

struct page_tree {
	struct page_file *pf;
	enum page_key key;
	uint32_t size;	     /* bytes of a page */
	unsigned char *page; /* the leaf that is being filled; NULL: none */
	uint32_t n, top;     /* its cells, and where the last one begins */
	uint32_t *link;	     /* offsets in it that have the place of a page */
	size_t n_link, cap_link;
	bool any;	 /* there is a row */
	int64_t last[2]; /* key of the last row */
	struct page_child *child;
	size_t n_child, cap_child;
	unsigned char *cell; /* PAGES_PAIR: cells between leaves */
	size_t n_cell, cap_cell;
	uint32_t cell_max;
	unsigned char *row; /* the record that was put together last */
	size_t n_row, cap_row;
	struct row_runs near; /* PAGES_NEAR: rows that wait */
	size_t near_max;      /* bytes of them */
	struct row_runs late; /* PAGES_NEAR: rows that came too late */
	/* While these are put in: places of leaves that were taken apart. */
	uint32_t *free;
	size_t n_free, cap_free, next_free;
};

struct page_tree *page_tree_new(struct page_file *pf, enum page_key key)
{
	struct page_tree *t = mem_new(1, sizeof(*t));

	t->pf = pf;
	t->key = key;
	t->size = page_file_page_size(pf);
	t->near_max = NEAR_FIRST;
	return t;
}

void page_tree_free(struct page_tree *t)
{
	if (!t)
		return;
	free(t->row);
	row_runs_release(&t->near);
	row_runs_release(&t->late);
	free(t->free);
	free(t->page);
	free(t->link);
	free(t->child);
	free(t->cell);
	free(t);
}

static void page_tree_head(unsigned char *page, int type, uint32_t n,
			   uint32_t top)
{
	page[0] = (unsigned char)type;
	page_put16(page + PAGE_CELLS, n);
	page_put16(page + PAGE_TOP, top); /* 65536 becomes 0, as it must */
}

/* Between the offsets of the cells and the cells are bytes of an earlier leaf.
 * They are cleared at last, when they are few. */
static void page_tree_leaf_head(const struct page_tree *t)
{
	uint32_t end = PAGE_LEAF_HEAD + 2 * t->n;

	memset(t->page + end, 0, t->top - end);
	page_tree_head(t->page,
		       t->key == PAGES_PAIR ? PAGE_INDEX_LEAF : PAGE_TABLE_LEAF,
		       t->n, t->top);
}

static void page_tree_begin_leaf(struct page_tree *t)
{
	if (!t->page)
		t->page = mem_new(1, t->size);
	t->n = 0;
	t->n_link = 0;
	t->top = t->size;
}

/* In a WITHOUT ROWID table the row between two leaves is above them: takes the
 * last cell of the leaf. */
static void page_tree_take_last(struct page_tree *t, struct page_child *c)
{
	uint32_t before =
		t->n > 1 ? (uint32_t)t->page[PAGE_LEAF_HEAD + 2 * t->n - 4]
					   << 8 |
				   t->page[PAGE_LEAF_HEAD + 2 * t->n - 3]
			 : t->size;

	c->len = before - t->top;
	c->key = t->n_cell;
	t->cell = mem_grow(t->cell, &t->cap_cell, t->n_cell + c->len, 1);
	memcpy(t->cell + t->n_cell, t->page + t->top, c->len);
	t->n_cell += c->len;
	if (c->len > t->cell_max)
		t->cell_max = c->len;
	t->n--;
	t->top = before;
}

/* Writes the full leaf; its last row is above it if more rows follow. */
static int page_tree_end_leaf(struct page_tree *t, bool more)
{
	const bool again = t->next_free < t->n_free;
	struct page_child c = {
		.place = again ? t->free[t->next_free++]
			       : page_file_pages(t->pf),
		.key = (uint64_t)t->last[0],
	};

	if (t->key == PAGES_PAIR && more)
		page_tree_take_last(t, &c);
	page_tree_leaf_head(t);
	int rc = again ? page_file_put(t->pf, c.place, t->page)
		       : page_file_add(t->pf, t->page);

	if (rc)
		return rc;
	for (size_t i = 0; i < t->n_link; i++)
		page_file_pointer(t->pf, t->link[i]);
	*mem_add(t->child, t->n_child, t->cap_child) = c;
	return SQLITE_OK;
}

/* Returns how many bytes of a record are in its cell. */
static size_t page_tree_local(const struct page_tree *t, size_t len)
{
	size_t max = t->size - 35;

	if (len <= max)
		return len;
	size_t min = (t->size - 12) * 32 / 255 - 23;
	size_t local = min + (len - min) % (t->size - POINTER);

	return local <= max ? local : min;
}

/* Writes what a cell has no room for. */
static int page_tree_overflow(struct page_tree *t, const unsigned char *from,
			      size_t left)
{
	unsigned char *page = mem_new(1, t->size);
	int rc = SQLITE_OK;

	while (left && !rc) {
		size_t n = left < t->size - POINTER ? left : t->size - POINTER;
		bool more = n < left;

		memset(page, 0, t->size);
		if (more)
			page_put32(page, page_file_pages(t->pf) + 1);
		memcpy(page + POINTER, from, n);
		rc = page_file_add(t->pf, page);
		if (!rc && more)
			page_file_pointer(t->pf, 0);
		from += n;
		left -= n;
	}
	free(page);
	return rc;
}

/* Ends the leaf if it has no room for a cell of size bytes. */
static int page_tree_make_room(struct page_tree *t, size_t size)
{
	if (t->page && PAGE_LEAF_HEAD + 2 * ((size_t)t->n + 1) + size <= t->top)
		return SQLITE_OK;
	int rc = t->page ? page_tree_end_leaf(t, true) : SQLITE_OK;

	if (!rc)
		page_tree_begin_leaf(t);
	return rc;
}

/* Adds a record. */
static int page_tree_put_row(struct page_tree *t, const int64_t key[2],
			     const unsigned char *row, size_t len)
{
	size_t n = packed_row_varint_bytes(len);
	size_t local = len;

	if (t->key != PAGES_PAIR) {
		n += packed_row_varint_bytes((uint64_t)key[0]);
		local = page_tree_local(t, len);
	}
	size_t size = n + local + (local < len ? POINTER : 0);
	int rc = page_tree_make_room(t, size < CELL_MIN ? CELL_MIN : size);

	if (rc)
		return rc;
	t->top -= (uint32_t)(size < CELL_MIN ? CELL_MIN : size);
	unsigned char *cell = t->page + t->top;

	unsigned char *to = cell + packed_row_varint(cell, len);

	if (t->key != PAGES_PAIR)
		packed_row_varint(to, (uint64_t)key[0]);
	memcpy(cell + n, row, local);
	page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
	memcpy(t->last, key, sizeof(t->last));
	t->any = true;
	if (local == len)
		return SQLITE_OK;
	*mem_add(t->link, t->n_link, t->cap_link) =
		t->top + (uint32_t)(n + local);
	page_put32(cell + n + local, page_file_pages(t->pf));
	return page_tree_overflow(t, row + local, len - local);
}

static int page_tree_put_near(void *arg, int64_t key, const void *row,
			      size_t len)
{
	struct page_tree *t = arg;

	if (t->any && key <= t->last[0])
		return SQLITE_CONSTRAINT;
	return page_tree_put_row(t, (const int64_t[]){ key, 0 }, row, len);
}

/* In the cell of a row of three numbers: its length, that of the header, and
 * the types. */
#define LIST_HEAD 5

/* Writes the last `bytes` bytes of a number, at most 4, so that they end at
 * `end`, and returns where they begin. It is always four bytes that are
 * written, as a copy of a known length is one instruction. Those that are too
 * many lie before the number. So a cell is written from its end to its start:
 * the next number goes over them, and the head, which is longer than four bytes
 * and comes last, over those before the first number. */
static unsigned char *page_tree_number_before(unsigned char *end, uint32_t v,
					      unsigned int bytes)
{
	page_put32(end - 4, v);
	return end - bytes;
}

/* Adds a row of three numbers up to INT32_MAX; type and len are of the first.
 * In a system's capture these are nine of ten rows. */
static int page_tree_put_small(struct page_tree *t, const uint32_t v[3],
			       unsigned int type, unsigned int len)
{
	unsigned int len1, len2;
	unsigned int type1 = packed_row_type(v[1], &len1);
	unsigned int type2 = packed_row_type(v[2], &len2);
	unsigned int size = LIST_HEAD + len + len1 + len2;

	if (!t->page || PAGE_LEAF_HEAD + 2 * (t->n + 1) + size > t->top) {
		int rc = page_tree_make_room(t, size);

		if (rc)
			return rc;
	}
	unsigned char *at = t->page + t->top;

	at = page_tree_number_before(at, v[2], len2);
	at = page_tree_number_before(at, v[1], len1);
	at = page_tree_number_before(at, v[0], len);
	at -= LIST_HEAD;
	at[0] = (unsigned char)(size - 1);
	at[1] = LIST_HEAD - 1;
	at[2] = (unsigned char)type;
	at[3] = (unsigned char)type1;
	at[4] = (unsigned char)type2;
	t->top -= size;
	page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
	return SQLITE_OK;
}

/* The same for larger numbers. */
static int page_tree_put_large(struct page_tree *t, int64_t a,
			       const uint32_t v[3])
{
	const int64_t key[2] = { a, v[1] };
	unsigned char row[4 + 3 * sizeof(uint64_t)] = { 4 };
	unsigned char *to = row + 4;

	row[1] = (unsigned char)packed_row_number(&to, (uint64_t)a);
	row[2] = (unsigned char)packed_row_number(&to, v[1]);
	row[3] = (unsigned char)packed_row_number(&to, v[2]);
	return page_tree_put_row(t, key, row, (size_t)(to - row));
}

/* Adds the rows of a list. */
static int page_tree_put_list(struct page_tree *t, struct block_list l)
{
	const uint64_t first = l.a < 0 ? UINT64_MAX : (uint64_t)l.a;
	unsigned int len;
	unsigned int type = packed_row_type((uint32_t)first, &len);
	int rc = SQLITE_OK;

	for (; !rc && l.n; l.n--, l.at += sizeof(uint32_t)) {
		uint32_t v[3] = { (uint32_t)first, l.b + l.n - 1 };

		memcpy(&v[2], l.at, sizeof(v[2]));
		if ((first | v[1] | v[2]) <= INT32_MAX)
			rc = page_tree_put_small(t, v, type, len);
		else
			rc = page_tree_put_large(t, l.a, v);
	}
	t->last[0] = l.a;
	t->last[1] = l.b;
	t->any = true;
	return rc;
}

/* Adds lists, and rows that are none, which are as a list of one. */
static int page_tree_add_lists(struct page_tree *t, struct block *b)
{
	const uint64_t *row = b->word;
	uint32_t late = 0;
	int rc = SQLITE_OK;

	for (uint32_t i = 0; !rc && i < b->n; i++, row += b->stride) {
		uint32_t one = (uint32_t)row[3];
		struct block_list l = { (int64_t)row[1], (uint32_t)row[2], 1,
					(const unsigned char *)&one };

		block_list(b, row, &l);
		if (!t->any || l.a > t->last[0] ||
		    (l.a == t->last[0] && (int64_t)l.b + l.n <= t->last[1]))
			rc = page_tree_put_list(t, l);
		else
			memmove(b->word + (size_t)late++ * b->stride, row,
				b->stride * sizeof(*row));
	}
	b->n = late;
	return rc;
}

/* ---- packed rows */

/* Writes a varint of at most 8 bytes that ends at `end`. Returns its start. */
static unsigned char *page_tree_varint(unsigned char *end, uint64_t v)
{
	*--end = (unsigned char)(v & 0x7f);
	while (v >>= 7)
		*--end = (unsigned char)(v & 0x7f) | 0x80;
	return end;
}

#define COPY_STEP 16

/* Copies n bytes that end at `from` to those that end at `end`. Fewer than
 * COPY_STEP bytes before these are written too: memcpy() takes longer than this
 * for the few bytes of most rows. What is copied next goes over them, and the
 * caller leaves as many bytes free before the cell. Returns the start of the
 * copy. */
static unsigned char *page_tree_copy(unsigned char *end,
				     const unsigned char *from, size_t n)
{
	unsigned char *const start = end - n;

	while (end > start) {
		end -= COPY_STEP;
		from -= COPY_STEP;
		memcpy(end, from, COPY_STEP);
	}
	return start;
}

/* Puts the parts of a packed row together. */
static void page_tree_join(struct page_tree *t, const struct packing_head *h,
			   const unsigned char *type)
{
	size_t head = h->types + (h->types + 1 < 0x80 ? 1 : 2);

	t->n_row = head + h->values;
	t->row = mem_grow(t->row, &t->cap_row, t->n_row, 1);
	packed_row_varint(t->row, head);
	memcpy(t->row + head - h->types, type, h->types);
	memcpy(t->row + head, type + h->room, h->values);
}

/* Adds a packed row. */
static int page_tree_put_packed(struct page_tree *t, int64_t key,
				const struct packing_head *h,
				const unsigned char *type)
{
	const size_t len = 1 + (size_t)h->types + h->values;
	const size_t most = PAGE_LEAF_HEAD + 2 * ((size_t)t->n + 1) +
			    2 * VARINT_MAX + COPY_STEP + len;

	if (!t->page || h->types + 1 >= 0x80 || most > t->top) {
		page_tree_join(t, h, type);
		return page_tree_put_row(t, (const int64_t[]){ key, 0 }, t->row,
					 t->n_row);
	}
	unsigned char *at = t->page + t->top;

	at = page_tree_copy(at, type + h->room + h->values, h->values);
	at = page_tree_copy(at, type + h->types, h->types);
	*--at = (unsigned char)(h->types + 1);
	at = page_tree_varint(at, (uint64_t)key);
	at = page_tree_varint(at, len);
	t->top = (uint32_t)(at - t->page);
	page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
	t->last[0] = key;
	t->any = true;
	return SQLITE_OK;
}

/* Adds the row that was put together to those that wait. In these tables no row
 * has pages of its own, and late rows are put into leaves that are not the
 * root. */
static bool page_tree_add_near(struct page_tree *t, int64_t key)
{
	return t->n_row == page_tree_local(t, t->n_row) &&
	       (row_runs_add(&t->near, key, t->row, t->n_row) ||
		(t->n_child && t->late.bytes < LATE_MAX &&
		 row_runs_add(&t->late, key, t->row, t->n_row)));
}

static int page_tree_add_packed(struct page_tree *t, struct block *b)
{
	unsigned char *const start = (unsigned char *)b->word;
	const unsigned char *at = start;
	unsigned char *kept = start;
	const uint32_t n = b->n;
	int rc = SQLITE_OK;

	b->n = 0;
	for (uint32_t i = 0; !rc && i < n; i++) {
		struct packing_head h;
		const unsigned char *type = packing_row(at, &h);
		size_t size = packing_size(&h);
		int64_t key = t->key == PAGES_ROWID ? t->last[0] + 1 : h.key;
		bool late = t->key != PAGES_NEAR && t->any && key <= t->last[0];

		if (t->key == PAGES_NEAR) {
			page_tree_join(t, &h, type);
			late = !page_tree_add_near(t, key);
		} else if (!late) {
			rc = page_tree_put_packed(t, key, &h, type);
		}
		if (late) {
			memmove(kept, at, size);
			kept += size;
			b->n++;
		}
		at += size;
	}
	b->data = (uint32_t)(kept - start);
	return rc;
}

int page_tree_add(struct page_tree *t, struct block *b)
{
	int rc = t->key == PAGES_PAIR ? page_tree_add_lists(t, b)
				      : page_tree_add_packed(t, b);

	if (rc || t->key != PAGES_NEAR)
		return rc;
	t->near_max += (size_t)b->n * NEAR_MORE;
	if (t->near_max > NEAR_MAX)
		t->near_max = NEAR_MAX;
	if (t->near.bytes > t->near_max)
		rc = row_runs_take(&t->near, t->near_max - NEAR_FIRST / 2,
				   page_tree_put_near, t);
	return rc;
}

/* ---- rows between the others */

/* Leaves are taken apart from the one with the first late row on, and made
 * again with those rows, up to a leaf with none. So there are never fewer than
 * before. */
struct page_merge {
	struct page_tree *t;
	struct page_child *old; /* leaves as they were */
	size_t n_old, next;
	unsigned char *page; /* leaf next - 1, of which these cells are left: */
	uint32_t cell, n;
};

/* Copies cells up to a key. */
static int page_merge_copy(struct page_merge *m, int64_t below)
{
	struct page_tree *t = m->t;
	int rc = SQLITE_OK;

	for (; !rc && m->cell < m->n; m->cell++) {
		const unsigned char *p =
			m->page + PAGE_LEAF_HEAD + 2 * (size_t)m->cell;
		uint32_t end = m->cell ? page_get16(p - 2) : t->size;
		uint32_t at = page_get16(p);
		uint64_t len, key;
		unsigned int n = packed_row_number_at(m->page + at, &len);

		packed_row_number_at(m->page + at + n, &key);
		if ((int64_t)key >= below)
			return (int64_t)key == below ? SQLITE_CONSTRAINT
						     : SQLITE_OK;
		rc = page_tree_make_room(t, end - at);
		if (rc)
			break;
		t->top -= end - at;
		memcpy(t->page + t->top, m->page + at, end - at);
		page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
		t->last[0] = (int64_t)key;
	}
	return rc;
}

/* Ends the leaf that is being made: what follows has no late rows. */
static int page_merge_pause(struct page_merge *m)
{
	struct page_tree *t = m->t;
	int rc = page_merge_copy(m, INT64_MAX);

	if (!rc && t->n)
		rc = page_tree_end_leaf(t, false);
	page_tree_begin_leaf(t);
	assert(rc || t->next_free == t->n_free);
	t->n_free = t->next_free = 0;
	return rc;
}

/* Takes leaves up to the one where a row belongs. */
static int page_merge_seek(struct page_merge *m, int64_t key)
{
	struct page_tree *t = m->t;
	const struct page_child *c;
	int rc = SQLITE_OK;

	if (m->next && key <= (int64_t)m->old[m->next - 1].key)
		return rc;
	/* the row belongs to the next leaf, or to one after that */
	if (m->next < m->n_old && key > (int64_t)m->old[m->next].key)
		rc = page_merge_pause(m);
	while (!rc && m->next + 1 < m->n_old &&
	       key > (int64_t)m->old[m->next].key)
		*mem_add(t->child, t->n_child, t->cap_child) =
			m->old[m->next++];
	if (rc || m->next == m->n_old)
		return rc;
	rc = page_merge_copy(m, INT64_MAX);
	if (rc)
		return rc;
	c = &m->old[m->next++];
	*mem_add(t->free, t->n_free, t->cap_free) = c->place;
	m->cell = 0;
	rc = page_file_get(t->pf, c->place, m->page);
	m->n = page_get16(m->page + PAGE_CELLS);
	return rc;
}

static int page_merge_row(void *arg, int64_t key, const void *row, size_t len)
{
	struct page_merge *m = arg;
	int rc = page_merge_seek(m, key);

	if (!rc)
		rc = page_merge_copy(m, key);
	if (!rc && m->t->any && m->t->last[0] == key)
		return SQLITE_CONSTRAINT;
	return rc ? rc
		  : page_tree_put_row(m->t, (const int64_t[]){ key, 0 }, row,
				      len);
}

/* Puts the late rows where they belong; all leaves are finished. */
static int page_tree_merge_late(struct page_tree *t)
{
	struct page_merge m = {
		.t = t,
		.old = t->child,
		.n_old = t->n_child,
		.page = mem_new(1, t->size),
	};

	t->child = NULL;
	t->n_child = t->cap_child = 0;
	t->any = false;
	page_tree_begin_leaf(t);
	int rc = row_runs_take(&t->late, 0, page_merge_row, &m);

	if (!rc)
		rc = page_merge_pause(&m);
	while (m.next < m.n_old)
		*mem_add(t->child, t->n_child, t->cap_child) = m.old[m.next++];
	free(m.page);
	free(m.old);
	return rc;
}

/* ---- what is above the leaves */

/* Fills an inner page above n pages, of which the last is on the right. */
static void page_tree_inner(const struct page_tree *t, unsigned char *page,
			    const struct page_child *c, uint32_t n)
{
	uint32_t top = t->size;

	memset(page, 0, t->size);
	for (uint32_t i = 0; i + 1 < n; i++) {
		unsigned char cell[POINTER + VARINT_MAX];
		size_t len = POINTER;

		page_put32(cell, page_file_number(t->pf, c[i].place));
		if (t->key != PAGES_PAIR)
			len += packed_row_varint(cell + POINTER, c[i].key);
		top -= (uint32_t)len + c[i].len;
		memcpy(page + top, cell, len);
		if (c[i].len)
			memcpy(page + top + len, t->cell + c[i].key, c[i].len);
		page_put16(page + PAGE_INNER_HEAD + 2 * i, top);
	}
	page_tree_head(page,
		       t->key == PAGES_PAIR ? PAGE_INDEX_INNER
					    : PAGE_TABLE_INNER,
		       n - 1, top);
	page_put32(page + PAGE_RIGHT, page_file_number(t->pf, c[n - 1].place));
}

/* Writes the pages above the leaves, the last of which is the root. */
static int page_tree_end_inner(struct page_tree *t, uint32_t root)
{
	unsigned char *page = mem_new(1, t->size);
	uint32_t cell = t->key == PAGES_PAIR ? t->cell_max : VARINT_MAX;
	size_t most = (t->size - PAGE_INNER_HEAD) / (2 + POINTER + cell) + 1;
	int rc = SQLITE_OK;

	/* Each round replaces the pages of a level by the n above them, in
	 * which they are spread evenly: so that each has at least two. */
	while (!rc && t->n_child > most) {
		size_t n = (t->n_child + most - 1) / most;
		size_t first = 0;

		for (size_t i = 0; !rc && i < n; i++) {
			size_t end = (i + 1) * t->n_child / n;
			/* the cell behind the last of them goes up */
			struct page_child c = t->child[end - 1];

			page_tree_inner(t, page, t->child + first,
					(uint32_t)(end - first));
			c.place = page_file_pages(t->pf);
			rc = page_file_add(t->pf, page);
			t->child[i] = c;
			first = end;
		}
		t->n_child = n;
	}
	if (!rc) {
		page_tree_inner(t, page, t->child, (uint32_t)t->n_child);
		rc = page_file_root(t->pf, root, page);
	}
	free(page);
	return rc;
}

int page_tree_end(struct page_tree *t, uint32_t root)
{
	int rc = row_runs_take(&t->near, 0, page_tree_put_near, t);

	if (rc || !t->page)
		return rc;
	if (t->n_child) {
		rc = page_tree_end_leaf(t, false);
		if (!rc && t->late.bytes)
			rc = page_tree_merge_late(t);
		return rc ? rc : page_tree_end_inner(t, root);
	}
	/* the only leaf is the root */
	for (size_t i = 0; i < t->n_link; i++) {
		unsigned char *p = t->page + t->link[i];
		uint32_t place = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
				 (uint32_t)p[2] << 8 | p[3];

		page_put32(p, page_file_number(t->pf, place));
	}
	page_tree_leaf_head(t);
	return page_file_root(t->pf, root, t->page);
}
