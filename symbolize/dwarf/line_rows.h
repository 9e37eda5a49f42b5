/* line_rows.h - how much memory libdw would take for a line table.
 *
 * It keeps 112 bytes for each row, which may be one byte of the file, and for
 * each file its whole path, whose folder the file states once. */
#pragma once
#include <stdint.h>

/* What is read of one image at a time: 4 million rows. */
#define LINE_ROWS_BYTES_MAX ((uint64_t)448 << 20)

struct elf_file;

/* Returns an upper bound for the table at off of .debug_line, or of
 * .debug_line.dwo if that is what the file has; UINT64_MAX: it is
 * damaged, or of a form that no compiler uses; 0: there is none. folder: the
 * name of the folder in which the compiler ran, or NULL. */
uint64_t line_rows_bytes(const struct elf_file *ef, uint64_t off,
			 const char *folder);
