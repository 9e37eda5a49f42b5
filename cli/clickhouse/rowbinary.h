/* rowbinary.h - the rows of a reply in ClickHouse's format RowBinary, which
 * comes in pieces from a server that is not trusted.
 *
 * Memory is bounded by the longest row. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct rowbinary;

/* At most: */
#define ROWBINARY_COLUMNS 40
#define ROWBINARY_ROW ((size_t)64 << 20) /* bytes of a row */
#define ROWBINARY_ITEMS (1 << 20)	 /* of all lists of a row */

/* A value of a row; lists have items. Only the member for its type is set. */
struct rowbinary_value {
	union {
		uint64_t u; /* u8, u16, u32, u64 */
		int64_t i;  /* i32, i64 */
		double f;   /* f64 */
	};
	const char *text; /* string, hash: len bytes, no 0 follows */
	size_t len;
	const struct rowbinary_value *item; /* of a list */
	size_t n;
};

/* Takes a row: a value for each column, valid until it returns. Returns 0, or
 * -1 and *err. */
typedef int rowbinary_fn(void *arg, const struct rowbinary_value *row,
			 struct err *err);

/* types: names of types with blanks between them, as "hash u64 string [u16]";
 * they are u8, u16, u32, u64, i32, i64, f64, string and hash (16 bytes), and
 * lists of these. */
struct rowbinary *rowbinary_new(const char *types, rowbinary_fn *fn, void *arg);
void rowbinary_free(struct rowbinary *r); /* NULL is fine */
/* Takes the next n bytes, and gives fn() the rows that are whole, the last of
 * them perhaps later. Returns 0, or -1 and *err if fn() failed, or a row is
 * larger than the limits above. */
int rowbinary_add(struct rowbinary *r, const void *data, size_t n,
		  struct err *err);
/* Gives fn() the last rows. Returns 0, or -1 and *err; it is an error if the
 * bytes do not end with a row. */
int rowbinary_finish(struct rowbinary *r, struct err *err);
