/* line_files.c - the checksums of source files in the line tables of DWARF 5.
 */
#include "symbolize/dwarf/line_files.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/bytes.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/files/locate.h"

#define MD5_BYTES 16
#define PATH_BYTES 4096
/* Real tables have five forms, some hundred folders, some thousand files. */
#define FORMS_MAX 16
#define ENTRIES_MAX 100000

struct line_file {
	uint8_t md5[MD5_BYTES];
	bool two; /* tables disagree */
};

struct line_files {
	struct line_file *file; /* by id in paths */
	size_t n, cap;
	struct intern paths;
};

/* A table while it is read. */
struct line_table {
	struct line_files *out;
	struct bytes strings, line_strings; /* .debug_str, .debug_line_str */
	bool wide;			    /* 64-bit DWARF */
	struct {
		uint64_t content, form;
	} form[FORMS_MAX];
	size_t n_form;
	const char **folder;
	size_t n_folder, cap_folder;
};

/* One folder or file of a table. */
struct line_entry {
	const char *name;
	uint64_t folder;
	const unsigned char *md5;
};

/* ---- values */

static const char *line_string_at(const struct bytes *section, uint64_t off)
{
	if (off >= bytes_left(section) ||
	    !memchr(section->pos + off, '\0', bytes_left(section) - off))
		return NULL;
	return (const char *)section->pos + off;
}

static const char *line_string_here(struct bytes *b)
{
	const char *s = line_string_at(b, 0);

	return s && !bytes_skip(b, strlen(s) + 1, NULL) ? s : NULL;
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
		text = line_string_here(b);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		if (dwarf_number_fixed(b, offset, false, &v))
			return -1;
		text = line_string_at(form == DW_FORM_strp ? &t->strings
							   : &t->line_strings,
				      v);
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

/* ---- tables */

static int line_read_forms(struct line_table *t, struct bytes *b)
{
	uint64_t n = 0;

	if (dwarf_number_fixed(b, 1, false, &n) || n > FORMS_MAX)
		return -1;
	t->n_form = n;
	for (size_t i = 0; i < n; i++)
		if (leb128_unsigned(b, &t->form[i].content) ||
		    leb128_unsigned(b, &t->form[i].form))
			return -1;
	return 0;
}

/* Stores a checksum under the path that libdw gives the file: that of its
 * folder and its name; folders are below the first, where the compiler ran. */
static void line_keep(struct line_table *t, const struct line_entry *e)
{
	const char *run = t->n_folder ? t->folder[0] : "";
	const char *dir = e->folder < t->n_folder ? t->folder[e->folder] : "";
	struct line_files *out = t->out;
	char path[PATH_BYTES];

	if (*e->name == '/')
		snprintf(path, sizeof(path), "%s", e->name);
	else if (*dir == '/' || dir == run)
		snprintf(path, sizeof(path), "%s/%s", dir, e->name);
	else
		snprintf(path, sizeof(path), "%s/%s/%s", run, dir, e->name);
	uint32_t id = intern_add(&out->paths, path);

	if (id == out->n) {
		struct line_file *f = mem_add(out->file, out->n, out->cap);

		memcpy(f->md5, e->md5, MD5_BYTES);
		f->two = false;
	} else if (memcmp(out->file[id].md5, e->md5, MD5_BYTES) != 0) {
		out->file[id].two = true;
	}
}

static int line_read_entries(struct line_table *t, struct bytes *b, bool files)
{
	uint64_t n = 0;

	if (line_read_forms(t, b) || leb128_unsigned(b, &n) || n > ENTRIES_MAX)
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		struct line_entry e = { .name = "" };

		for (size_t k = 0; k < t->n_form; k++)
			if (line_value(t, b, t->form[k].form, &e,
				       t->form[k].content))
				return -1;
		if (files && e.md5)
			line_keep(t, &e);
		if (!files)
			*mem_add(t->folder, t->n_folder, t->cap_folder) =
				e.name;
	}
	return 0;
}

/* Reads the head of a table, from behind its length on. */
static void line_read_table(struct line_table *t, struct bytes *b)
{
	uint64_t version = 0;
	uint64_t opcodes = 0;

	if (dwarf_number_fixed(b, 2, false, &version) || version != 5)
		return;
	/* sizes of addresses and selectors, length of the head, and five
	 * numbers about opcodes and lines */
	if (bytes_skip(b, 2 + (t->wide ? 8 : 4) + 5, NULL) ||
	    dwarf_number_fixed(b, 1, false, &opcodes) || !opcodes ||
	    bytes_skip(b, opcodes - 1, NULL))
		return;
	t->n_folder = 0;
	if (!line_read_entries(t, b, false))
		line_read_entries(t, b, true);
}

static void line_section(const struct elf_file *ef, const char *name,
			 struct bytes *out)
{
	struct elf_section s;
	Elf_Data *d = NULL;

	if (elf_section_find(ef, name, &s)) {
		/* a section that is not compressed stays as it is */
		if (s.flags & SHF_COMPRESSED)
			elf_compress(s.scn, 0, 0);
		d = elf_getdata(s.scn, NULL);
	}
	bytes_init(out, d && d->d_buf ? d->d_buf : "",
		   d && d->d_buf ? d->d_size : 0, name, 0, ef->swap);
}

static void line_read_all(struct line_files *f, const struct elf_file *ef)
{
	struct line_table t = { .out = f };
	struct bytes all;
	struct bytes one;
	uint64_t len = 0;

	line_section(ef, ".debug_line", &all);
	line_section(ef, ".debug_str", &t.strings);
	line_section(ef, ".debug_line_str", &t.line_strings);
	while (!dwarf_number_fixed(&all, 4, false, &len)) {
		t.wide = len == 0xffffffff;
		if ((t.wide && dwarf_number_fixed(&all, 8, false, &len)) ||
		    bytes_take(&all, len, &one, NULL))
			break;
		line_read_table(&t, &one);
	}
	free(t.folder);
}

struct line_files *line_files_open(struct symbolizer *sy,
				   const struct image *img)
{
	struct line_files *f = mem_new(1, sizeof(*f));
	bool other;
	struct elf_file *ef =
		img->kind == IMAGE_FILE ? locate_open(sy, img, &other) : NULL;
	struct elf_section s;

	if (ef && !elf_section_find(ef, ".debug_line", &s)) {
		struct elf_file *debug = debugfile_open(sy, img, ef);

		elf_file_close(ef);
		ef = debug;
	}
	/* checks that no section is a bomb, and that strings end */
	if (ef && dwarf_sections_readable(ef, ".debug_line"))
		line_read_all(f, ef);
	elf_file_close(ef);
	return f;
}

void line_files_close(struct line_files *f)
{
	if (!f)
		return;
	free(f->file);
	intern_release(&f->paths);
	free(f);
}

const uint8_t *line_files_md5(struct line_files *f, const char *path)
{
	uint32_t id = intern_add(&f->paths, path);

	return id < f->n && !f->file[id].two ? f->file[id].md5 : NULL;
}
