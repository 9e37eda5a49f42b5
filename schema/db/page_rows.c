/* page_rows.c - reads columns of a table's rows from the pages of the file.
 *
 * The file is read by SQLite's own functions, so that its locks stay: closing a
 * second descriptor would end them (POSIX, fcntl). An unfinished statement
 * holds the lock. */
#include "schema/db/page_rows.h"

#include "schema/columns.h"
#include "schema/db/db.h"
#include "schema/db/page_format.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define DEPTH 20  /* levels of a B-tree; SQLite has as many */
#define CELLS 255 /* columns of a record that are looked at */
#define SIZE_LEAST 512

struct page_level {
	uint32_t page; /* 0: none */
	unsigned char *data;
	/* the next cell in a leaf, or the cell that was taken above it: the
	 * page after the last cell is number `cells` */
	uint32_t at, cells;
};

struct page_rows {
	const struct store *db;
	sqlite3_file *file;
	sqlite3_stmt *hold;
	uint32_t size; /* of a page */
	uint32_t root;
	struct page_level level[DEPTH];
	/* by column of the record: index + 1 of the row's value; 0: not
	 * wanted */
	uint8_t want[CELLS];
	unsigned int
		n_want; /* columns of the record up to the last wanted one */
	unsigned int n;
	struct page_level *leaf; /* the current leaf; NULL: none */
	int64_t last;		 /* id of the previous row */
};

/* Prepares a query whose ?1 is the name of a table. Returns NULL on failure. */
static sqlite3_stmt *page_rows_ask(struct page_rows *p, const char *query,
				   const char *table)
{
	struct err ignored = { 0 };
	sqlite3_stmt *st = db_prepare(p->db, store_sql(query), &ignored);

	if (!st || !sqlite3_bind_text(st, 1, table, -1, SQLITE_TRANSIENT))
		return st;
	sqlite3_finalize(st);
	return NULL;
}

/* Finds the table. Returns false if its rows alone do not determine its
 * contents. */
static bool page_rows_find(struct page_rows *p, const char *table)
{
	sqlite3_stmt *st = page_rows_ask(p, "page_table", table);

	while (st && sqlite3_step(st) == SQLITE_ROW) {
		int64_t root = sqlite3_column_int64(st, PAGE_TABLE_ROOTPAGE);

		p->root = root > 1 && root < UINT32_MAX ? (uint32_t)root : 0;
	}
	return !sqlite3_finalize(st) && p->root;
}

/* Finds the wanted columns in a record. If the first one is rowid, the table
 * must have no key. */
static bool page_rows_map(struct page_rows *p, const char *table,
			  const char *const *column)
{
	const unsigned int bare = !strcmp(column[0], "rowid");
	sqlite3_stmt *st = page_rows_ask(p, "page_columns", table);
	unsigned int found = bare;
	bool plain = st != NULL;

	while (st && sqlite3_step(st) == SQLITE_ROW) {
		const char *name = db_column_text(st, PAGE_COLUMNS_NAME);
		int64_t at = sqlite3_column_int64(st, PAGE_COLUMNS_CID);
		bool key = sqlite3_column_int64(st, PAGE_COLUMNS_PK) != 0;

		name = name ? name : "";
		/* a generated column is in no record */
		if (sqlite3_column_int64(st, PAGE_COLUMNS_HIDDEN) || at < 0 ||
		    at >= CELLS || (key && strcmp(name, column[0]) != 0) ||
		    (bare && !sqlite3_stricmp(name, column[0])))
			plain = false;
		for (unsigned int i = bare; plain && i < p->n; i++) {
			if (strcmp(name, column[i]) != 0)
				continue;
			plain = key == !i &&
				sqlite3_column_int64(st, PAGE_COLUMNS_PLAIN) !=
					0;
			p->want[at] = (uint8_t)(i + 1);
			p->n_want = (unsigned int)at + 1;
			found++;
		}
	}
	return !sqlite3_finalize(st) && plain && found == p->n;
}

/* Checks that the file is complete without a journal, and its text UTF-8. */
static bool page_rows_head(struct page_rows *p)
{
	unsigned char head[HEAD_SIZE];
	const char *name = sqlite3_db_filename(p->db->db, "main");

	/* what is in no file, or was not written yet */
	if (p->db->writable || !name || !*name ||
	    sqlite3_file_control(p->db->db, "main", SQLITE_FCNTL_FILE_POINTER,
				 &p->file) ||
	    !p->file || !p->file->pMethods)
		return false;
	if (p->file->pMethods->xRead(p->file, head, HEAD_SIZE, 0) ||
	    !page_head_is_plain(head))
		return false;
	p->size = page_size_of(head);
	return p->size >= SIZE_LEAST && !(p->size & (p->size - 1));
}

