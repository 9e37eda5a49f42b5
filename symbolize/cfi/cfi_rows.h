/* cfi_rows.h - call frame information as a table of rows. */
#ifndef SYMBOLIZE_CFI_CFI_ROWS_H
#define SYMBOLIZE_CFI_CFI_ROWS_H

struct cfi;
struct unwind_rows;

/* All functions of it; unwind_rows_free() it. O(bytes of the section). */
struct unwind_rows *cfi_rows(const struct cfi *c);
#endif
