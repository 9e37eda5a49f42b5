/* rows.h - statements that return rows, and the values of a row.
 *
 * Columns of named queries have names: schema/columns.h. A loop over rows:
 *
 *	struct rows *r = rows_of(db, "code_inlines", err);
 *
 *	while (rows_step(r))
 *		take(rows_text(r, CODE_INLINES_NAME));
 *	return rows_end(r, err);
 *
 * A failure of rows_of() or of a step ends the loop, and rows_end() reports it.
 * A cursor, whose rows are taken one at a time by different calls, steps with
 * rows_next(). Numbers of many rows are read in blocks: rows_ints(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct image;
struct rows;
struct sqlite3_stmt;
struct store;

enum value_kind {
	VALUE_NULL,
	VALUE_INT,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_BLOB
};

/* One value of a row; borrowed until the next rows_next(). text is set for
 * TEXT and, with len, for BLOB. */
struct value {
	enum value_kind kind;
	int64_t num;
	double real;
	const char *text;
	size_t len;
};

/* Binds a copy of a value, of text up to its NUL. Returns SQLite's code: text
 * or a blob may be too long. */
int rows_bind_value(struct sqlite3_stmt *st, int i, const struct value *v);
/* Prepares one statement and binds bind[] to ?1 ... ?n. Text after the first
 * statement is an error, and so is anything but reading on a database that is
 * open for reading. Returns the rows, for rows_close(), or NULL and *err. In
 * all functions that open rows, db may be NULL, from a maker_read() that has
 * filled *err. */
struct rows *rows_open(const struct store *db, const char *sql,
		       const struct value *bind, size_t n_bind,
		       struct err *err);
/* rows_open() for a named query (store_sql) without values. */
struct rows *rows_of(const struct store *db, const char *query,
		     struct err *err);
/* The same with numbers for ?1, ?2 and ?3, which ROWS_BY() takes as
 * arguments. */
struct rows *rows_by(const struct store *db, const char *query,
		     const int64_t *number, size_t n, struct err *err);
#define ROWS_BY(db, query, err, ...)                                           \
	rows_by(db, query, (const int64_t[]){ __VA_ARGS__ },                   \
		sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t),    \
		err)
/* The same for a query whose column 0 is an id that counts 1, 2, 3 ..., so that
 * an array can be indexed by it. A gap is reported as damage of the
 * database. */
struct rows *rows_dense(const struct store *db, const char *query,
			struct err *err);
/* Steps to the next row. Returns false at the end, after a failure, and if r is
 * NULL. */
bool rows_step(struct rows *r);
/* Marks the current row as impossible, which ends the loop with the error that
 * the database is damaged. Only for rows of rows_of() and rows_dense(). */
void rows_unsound(struct rows *r);
/* Closes r. Returns 0; or -1 and *err if a step failed; or -1 if r is NULL, as
 * what opened it has filled *err. */
int rows_end(struct rows *r, struct err *err);
/* Closes r before its end, after a failure of the caller. Returns -1. */
int rows_stop(struct rows *r);
/* Restarts the statement with another value for ?1. Values of its rows become
 * invalid. Returns 0, or -1 and *err. */
int rows_again(struct rows *r, const struct value *bind, struct err *err);
/* Returns the byte of the statement at which rows_open() failed, or -1 if it is
 * not known. Valid right after the failure. */
int store_error_place(const struct store *db);
/* Returns 1 for another row, 0 at the end, -1 and *err on failure. */
int rows_next(struct rows *r, struct err *err);
void rows_close(struct rows *r);

/* Reads the rows of r from the pages of the file if possible (page_rows.h),
 * which takes a quarter of the time. Its query must be for one table in the
 * order of its INTEGER PRIMARY KEY, which is column 0. Call it before the first
 * row. rows_int() and rows_text() of another kind of value are then 0 and
 * "". */
void rows_by_pages(struct rows *r, const char *table);

size_t rows_columns(const struct rows *r);
const char *rows_name(const struct rows *r, size_t i);
struct value rows_value(const struct rows *r, size_t i);
/* Return the value of column i; NULL counts as 0 and "". */
int64_t rows_int(const struct rows *r, size_t i);
/* Returns column i, or none if it is not an integer. */
int64_t rows_int_or(const struct rows *r, size_t i, int64_t none);
const char *rows_text(const struct rows *r, size_t i);
/* Stores column i as the build-id of *img; a value that is not a build-id
 * clears it. */
void rows_build_id(const struct rows *r, size_t i, struct image *img);
/* Stores columns i to i + 6 as kind, path, build-id, device, inode and its
 * generation of *img: without the inode, a file that replaced the mapped one
 * is taken for it. The path is copied to text. */
void rows_image(const struct rows *r, size_t i, struct arena *text,
		struct image *img);

/* ---- whole numbers of many rows, in a quarter of the time. */

/* A row; borrowed until the next rows_next_ints(). */
struct int_row {
	const int64_t *v; /* 0 if the value is no whole number */
	uint32_t known;	  /* bit i: v[i] is one */
};

/* Prepares SELECT 1 FROM ... WHERE id > ?1 AND take_ints(id, ...), with at most
 * 32 columns; its ids must increase. Returns rows for the functions below,
 * rows_unsound(), rows_end() and rows_close(), or NULL and *err. */
struct rows *rows_ints(const struct store *db, const char *sql,
		       struct err *err);
/* The same for n columns of a table, the first of which is its INTEGER PRIMARY
 * KEY, or "rowid" of a table without one. The columns must not need quotes; the
 * table may. Reads the pages of the file if possible. */
struct rows *rows_ints_of(const struct store *db, const char *table,
			  const char *const *column, size_t n, struct err *err);
/* The same for ids that count 1, 2, 3 ..., as rows_dense(). */
struct rows *rows_ints_dense(const struct store *db, const char *table,
			     const char *const *column, size_t n,
			     struct err *err);
/* As rows_step() and rows_next(). */
bool rows_step_ints(struct rows *r, struct int_row *row);
int rows_next_ints(struct rows *r, struct int_row *row, struct err *err);
/* Moves to the first row whose id is not below `id`. Returns 1 and *row if it
 * has that id, 0 if not, -1 and *err on failure. */
int rows_seek_ints(struct rows *r, int64_t id, struct int_row *row,
		   struct err *err);
/* Returns the text in a column of a row, borrowed as long as the row; NULL if
 * it is not a text, or longer than TEXT_MAX. */
const char *rows_word(const struct rows *r, const struct int_row *row,
		      size_t column);
