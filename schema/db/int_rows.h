/* int_rows.h - rows of whole numbers, read many at a time.
 *
 * For a million rows sqlite3_step() and a sqlite3_column_int64() for each
 * column take as long as all else that SQLite does. Here one step runs the
 * statement until a block is full: its columns are the arguments of a function,
 * take_ints(), which copies them and is true of the last row of a block only.
 * The statement then goes on where it is: to find its place again by an id, it
 * would have to trust a tree that may be damaged. Columns of one table need no
 * statement: int_rows_of(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct int_rows;
struct store;

/* A row; borrowed until the next int_rows_next(). */
struct int_row {
	const int64_t *v; /* 0 if the value is no whole number */
	uint32_t known;	  /* bit i: v[i] is one */
};

/* Prepares SELECT 1 FROM ... WHERE id > ?1 AND take_ints(id, ...), whose rows
 * come by increasing id, of at most 32 columns; other ids are an error. Returns
 * NULL and *err on failure. */
struct int_rows *int_rows_open(struct store *db, const char *sql,
			       struct err *err);
/* The same for n columns of a table, of which the first one is its INTEGER
 * PRIMARY KEY, or "rowid" of a table without one. Their names are those of
 * plain columns; the table is any. The pages of the file are read directly
 * where that can be (page_rows.h), which takes a third of the time. */
struct int_rows *int_rows_of(struct store *db, const char *table,
			     const char *const *column, size_t n,
			     struct err *err);
void int_rows_close(struct int_rows *r);
/* Returns 1 and *row, 0 at the end, -1 and *err on failure. */
int int_rows_next(struct int_rows *r, struct int_row *row, struct err *err);
/* Moves to the first row whose id is not below `id`. Returns 1 and *row if it
 * has that id, 0 if not, -1 and *err on failure. */
int int_rows_seek(struct int_rows *r, int64_t id, struct int_row *row,
		  struct err *err);
/* Like int_rows_of(), where ids count 1, 2, 3 ...; a gap is the error that the
 * database is damaged. */
struct int_rows *int_rows_dense(struct store *db, const char *table,
				const char *const *column, size_t n,
				struct err *err);
/* A loop over all rows, which ends at a failure, as rows_step() and rows_end()
 * of rows.h; int_rows_unsound() is for rows of int_rows_dense() only. */
bool int_rows_step(struct int_rows *r, struct int_row *row);
void int_rows_unsound(struct int_rows *r);
int int_rows_end(struct int_rows *r, struct err *err);
/* Returns the text in a column of a row, borrowed like that; NULL: it is none,
 * or longer than a word. */
const char *int_rows_text(const struct int_rows *r, const struct int_row *row,
			  size_t column);
