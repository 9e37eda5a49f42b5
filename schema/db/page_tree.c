/* page_tree.c - builds the B-tree of one table from rows in the order of its
 * key. */
#include "schema/db/page_tree.h"

#include <sqlite3.h>
#include <stdbool.h>

#include "schema/db/packing.h"
#include "schema/db/page_file.h"
#include "schema/db/page_format.h"
#include "stitch/base/digits.h"
#include "stitch/base/mem.h"

/* How many bytes of rows may wait for others with lower keys: at first, how
 * many more for each row that came too late nevertheless, and at most. */
#define NEAR_FIRST ((size_t)1 << 20)
#define NEAR_MORE 256
#define NEAR_MAX ((size_t)8 << 20)

/* A finished page. */
struct page_child {
	uint32_t place;
	uint32_t len; /* PAGES_PAIR: bytes of the cell after the page */
	uint64_t key; /* the page's last id; PAGES_PAIR: where that cell is */
};

struct page_tree {
	struct page_file *pf;
	enum page_key key;
	uint32_t size;	     /* bytes of a page */
	unsigned char *page; /* the leaf that is being filled; NULL: none */
	uint32_t n, top;     /* its cells, and where the last one begins */
	uint32_t *link;	     /* offsets in the leaf of stored places of pages */
	size_t n_link, cap_link;
	bool any;	 /* there is a row */
	int64_t last[2]; /* key of the last row: see page_tree_key() */
	struct page_child *child;
	size_t n_child, cap_child;
	unsigned char *cell; /* PAGES_PAIR: cells between leaves */
	size_t n_cell, cap_cell;
	uint32_t cell_max;
	unsigned char *row; /* the record that was put together last */
	size_t n_row, cap_row;
	unsigned char *near; /* PAGES_NEAR: packed rows that wait */
	size_t n_near, cap_near, near_max; /* bytes */
	size_t near_rows;
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
	free_all(t->row, t->near, t->page, t->link, t->child, t->cell, t);
}

static void page_tree_head(unsigned char *page, int type, uint32_t n,
			   uint32_t top)
{
	page[0] = (unsigned char)type;
	page_put16(page + PAGE_CELLS, n);
	page_put16(page + PAGE_TOP, top); /* 65536 becomes 0, as it must */
}

/* Clears the bytes between the cells and their offsets, which are of an earlier
 * leaf. That is done last, when they are few. */
static void page_tree_leaf_head(const struct page_tree *t)
{
	uint32_t end = PAGE_LEAF_HEAD + 2 * t->n;

	memset(t->page + end, 0, t->top - end);
	page_tree_head(t->page,
		       t->key == PAGES_PAIR ? PAGE_INDEX_LEAF : PAGE_TABLE_LEAF,
		       t->n, t->top);
}

/* Writes the full leaf. If more rows follow, its last row moves up in a
 * PAGES_PAIR tree. */
static int page_tree_end_leaf(struct page_tree *t, bool more)
{
	struct page_child c = {
		.place = page_file_pages(t->pf),
		.key = (uint64_t)t->last[0],
	};

	if (t->key == PAGES_PAIR && more) {
		/* In a WITHOUT ROWID table the row between two leaves is above
		 * them: takes the last cell of the leaf. */
		uint32_t before = t->size;

		if (t->n > 1)
			before = (uint32_t)record_be(
				t->page + PAGE_LEAF_HEAD + 2 * t->n - 4, 2);
		c.len = before - t->top;
		c.key = t->n_cell;
		mem_append(t->cell, t->n_cell, t->cap_cell, t->page + t->top,
			   c.len);
		if (c.len > t->cell_max)
			t->cell_max = c.len;
		t->n--;
		t->top = before;
	}
	page_tree_leaf_head(t);
	int rc = page_file_add(t->pf, t->page);

	if (rc)
		return rc;
	for (size_t i = 0; i < t->n_link; i++)
		page_file_pointer(t->pf, t->link[i]);
	*mem_add(t->child, t->n_child, t->cap_child) = c;
	return SQLITE_OK;
}

/* Ends the leaf if it has no room for a cell of size bytes. */
static int page_tree_make_room(struct page_tree *t, size_t size)
{
	if (t->page && PAGE_LEAF_HEAD + 2 * ((size_t)t->n + 1) + size <= t->top)
		return SQLITE_OK;
	int rc = t->page ? page_tree_end_leaf(t, true) : SQLITE_OK;

	if (!rc) {
		if (!t->page)
			t->page = mem_new(1, t->size);
		t->n = 0;
		t->n_link = 0;
		t->top = t->size;
	}
	return rc;
}

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
 * COPY_STEP bytes before these are overwritten too: memcpy() takes longer than
 * this for the few bytes of most rows. The next copy overwrites them, and the
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

