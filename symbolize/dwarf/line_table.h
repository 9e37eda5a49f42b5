/* line_table.h - the lists of folders and files in a line table of DWARF 5. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/bytes.h"

#define MD5_BYTES 16
/* Real tables have five forms. */
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

/* Finds a section of lines or of their strings, which libdw would unpack, too;
 * empty if there is none. *out is borrowed from ef. */
void line_table_section(const struct elf_file *ef, const char *name,
			struct bytes *out);
/* Takes the next table of a section, from after its length on. Returns -1 if
 * the section ends before it does. */
int line_table_take(struct line_table *t, struct bytes *section,
		    struct bytes *out);
/* Reads the next list of a table and calls fn for each entry. Returns -1 if it
 * is damaged, too long, or of a form that no compiler uses. */
int line_table_entries(struct line_table *t, struct bytes *b, line_entry_fn *fn,
		       void *arg);
