/* line_files.h - reads the checksums of source files in the line tables of
 * DWARF 5.
 *
 * Only the heads of the tables are read: no unit, no line. clang and rustc
 * write an MD5 for each file, gcc 12 does not. */
#pragma once
#include <stdint.h>

#include "symbolize/dwarf/dwarf.h"

struct image;
struct line_files;
struct symbolizer;

/* Reads the tables of the image's file, or of its debug file. Never returns
 * NULL: without checksums the result is empty. */
struct line_files *line_files_open(struct symbolizer *sy,
				   const struct image *img);
void line_files_close(struct line_files *f);
/* dwarf_declared() for an offset in the image. */
void line_files_declared(struct line_files *f, uint64_t off,
			 dwarf_declared_fn *fn, void *arg);
/* Returns the 16 bytes of the file with a path as struct symbol has it, NULL if
 * there is none, or two that differ. */
const uint8_t *line_files_md5(struct line_files *f, const char *path);