static int page_tree_put_packed(struct page_tree *t, const int64_t key[2],
				const struct packing_head *h,
				const unsigned char *type)
{
	const size_t len = 1 + (size_t)h->types + h->values;
	const size_t most = PAGE_LEAF_HEAD + 2 * ((size_t)t->n + 1) +
			    2 * VARINT_MAX + COPY_STEP + len;

	if (!t->page || h->types + 1 >= 0x80 || most > t->top) {
		/* Put the parts of a packed row together. */
		size_t head = h->types + (h->types + 1 < 0x80 ? 1 : 2);

		t->n_row = head + h->values;
		mem_grow(t->row, t->cap_row, t->n_row);
		record_put_varint(t->row, head);
		memcpy(t->row + head - h->types, type, h->types);
		memcpy(t->row + head, type + h->room, h->values);
		/* Adds a record. */
		size_t bytes = t->n_row;
		size_t n = record_varint_len(bytes);
		size_t local = bytes;

		if (t->key != PAGES_PAIR) {
			n += record_varint_len((uint64_t)key[0]);
			local = record_local(bytes, t->size);
		}
		size_t size = n + local + (local < bytes ? PAGE_POINTER : 0);
		int rc = page_tree_make_room(
			t, size < PAGE_CELL_MIN ? PAGE_CELL_MIN : size);

		if (rc)
			return rc;
		t->top -=
			(uint32_t)(size < PAGE_CELL_MIN ? PAGE_CELL_MIN : size);
		unsigned char *cell = t->page + t->top;

		unsigned char *to = cell + record_put_varint(cell, bytes);

		if (t->key != PAGES_PAIR)
			record_put_varint(to, (uint64_t)key[0]);
		memcpy(cell + n, t->row, local);
		page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
		memcpy(t->last, key, sizeof(t->last));
		t->any = true;
		if (local == bytes)
			return SQLITE_OK;
		*mem_add(t->link, t->n_link, t->cap_link) =
			t->top + (uint32_t)(n + local);
		page_put32(cell + n + local, page_file_pages(t->pf));
		/* Write what does not fit into the cell to overflow pages. */
		const unsigned char *from = t->row + local;
		size_t left = bytes - local;
		unsigned char *page = mem_new(1, t->size);
		int ret = SQLITE_OK;

		while (left && !ret) {
			size_t count = left < t->size - PAGE_POINTER
					       ? left
					       : t->size - PAGE_POINTER;
			bool more = count < left;

			memset(page, 0, t->size);
			if (more)
				page_put32(page, page_file_pages(t->pf) + 1);
			memcpy(page + PAGE_POINTER, from, count);
			ret = page_file_add(t->pf, page);
			if (!ret && more)
				page_file_pointer(t->pf, 0);
			from += count;
			left -= count;
		}
		free(page);
		return ret;
	}
	unsigned char *at = t->page + t->top;

	at = page_tree_copy(at, type + h->room + h->values, h->values);
	at = page_tree_copy(at, type + h->types, h->types);
	*--at = (unsigned char)(h->types + 1);
	if (t->key != PAGES_PAIR)
		at = page_tree_varint(at, (uint64_t)key[0]);
	at = page_tree_varint(at, len);
	t->top = (uint32_t)(at - t->page);
	page_put16(t->page + PAGE_LEAF_HEAD + 2 * t->n++, t->top);
	memcpy(t->last, key, sizeof(t->last));
	t->any = true;
	return SQLITE_OK;
}

static void page_tree_key(const struct page_tree *t,
			  const struct packing_head *h,
			  const unsigned char *type, int64_t key[2])
{
	const unsigned char *value = type + h->room;

	key[0] = t->key == PAGES_ROWID ? t->last[0] + 1 : h->key;
	key[1] = 0;
	if (t->key != PAGES_PAIR)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		size_t len = record_type_len(type[i]);

		key[i] = record_int(type[i], value, len);
		value += len;
	}
	key[1] = -key[1]; /* the second column descends */
}

static bool page_tree_is_late(const struct page_tree *t, const int64_t key[2])
{
	return t->any && (key[0] < t->last[0] ||
			  (key[0] == t->last[0] && key[1] <= t->last[1]));
}

/* A row that waits. */
struct page_near {
	uint64_t key;
	size_t at;
};

SORT_BY_DIGITS(page_tree_by_key, struct page_near, key);

/* Adds waiting rows, those with the lowest keys first, until at most `keep`
 * bytes of them are left. */
