/* line_table.c - reads the lists of folders and files in a line table of DWARF
 * 5, and computes how much memory libdw would take for one. */
#include "symbolize/dwarf/line_table.h"

#include <dwarf.h>

#include "stitch/base/mem.h"
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

/* Reads a value, or skips it. Returns -1 if its form is unknown. */
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

void line_table_section(const struct elf_file *ef, const char *name,
			struct bytes *out)
{
	struct elf_section s;
	Elf_Data *d = NULL;

	char old[32];

	/* the section, or the one with the name of the old compression */
	snprintf(old, sizeof(old), ".z%s", name + 1);
	if (elf_section_find(ef, name, &s) || elf_section_find(ef, old, &s)) {
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

/* The memory of libdw 0.188 for a row: a list item, its copy in the sorted
 * table, and the pointer for sorting; and for a file or folder, besides its
 * name. */
#define ROW_BYTES 112
#define FILE_BYTES 64
/* Folders of compilers have shorter names, and the name is in each path. */
#define FOLDER_MAX 4096
/* Programs up to this size are not walked: each byte counts as a row. */
#define SHORT ((size_t)64 << 10)

struct line_rows {
	struct line_table table;
	uint64_t sum;
	size_t folder; /* length of the name of the folder in which the compiler
			  ran; longest: of a folder in the table. Both may be
			  prefixed to a name */
	size_t longest;
	uint8_t version, opcodes;
	const uint8_t *args; /* of standard opcodes, by number - 1 */
};

static void line_rows_add(struct line_rows *r, uint64_t n)
{
	if (__builtin_add_overflow(r->sum, n, &r->sum))
		r->sum = UINT64_MAX;
}

static void line_rows_add_folder(void *arg, const struct line_entry *e)
{
	struct line_rows *r = arg;
	size_t n = strlen(e->name);

	raise_to(r->longest, n);
	line_rows_add(r, FILE_BYTES);
}

static void line_rows_add_file(void *arg, const struct line_entry *e)
{
	struct line_rows *r = arg;

	line_rows_add(r, FILE_BYTES + strlen(e->name) + r->longest + r->folder);
}

/* ---- the head */

/* Reads a list of DWARF 2 to 4, which ends with an empty name. */
static int line_rows_list(struct line_rows *r, struct bytes *b,
			  line_entry_fn *fn, int numbers)
{
	struct line_entry e = { .md5 = NULL };
	uint64_t v;

	for (;;) {
		if (bytes_str(b, &e.name, NULL))
			return -1;
		if (!*e.name)
			return 0;
		for (int i = 0; i < numbers; i++)
			if (leb128_unsigned(b, &v))
				return -1;
		fn(r, &e);
	}
}

/* Reads the head, from after its length, up to the end of its lists. */
static int line_rows_head(struct line_rows *r, struct bytes *b)
{
	/* smallest instruction, operations (from 4 on), is_stmt, the base and
	 * the range of lines */
	if (bytes_skip(b, r->version >= 4 ? 5 : 4, NULL) ||
	    bytes_u8(b, &r->opcodes, NULL) || !r->opcodes)
		return -1;
	r->args = b->pos;
	if (bytes_skip(b, r->opcodes - 1u, NULL))
		return -1;
	if (r->version >= 5)
		return line_table_entries(&r->table, b, line_rows_add_folder, r)
			       ?: line_table_entries(&r->table, b,
						     line_rows_add_file, r);
	return line_rows_list(r, b, line_rows_add_folder, 0)
		       ?: line_rows_list(r, b, line_rows_add_file, 3);
}

/* ---- the program */

/* Counts the rows of a program, up to its end or to something unknown. */
static void line_rows_walk(struct line_rows *r, struct bytes *b)
{
	uint8_t op;

	while (!bytes_u8(b, &op, NULL)) {
		struct line_entry e = { .md5 = NULL };
		struct bytes in;
		uint64_t v;

		if (op >= r->opcodes) {
			line_rows_add(r, ROW_BYTES);
			continue;
		}
		if (op == DW_LNS_copy)
			line_rows_add(r, ROW_BYTES);
		if (op == DW_LNS_fixed_advance_pc) {
			if (bytes_skip(b, 2, NULL))
				return;
		} else if (op) {
			for (uint8_t i = 0; i < r->args[op - 1]; i++)
				if (leb128_unsigned(b, &v))
					return;
		} else {
			/* an extended one, with its length */
			if (leb128_unsigned(b, &v) ||
			    bytes_take(b, v, &in, NULL) ||
			    bytes_u8(&in, &op, NULL))
				return;
			if (op == DW_LNE_end_sequence)
				line_rows_add(r, ROW_BYTES);
			else if (op == DW_LNE_define_file &&
				 !bytes_str(&in, &e.name, NULL))
				line_rows_add_file(r, &e);
		}
	}
}

/* ---- all of it */

uint64_t line_rows_bytes(const struct elf_file *ef, uint64_t off,
			 const char *folder)
{
	struct line_rows r = { .folder = folder ? strnlen(folder, FOLDER_MAX)
						: 0 };
	uint64_t version, len;
	struct bytes all, b, head;

	line_table_section(ef, ".debug_line", &all);
	if (!bytes_left(&all))
		line_table_section(ef, ".debug_line.dwo", &all);
	if (!bytes_left(&all) || bytes_skip(&all, off, NULL) ||
	    line_table_take(&r.table, &all, &b))
		return 0;
	line_table_section(ef, ".debug_str", &r.table.strings);
	line_table_section(ef, ".debug_line_str", &r.table.line_strings);
	if (r.folder == FOLDER_MAX ||
	    dwarf_number_fixed(&b, 2, false, &version) || version < 2 ||
	    version > 5 || (version == 5 && bytes_skip(&b, 2, NULL)) ||
	    dwarf_number_fixed(&b, r.table.wide ? 8 : 4, false, &len))
		return UINT64_MAX;
	r.version = (uint8_t)version;
	head = b;
	if (line_rows_head(&r, &head) || bytes_skip(&b, len, NULL))
		return UINT64_MAX;
	/* a file that the program adds takes more than its bytes if its folder
	 * has a long name */
	if (bytes_left(&b) > SHORT || r.folder + r.longest > ROW_BYTES)
		line_rows_walk(&r, &b);
	else
		line_rows_add(&r, bytes_left(&b) * ROW_BYTES);
	return r.sum;
}
