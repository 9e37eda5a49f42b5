/* symbol_names.c - reads the names of all functions of a program, and of its
 * data. */
#include "symbolize/names/symbol_names.h"

#include <gelf.h>

#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/files/locate.h"
#include "symbolize/names/demangle.h"
#include "symbolize/symbolizer.h"

struct function_names {
	struct symbolizer *sy; /* has the buffer for names */
	function_names_fn *fn;
	void *arg;
};

/* A debugfile_fn: reports the names of all functions in a file's symbol table.
 * Returns whether the table has local functions: then it is complete. */
static bool function_names_read(void *arg, const struct elf_file *ef)
{
	struct function_names *f = arg;
	bool local = false;
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	if (!elf_symbols_find(ef, SHT_SYMTAB, &it))
		return false;
	while (elf_symbols_next(&it, &sym, &name)) {
		unsigned int type = GELF_ST_TYPE(sym.st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || !name[0])
			continue;
		local |= GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		f->fn(f->arg, name);
		if (demangle_name(name, f->sy->name, sizeof(f->sy->name)))
			f->fn(f->arg, f->sy->name);
	}
	return local;
}

bool function_names_each(struct symbolizer *sy, const struct image *img,
			 function_names_fn *fn, void *arg)
{
	struct function_names f = { sy, fn, arg };
	struct elf_file *debug = NULL;
	struct identity_answer answer;

	if (img->kind != IMAGE_FILE || !img->id_len)
		return false;
	struct elf_file *ef = locate_open(sy, img, &answer);
	if (!ef || !identity_is_sure(answer.is)) {
		elf_file_close(ef);
		return false;
	}
	bool all = debugfile_try(sy, img, ef, function_names_read, &f, &debug);

	elf_file_close(debug);
	elf_file_close(ef);
	return all;
}

static bool data_names_read(struct symtab *t, const struct elf_file *ef,
			    uint32_t type)
{
	size_t before = t->n;
	struct elf_symbols it;
	GElf_Sym es;
	const char *name;

	if (!elf_symbols_find(ef, type, &it))
		return false;
	while (elf_symbols_next(&it, &es, &name)) {
		unsigned int bind = GELF_ST_BIND(es.st_info);
		struct sym s = { .start = es.st_value, .name = name };

		if (GELF_ST_TYPE(es.st_info) != STT_OBJECT || !es.st_size ||
		    es.st_shndx == SHN_UNDEF || !name[0] ||
		    __builtin_add_overflow(s.start, es.st_size, &s.end))
			continue;
		s.rank = (uint8_t)((bind == STB_WEAK ? 0 : SYM_STRONG) |
				   (bind == STB_GLOBAL ? SYM_GLOBAL : 0));
		symtab_add(t, &s);
	}
	return t->n > before;
}

static bool data_names_read_all(void *arg, const struct elf_file *ef)
{
	return data_names_read(arg, ef, SHT_SYMTAB);
}

/* Returns whether all segments have the same distance of addresses from file
 * offsets, and sets it. */
static bool data_names_distance(const struct elf_file *ef, uint64_t *distance)
{
	for (size_t i = 0; i < ef->n_seg; i++) {
		uint64_t d = ef->seg[i].vaddr - ef->seg[i].off;

		if (i && d != *distance)
			return false;
		*distance = d;
	}
	return ef->n_seg > 0;
}

/* Returns whether the file is proved to be the image's. */
static bool data_names_sure(const struct image *img, const struct elf_file *ef,
			    const struct identity_answer *answer)
{
	const struct identity_code code = { ef->seg, ef->n_seg,
					    identity_span(ef), ef->machine };
	const struct identity_seen seen = {
		.mapped = img->n_part > 0,
		.misfit = !identity_maps(&code, img->part, img->n_part),
	};

	return identity_is_sure(answer->is) &&
	       identity_stands(answer->is, &seen);
}

static int data_names_tell(struct symbolizer *sy, const struct symtab *t,
			   const struct elf_file *ef, const uint64_t *off,
			   size_t n, data_names_fn *fn, void *arg,
			   struct err *err)
{
	uint64_t distance;
	int rc = 0;

	if (!data_names_distance(ef, &distance))
		return 0;
	for (size_t i = 0; !rc && i < n; i++) {
		uint64_t vaddr = off[i] + distance;
		const struct segment *seg =
			elf_segment_at(ef->data, ef->n_data, vaddr);
		const struct sym *s =
			seg && seg->flags & PF_W ? symtab_find(t, vaddr) : NULL;
		bool plain =
			s && demangle_name(s->name, sy->name, sizeof(sy->name));

		if (s)
			rc = fn(arg, off[i], plain ? sy->name : s->name,
				vaddr - s->start, err);
	}
	return rc;
}

int data_names_each(struct symbolizer *sy, const struct image *img,
		    const uint64_t *off, size_t n, data_names_fn *fn, void *arg,
		    struct err *err)
{
	struct elf_file *debug = NULL;
	struct symtab t = { .n = 0 };
	struct identity_answer answer;
	struct elf_file *ef = locate_open(sy, img, &answer);
	int rc = 0;

	if (ef && data_names_sure(img, ef, &answer)) {
		debugfile_try(sy, img, ef, data_names_read_all, &t, &debug);
		data_names_read(&t, ef, SHT_DYNSYM);
		symtab_finish(&t);
		rc = data_names_tell(sy, &t, ef, off, n, fn, arg, err);
	}
	symtab_release(&t);
	elf_file_close(debug);
	elf_file_close(ef);
	return rc;
}
