/* cfi_rows.h - converts call frame information to a table of rows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cfi;
struct unwind_row;
struct unwind_rows;

/* Returns a table of the functions from number `first` on, each step-th one;
 * free it with unwind_rows_free(). O(bytes of their entries). */
struct unwind_rows *cfi_rows(const struct cfi *c, size_t first, size_t step);

/* The rows of a file's functions, made when they are needed.
 *
 * A capture goes through a small part of the functions of a program: of the
 * 60,000 of a compiler through some thousands, of libc through a hundred. Rows
 * of all functions were a third of the time that a small capture took. */

struct function_rows {
	const struct cfi *c;
	struct unwind_rows **of; /* of each function; NULL: not made yet */
	size_t n;
	size_t rows; /* made so far */
};

/* Creates a table of the functions of c, which is borrowed. */
struct function_rows *function_rows_new(const struct cfi *c);
void function_rows_free(struct function_rows *t);
/* Returns the row of an ELF address, borrowed from the table; it may be
 * ROW_GAP. NULL if no function covers the address. O(log functions + log rows
 * of the function). */
const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr);
