/* cfi_rows.h - converts call frame information to a table of rows. */
#pragma once

#include <stddef.h>

struct cfi;
struct unwind_rows;

/* Returns a table of all functions; free it with unwind_rows_free(). O(bytes of
 * the section). */
struct unwind_rows *cfi_rows(const struct cfi *c);
/* The same of function i alone, see function_rows.h; SIZE_MAX: of all. */
struct unwind_rows *cfi_rows_of(const struct cfi *c, size_t i);
