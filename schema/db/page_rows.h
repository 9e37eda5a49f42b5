/* page_rows.h - reads columns of a table's rows from the pages of the file.
 *
 * SQLite takes 170 instructions for each column of a row, and 500 for each row;
 * here it is 40 and 110. Everything that differs from a newly made database (a
 * journal of another kind, values in overflow pages, columns of another type)
 * is left to SQLite, and so is damage. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct page_rows;
struct store;

#define PAGE_ROWS_COLUMNS 32 /* at most */

/* A row. Bytes are valid until the next page_rows_seek(). */
struct page_row {
	int64_t *v; /* the caller's array; an element is 0 if its value is not a
		       whole number */
	uint32_t known; /* bit i: v[i] is one */
	uint32_t texts; /* bit i: text[i] is one */
	uint32_t blobs; /* bit i: text[i] is a blob */
	uint32_t reals; /* bit i: text[i] is a double, as it is in the file */
	struct page_text {
		const unsigned char *at;
		size_t len;
	} text[PAGE_ROWS_COLUMNS];
};

/* Opens n columns, the first of which is the INTEGER PRIMARY KEY, or "rowid" of
 * a table without a key. The database cannot be changed until
 * page_rows_close(). Returns NULL if SQLite must read the table. */
struct page_rows *page_rows_open(const struct store *db, const char *table,
				 const char *const *column, size_t n);
void page_rows_close(struct page_rows *p); /* NULL is allowed */
#define PAGE_ROWS_SQLITE (-1)		   /* SQLite must read on */
#define PAGE_ROWS_UNORDERED (-2) /* ids are not in order: it is damaged */

/* Goes to the first row whose id is above `after`. Returns 1, 0 if there is
 * none, or one of the two above. */
int page_rows_seek(struct page_rows *p, int64_t after);
/* Reads the current row and moves to the next one of its page. Returns 1, 0 if
 * there is none, which page_rows_seek() may find, or one of the two above. */
int page_rows_take(struct page_rows *p, struct page_row *row);