static int page_tree_take_near(struct page_tree *t, size_t keep)
{
	size_t left = t->n_near;
	int rc = SQLITE_OK;

	if (!left)
		return rc;
	/* sort the rows that wait by their keys */
	struct page_near *near = mem_new(t->near_rows, sizeof(*near));
	struct packing_head head;
	size_t at = 0;

	for (size_t k = 0; k < t->near_rows; k++, at += packing_size(&head)) {
		packing_row(t->near + at, &head);
		near[k] = (struct page_near){ head.key, at };
	}
	struct page_near *row = page_tree_by_key(near, t->near_rows);
	for (size_t i = 0; !rc && left > keep; i++) {
		struct packing_head h;
		const unsigned char *type =
			packing_row(t->near + row[i].at, &h);

		const int64_t key[2] = { h.key, 0 };

		rc = page_tree_is_late(t, key)
			     ? SQLITE_CONSTRAINT
			     : page_tree_put_packed(t, key, &h, type);
		left -= packing_size(&h);
	}
	free(row);
	/* drop the rows up to the last key, which wait no longer */
	size_t rows = t->near_rows;

	t->n_near = t->near_rows = 0;
	for (at = 0; rows; rows--, at += packing_size(&head)) {
		packing_row(t->near + at, &head);
		if (head.key <= t->last[0])
			continue;
		memmove(t->near + t->n_near, t->near + at, packing_size(&head));
		t->n_near += packing_size(&head);
		t->near_rows++;
	}
	return rc;
}

int page_tree_add(struct page_tree *t, struct block *b)
{
	/* Add rows, or let them wait, except those that come too late. */
	unsigned char *const start = b->rows;
	const unsigned char *at = start;
	unsigned char *kept = start;
	const uint32_t n = b->n;
	int rc = SQLITE_OK;

	b->n = 0;
	for (uint32_t i = 0; !rc && i < n; i++) {
		struct packing_head h;
		const unsigned char *type = packing_row(at, &h);
		size_t size = packing_size(&h);
		int64_t key[2];

		page_tree_key(t, &h, type, key);
		if (page_tree_is_late(t, key)) {
			memmove(kept, at, size);
			kept += size;
			b->n++;
		} else if (t->key == PAGES_NEAR) {
			mem_append(t->near, t->n_near, t->cap_near, at, size);
			t->near_rows++;
		} else {
			rc = page_tree_put_packed(t, key, &h, type);
		}
		at += size;
	}
	b->data = (uint32_t)(kept - start);

	if (rc || t->key != PAGES_NEAR)
		return rc;
	t->near_max += (size_t)b->n * NEAR_MORE;
	if (t->near_max > NEAR_MAX)
		t->near_max = NEAR_MAX;
	return t->n_near > t->near_max ? page_tree_take_near(t, t->near_max / 2)
				       : SQLITE_OK;
}

/* Fills an inner page above n pages, of which the last is on the right. */
static void page_tree_inner(const struct page_tree *t, unsigned char *page,
			    const struct page_child *c, uint32_t n)
{
	uint32_t top = t->size;

	memset(page, 0, t->size);
	for (uint32_t i = 0; i + 1 < n; i++) {
		unsigned char cell[PAGE_POINTER + VARINT_MAX];
		size_t len = PAGE_POINTER;

		page_put32(cell, page_file_number(t->pf, c[i].place));
		if (t->key != PAGES_PAIR)
			len += record_put_varint(cell + PAGE_POINTER, c[i].key);
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
	size_t most =
		(t->size - PAGE_INNER_HEAD) / (2 + PAGE_POINTER + cell) + 1;
	int rc = SQLITE_OK;

	/* Each round replaces the pages of a level by the n above them, over
	 * which they are spread evenly, so that each has at least two. */
	while (!rc && t->n_child > most) {
		size_t n = (t->n_child + most - 1) / most;
		size_t first = 0;

		for (size_t i = 0; !rc && i < n; i++) {
			size_t end = (i + 1) * t->n_child / n;
			/* the cell after the last of them goes up */
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
	int rc = page_tree_take_near(t, 0);

	if (rc || !t->page)
		return rc;
	if (t->n_child) {
		rc = page_tree_end_leaf(t, false);
		return rc ? rc : page_tree_end_inner(t, root);
	}
	/* the only leaf is the root */
	for (size_t i = 0; i < t->n_link; i++) {
		unsigned char *p = t->page + t->link[i];
		uint32_t place = (uint32_t)record_be(p, PAGE_POINTER);

		page_put32(p, page_file_number(t->pf, place));
	}
	page_tree_leaf_head(t);
	return page_file_root(t->pf, root, t->page);
}
