/* function_names.c - the names of all functions of a program. */
#include "symbolize/names/function_names.h"

#include <gelf.h>

#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/files/locate.h"
#include "symbolize/names/demangle.h"
#include "symbolize/symbolizer.h"

struct function_names {
	struct symbolizer *sy; /* for its buffer */
	function_names_fn *fn;
	void *arg;
};

/* A debugfile_fn: reads the table of a file that has local functions. */
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
	struct identity_answer said;

	if (img->kind != IMAGE_FILE || !img->id_len)
		return false;
	struct elf_file *ef = locate_open(sy, img, &said);
	if (!ef || !identity_is_sure(said.is)) {
		elf_file_close(ef);
		return false;
	}
	bool all = debugfile_try(sy, img, ef, function_names_read, &f, &debug);

	elf_file_close(debug);
	elf_file_close(ef);
	return all;
}
