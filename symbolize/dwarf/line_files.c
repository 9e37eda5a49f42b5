/* line_files.c - reads the checksums of source files in the line tables of
 * DWARF 5, and the functions that a unit declares in them. */
#include "symbolize/dwarf/line_files.h"

#include <stdbool.h>

#include "stitch/base/bytes.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"

#define PATH_BYTES 4096

struct line_file {
	uint8_t md5[MD5_BYTES];
	bool two; /* two tables have different checksums */
};

struct line_files {
	struct line_file *file; /* by the id of its path */
	size_t n, cap;
	struct intern paths;
	struct elf_file *code, *lines; /* the files of code and of lines, which
					  may be the same; NULL: none */
};

/* A table while it is read. */
struct line_reading {
	struct line_files *out;
	struct line_table table;
	const char **folder;
	size_t n_folder, cap_folder;
};

static void line_add_folder(void *arg, const struct line_entry *e)
{
	struct line_reading *r = arg;

	*mem_add(r->folder, r->n_folder, r->cap_folder) = e->name;
}

/* Stores a checksum under the path that libdw makes for the file: its folder
 * and its name; folders are below the first one, in which the compiler ran. */
static void line_add_file(void *arg, const struct line_entry *e)
{
	const struct line_reading *r = arg;
	const char *run = r->n_folder ? r->folder[0] : "";
	const char *dir = e->folder < r->n_folder ? r->folder[e->folder] : "";
	struct line_files *out = r->out;
	char path[PATH_BYTES];

	if (!e->md5)
		return;
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

struct line_files *line_files_open(struct symbolizer *sy,
				   const struct image *img)
{
	struct line_files *f = mem_new(1, sizeof(*f));
	struct identity_answer said;
	struct elf_file *ef =
		img->kind == IMAGE_FILE ? locate_open(sy, img, &said) : NULL;
	struct elf_section s;

	f->code = ef;
	if (ef && !elf_section_find(ef, ".debug_line", &s))
		ef = debugfile_open(sy, img, ef);
	f->lines = ef;
	/* checks that no section is a bomb, and that strings end */
	if (!ef || !dwarf_sections_readable(ef, ".debug_line"))
		return f;
	struct line_reading r = { .out = f };
	struct bytes all;
	struct bytes b;

	line_table_section(ef, ".debug_line", &all);
	line_table_section(ef, ".debug_str", &r.table.strings);
	line_table_section(ef, ".debug_line_str", &r.table.line_strings);
	while (!line_table_take(&r.table, &all, &b)) {
		uint64_t version = 0;
		uint64_t opcodes = 0;

		if (dwarf_number_fixed(&b, 2, false, &version) || version != 5)
			continue;
		/* sizes of addresses and selectors, length of the head, and
		 * five numbers about opcodes and lines */
		if (bytes_skip(&b, 2 + (r.table.wide ? 8 : 4) + 5, NULL) ||
		    dwarf_number_fixed(&b, 1, false, &opcodes) || !opcodes ||
		    bytes_skip(&b, opcodes - 1, NULL))
			continue;
		r.n_folder = 0;
		if (!line_table_entries(&r.table, &b, line_add_folder, &r))
			line_table_entries(&r.table, &b, line_add_file, &r);
	}
	free(r.folder);
	return f;
}

void line_files_close(struct line_files *f)
{
	if (!f)
		return;
	if (f->lines != f->code)
		elf_file_close(f->lines);
	elf_file_close(f->code);
	free(f->file);
	intern_release(&f->paths);
	free(f);
}

void line_files_declared(struct line_files *f, uint64_t off,
			 dwarf_declared_fn *fn, void *arg)
{
	uint64_t vaddr;

	if (!f->lines || !elf_vaddr(f->code->seg, f->code->n_seg, off, &vaddr))
		return;
	struct dwarf_file *df = dwarf_open(f->lines, NULL);

	dwarf_declared(df, vaddr, fn, arg);
	dwarf_close(df);
}

const uint8_t *line_files_md5(struct line_files *f, const char *path)
{
	uint32_t id = intern_add(&f->paths, path);

	return id < f->n && !f->file[id].two ? f->file[id].md5 : NULL;
}