static bool page_rows_hold(struct page_rows *p)
{
	struct err ignored = { 0 };

	p->hold = db_prepare(p->db, store_sql("page_hold"), &ignored);
	return p->hold && sqlite3_step(p->hold) == SQLITE_ROW;
}

struct page_rows *page_rows_open(const struct store *db, const char *table,
				 const char *const *column, size_t n)
{
	struct page_rows *p = mem_new(1, sizeof(*p));

	p->db = db;
	p->n = (unsigned int)n;
	if (n <= PAGE_ROWS_COLUMNS && !db->writable && page_rows_hold(p) &&
	    page_rows_head(p) && page_rows_find(p, table) &&
	    page_rows_map(p, table, column))
		return p;
	page_rows_close(p);
	return NULL;
}

void page_rows_close(struct page_rows *p)
{
	if (!p)
		return;
	sqlite3_finalize(p->hold);
	for (unsigned int i = 0; i < DEPTH; i++)
		free(p->level[i].data);
	free(p);
}

/* Reads a page, unless it is in memory already. */
static bool page_rows_load(struct page_rows *p, struct page_level *l,
			   uint32_t page)
{
	if (!page || l->page == page)
		return page;
	if (!l->data)
		l->data = mem_new(1, p->size + RECORD_SLACK);
	l->page = 0;
	if (p->file->pMethods->xRead(p->file, l->data, (int)p->size,
				     (sqlite3_int64)(page - 1) * p->size))
		return false;
	l->page = page;
	return true;
}

/* Returns where a cell of a page begins; NULL if that is outside of the
 * page. */
static const unsigned char *page_rows_cell(const struct page_rows *p,
					   const unsigned char *data,
					   uint32_t first, uint32_t i)
{
	uint64_t at = record_be(data + first + 2 * i, 2);

	return at < first || at + PAGE_CELL_MIN > p->size ? NULL : data + at;
}

/* Reads the id of a cell. Returns false if it is damaged. */
static bool page_rows_id(const struct page_rows *p, const unsigned char *data,
			 uint32_t first, uint32_t i, int64_t *id)
{
	const unsigned char *end = data + p->size;
	const unsigned char *cell = page_rows_cell(p, data, first, i);
	uint64_t v;
	size_t n = PAGE_POINTER;

	if (cell && first == PAGE_LEAF_HEAD)
		n = record_varint(cell, end, &v);
	if (!cell || !n || !record_varint(cell + n, end, &v))
		return false;
	*id = (int64_t)v;
	return true;
}

/* The ids that a page can have, by the keys of the pages above it. */
struct page_range {
	int64_t above, upto;
};

/* Finds the first cell of a page whose id is above `after`, and narrows *range
 * to that of the page that it leads to. All ids are compared: a tree that is
 * out of order would lead past some of its rows. Returns 0, or less as
 * page_rows_seek(). */
static int page_rows_search(const struct page_rows *p, struct page_level *l,
			    uint32_t first, int64_t after,
			    struct page_range *range)
{
	struct page_range to = *range;
	int64_t last = range->above;
	int64_t id;

	l->at = l->cells;
	for (uint32_t i = 0; i < l->cells; i++, last = id) {
		if (!page_rows_id(p, l->data, first, i, &id))
			return PAGE_ROWS_SQLITE;
		if (id <= last || id > range->upto)
			return PAGE_ROWS_UNORDERED;
		if (id <= after) {
			to.above = id;
		} else if (l->at == l->cells) {
			l->at = i;
			to.upto = id;
		}
	}
	*range = to;
	return 0;
}

/* Returns the page that the current cell leads to; 0 if the page is damaged. */
static uint32_t page_rows_child(const struct page_rows *p,
				const struct page_level *l)
{
	const unsigned char *cell =
		l->at < l->cells
			? page_rows_cell(p, l->data, PAGE_INNER_HEAD, l->at)
			: l->data + PAGE_RIGHT;

	return cell ? (uint32_t)record_be(cell, PAGE_POINTER) : 0;
}

/* Descends from a page to the leaf with the first id above `after`. `after`
 * INT64_MIN is above no id, and page_rows_take() compares what follows. Returns
 * 1, or less than 0 as page_rows_seek(). */
