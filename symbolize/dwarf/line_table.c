/* line_table.c - the lists of folders and files in a line table of DWARF 5. */
#include "symbolize/dwarf/line_table.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/elf.h"

/* Real tables have some hundred folders, some thousand files. */
#define ENTRIES_MAX 100000
/* All entries may name the same long string. */
#define NAME_BYTES_MAX 4096

/* ---- values */

/* Returns the string, or NULL if it does not end within `most` bytes. */
static const char *line_string_at(const struct bytes *section, uint64_t off,
				  size_t most)
{
	if (off >= bytes_left(section))
		return NULL;
	size_t left = bytes_left(section) - (size_t)off;

	if (!memchr(section->pos + off, '\0', left < most ? left : most))
		return NULL;
	return (const char *)section->pos + off;
}

/* Reads a value, or steps over it. Returns -1 if its form is not known. */
static int line_value(struct line_table *t, struct bytes *b, uint64_t form,
		      struct line_entry *e, uint64_t content)
{
	unsigned int offset = t->wide ? 8 : 4;
	const char *text = NULL;
	uint64_t v = 0;

	switch (form) {
	case DW_FORM_string:
		text = line_string_at(b, 0, SIZE_MAX);
		if (text && bytes_skip(b, strlen(text) + 1, NULL))
			text = NULL;
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		if (dwarf_number_fixed(b, offset, false, &v))
			return -1;
		text = line_string_at(form == DW_FORM_strp ? &t->strings
							   : &t->line_strings,
				      v, NAME_BYTES_MAX);
		break;
	case DW_FORM_udata:
		if (leb128_unsigned(b, &v))
			return -1;
		break;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		if (dwarf_number_fixed(b,
				       form == DW_FORM_data1   ? 1
				       : form == DW_FORM_data2 ? 2
				       : form == DW_FORM_data4 ? 4
							       : 8,
				       false, &v))
			return -1;
		break;
	case DW_FORM_data16:
		if (content == DW_LNCT_MD5)
			e->md5 = b->pos;
		return bytes_skip(b, MD5_BYTES, NULL);
	case DW_FORM_block:
		return leb128_unsigned(b, &v) ? -1 : bytes_skip(b, v, NULL);
	default:
		return -1;
	}
	if (content == DW_LNCT_path)
		e->name = text;
	else if (content == DW_LNCT_directory_index)
		e->folder = v;
	return content == DW_LNCT_path && !text ? -1 : 0;
}

/* ---- lists */

int line_table_entries(struct line_table *t, struct bytes *b, line_entry_fn *fn,
		       void *arg)
{
	uint64_t n = 0;

	if (dwarf_number_fixed(b, 1, false, &n) || n > FORMS_MAX)
		return -1;
	t->n_form = n;
	for (size_t i = 0; i < t->n_form; i++)
		if (leb128_unsigned(b, &t->form[i].content) ||
		    leb128_unsigned(b, &t->form[i].form))
			return -1;
	if (leb128_unsigned(b, &n) || n > ENTRIES_MAX)
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		struct line_entry e = { .name = "" };

		for (size_t k = 0; k < t->n_form; k++)
			if (line_value(t, b, t->form[k].form, &e,
				       t->form[k].content))
				return -1;
		fn(arg, &e);
	}
	return 0;
}

/* ---- tables */

int line_table_take(struct line_table *t, struct bytes *section,
		    struct bytes *out)
{
	uint64_t len = 0;

	if (dwarf_number_fixed(section, 4, false, &len))
		return -1;
	t->wide = len == 0xffffffff;
	return t->wide && dwarf_number_fixed(section, 8, false, &len)
		       ? -1
		       : bytes_take(section, len, out, NULL);
}

/* Finds a section, or the one whose name says that it was compressed the old
 * way. */
static bool line_table_find(const struct elf_file *ef, const char *name,
			    struct elf_section *out)
{
	char old[32];

	if (elf_section_find(ef, name, out))
		return true;
	snprintf(old, sizeof(old), ".z%s", name + 1);
	return elf_section_find(ef, old, out);
}

void line_table_section(const struct elf_file *ef, const char *name,
			struct bytes *out)
{
	struct elf_section s;
	Elf_Data *d = NULL;

	if (line_table_find(ef, name, &s)) {
		/* a section that is not compressed stays as it is, and so does
		 * one that libdw unpacked, whose old name is left */
		if (s.name[1] == 'z')
			elf_compress_gnu(s.scn, 0, 0);
		else if (s.flags & SHF_COMPRESSED)
			elf_compress(s.scn, 0, 0);
		d = elf_getdata(s.scn, NULL);
	}
	bytes_init(out, d && d->d_buf ? d->d_buf : "",
		   d && d->d_buf ? d->d_size : 0, name, 0, ef->swap);
}
