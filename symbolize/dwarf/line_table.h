/* line_table.h - reads the lists of folders and files in a line table of DWARF
 * 5, and computes how much memory libdw would take for one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/bytes.h"

#define MD5_BYTES 16
/* The most forms of an entry; real tables have five. */
#define FORMS_MAX 16

struct elf_file;

/* A table while it is read. */
struct line_table {
	struct bytes strings, line_strings; /* .debug_str, .debug_line_str */
	bool wide;			    /* 64-bit DWARF */
	struct {
		uint64_t content, form;
	} form[FORMS_MAX];
	size_t n_form;
};

/* One folder or file of a table. */
struct line_entry {
	const char *name;
	uint64_t folder;
	const unsigned char *md5;
};
typedef void line_entry_fn(void *arg, const struct line_entry *e);

/* Finds a section of lines or of their strings, unpacked as libdw would do it;
 * empty if there is none. *out is borrowed from ef. */
void line_table_section(const struct elf_file *ef, const char *name,
			struct bytes *out);
/* Takes the next table of a section; *out starts after its length. Returns -1
 * if the section ends before the table does. */
int line_table_take(struct line_table *t, struct bytes *section,
		    struct bytes *out);
/* Reads the next list of a table and calls fn for each entry. Returns -1 if it
 * is damaged, too long, or of a form that no compiler uses. */
int line_table_entries(struct line_table *t, struct bytes *b, line_entry_fn *fn,
		       void *arg);

/* The most memory for the lines of one image at a time: 4 million rows. */
#define LINE_ROWS_BYTES_MAX ((uint64_t)448 << 20)

/* Returns how much memory libdw takes at most for the table at off of
 * .debug_line, or of .debug_line.dwo if the file has that: it keeps 112 bytes
 * for each row, which may be one byte of the file, and for each file its whole
 * path, whose folder is in the file once. Returns UINT64_MAX if the table is
 * damaged, or of a form that no compiler uses; 0 if there is none. folder: the
 * name of the folder in which the compiler ran, or NULL. */
uint64_t line_rows_bytes(const struct elf_file *ef, uint64_t off,
			 const char *folder);