static int page_rows_descend(struct page_rows *p, struct page_level *l,
			     uint32_t page, int64_t after)
{
	struct page_range range = { INT64_MIN, INT64_MAX };

	for (p->leaf = NULL; l < p->level + DEPTH; l++) {
		int rc = 0;

		if (!page_rows_load(p, l, page))
			return PAGE_ROWS_SQLITE;
		bool inner = *l->data == PAGE_TABLE_INNER;
		l->cells = (uint32_t)record_be(l->data + PAGE_CELLS, 2);
		/* only a table without rows has an empty leaf: each step of a
		 * walk finds a row, whose id is above the previous one */
		if ((!inner && *l->data != PAGE_TABLE_LEAF) ||
		    (inner ? PAGE_INNER_HEAD : PAGE_LEAF_HEAD) + 2 * l->cells >
			    p->size ||
		    (!l->cells && (inner || l != p->level)))
			return PAGE_ROWS_SQLITE;
		l->at = 0;
		if (after != INT64_MIN)
			rc = page_rows_search(
				p, l, inner ? PAGE_INNER_HEAD : PAGE_LEAF_HEAD,
				after, &range);
		if (rc)
			return rc;
		if (!inner) {
			p->leaf = l;
			return 1;
		}
		page = page_rows_child(p, l);
	}
	return PAGE_ROWS_SQLITE;
}

int page_rows_seek(struct page_rows *p, int64_t after)
{
	struct page_level *l = p->leaf;

	if (l && p->last == after && l->at < l->cells)
		return 1;
	if (!l || p->last != after) {
		int rc = page_rows_descend(p, p->level, p->root, after);

		p->last = after;
		if (rc < 0)
			return rc;
		l = p->leaf;
		if (l->at < l->cells)
			return 1;
	}
	/* a page may have lost its last rows */
	do {
		if (l == p->level)
			return 0;
		l--;
	} while (l->at == l->cells);
	l->at++;
	return page_rows_descend(p, l + 1, page_rows_child(p, l), INT64_MIN);
}

/* Takes a value that is the key or not a whole number, for column want - 1 of
 * the row; 0: not wanted. Returns false if SQLite must read the row. */
static bool page_rows_other(unsigned int want, uint64_t type,
			    const unsigned char *body, size_t len,
			    struct page_row *row)
{
	/* the id is next to the record, which has NULL for it; types 10 and 11
	 * are not used in files */
	if ((want == 1 && type) || type == 10 || type == 11)
		return false;
	if (want > 1) {
		row->text[want - 1] = (struct page_text){ body, len };
		*(type == RECORD_REAL ? &row->reals
		  : type & 1	      ? &row->texts
			     : &row->blobs) |= (uint32_t)1 << (want - 1);
	}
	return true;
}

/* Reads the values of a record of len bytes, of which those up to `end` are
 * here. As in SQLite, a record that its types do not fill is damaged. */
static bool page_rows_record(const struct page_rows *p,
			     const unsigned char *record, uint64_t len,
			     const unsigned char *end, struct page_row *row)
{
	uint64_t head;
	size_t n = record_varint(record, end, &head);

	if (!n || head < n || head > (size_t)(end - record))
		return false;
	const unsigned char *at = record + n;	    /* the type of a value */
	const unsigned char *types = record + head; /* end of them */
	const unsigned char *body = types;

	/* NULLs at the end of a record may be left out */
	for (unsigned int i = 0; i < p->n_want && at < types; i++) {
		unsigned int want = p->want[i];
		uint64_t type = *at++;

		if (__builtin_expect(type >= 0x80, 0)) {
			n = record_varint(at - 1, types, &type);
			if (!n)
				return false;
			at += n - 1;
		}
		size_t bytes = record_type_len(type);
		if (bytes > (size_t)(end - body))
			return false;
		if (want > 1 && record_is_int(type)) {
			row->v[want - 1] = record_int(type, body, bytes);
			row->known |= (uint32_t)1 << (want - 1);
		} else if ((want == 1 || type > 9 || type == RECORD_REAL) &&
			   !page_rows_other(want, type, body, bytes, row)) {
			return false;
		}
		body += bytes;
	}
	return at < types || (uint64_t)(body - record) == len;
}

int page_rows_take(struct page_rows *p, struct page_row *row)
{
	struct page_level *l = p->leaf;
	const unsigned char *end = l->data + p->size;
	const unsigned char *cell;
	uint64_t len, id;

	if (l->at >= l->cells)
		return 0;
	cell = page_rows_cell(p, l->data, PAGE_LEAF_HEAD, l->at);
	size_t n = cell ? record_varint(cell, end, &len) : 0;
	size_t k = n ? record_varint(cell + n, end, &id) : 0;
	if (!k)
		return PAGE_ROWS_SQLITE;
	if ((int64_t)id <= p->last)
		return PAGE_ROWS_UNORDERED;
	cell += n + k;
	uint64_t local = record_local(len, p->size);
	if (local > (size_t)(end - cell))
		return PAGE_ROWS_SQLITE;
	memset(row->v, 0, p->n * sizeof(*row->v));
	row->known = 1;
	row->texts = row->blobs = row->reals = 0;
	*row->v = (int64_t)id;
	if (!page_rows_record(p, cell, len, cell + local, row))
		return PAGE_ROWS_SQLITE;
	p->last = (int64_t)id;
	l->at++;
	return 1;
}
