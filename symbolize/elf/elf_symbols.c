/* elf_symbols.c - iterates over a symbol table of an untrusted ELF file. */
#include "symbolize/elf/elf_symbols.h"

bool elf_symbols_open(const struct elf_file *ef,
		      const struct elf_section *table, struct elf_symbols *out)
{
	size_t each = gelf_fsize(ef->elf, ELF_T_SYM, 1, EV_CURRENT);

	*out = (struct elf_symbols){ .data = elf_section_data(table), .i = 1 };
	if (!out->data || out->data->d_type != ELF_T_SYM || !each ||
	    !elf_section_get(ef, table->link, &out->strings) ||
	    out->strings.type != SHT_STRTAB)
		return false;
	Elf_Data *d = elf_section_data(&out->strings);
	if (!d)
		return false;
	out->n = out->data->d_size / each;
	if (out->n > INT32_MAX)
		out->n = INT32_MAX;
	/* Any name that starts before the last 0 byte ends inside the table. */
	out->text = d->d_buf;
	out->len = d->d_size;
	while (out->len && out->text[out->len - 1])
		out->len--;
	return true;
}

bool elf_symbols_find(const struct elf_file *ef, uint32_t type,
		      struct elf_symbols *out)
{
	size_t n = elf_sections(ef);
	struct elf_section s;

	for (size_t i = 1; i < n; i++)
		if (elf_section_get(ef, i, &s) && s.type == type &&
		    elf_symbols_open(ef, &s, out))
			return true;
	return false;
}

bool elf_symbols_next(struct elf_symbols *it, GElf_Sym *sym, const char **name)
{
	if (it->i >= it->n || !gelf_getsym(it->data, (int)it->i, sym))
		return false;
	it->i++;
	*name = sym->st_name < it->len ? it->text + sym->st_name : "";
	return true;
}
