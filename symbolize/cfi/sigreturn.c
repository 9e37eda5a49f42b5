/* sigreturn.c - the vdso functions that return from signal handlers. */
#include "symbolize/cfi/sigreturn.h"

#include <gelf.h>
#include <string.h>

#include "symbolize/elf/elf.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/cfi/unwind_rows.h"

/* A vdso has about ten dynamic symbols, and such a function has two
 * instructions. */
#define SYMBOLS_MAX 256
#define SIZE_MAX_BYTES 16

struct sigreturn sigreturn_find(const struct elf_file *ef)
{
	struct sigreturn found = { .rt = { 0, 0 }, .old = { 0, 0 } };
	struct elf_section s;
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	if ((ef->machine != EM_AARCH64 && ef->machine != EM_S390) ||
	    !elf_section_find(ef, ".dynsym", &s) ||
	    !elf_symbols_open(ef, &s, &it))
		return found;
	while (elf_symbols_next(&it, &sym, &name) && it.i <= SYMBOLS_MAX) {
		if (sym.st_size > SIZE_MAX_BYTES || !sym.st_size ||
		    !sym.st_value)
			continue;
		uint64_t end = sym.st_value + sym.st_size;
		if (!strcmp(name, "__kernel_rt_sigreturn")) {
			found.rt.start = sym.st_value;
			found.rt.end = end;
		} else if (!strcmp(name, "__kernel_sigreturn")) {
			found.old.start = sym.st_value;
			found.old.end = end;
		}
	}
	return found;
}

/* A handler returns to the first instruction, and rows are looked up at return
 * address - 1. */
bool sigreturn_row(const struct sigreturn *s, uint64_t vaddr,
		   struct unwind_row *out)
{
	bool rt = s->rt.end && vaddr + 1 >= s->rt.start && vaddr < s->rt.end;
	bool old =
		s->old.end && vaddr + 1 >= s->old.start && vaddr < s->old.end;

	if (!rt && !old)
		return false;
	*out = (struct unwind_row){
		.how = ROW_SIGNAL | ROW_INTERRUPTED,
		.cfa = old,
		.fp = ROW_SAME,
		.ra = ROW_SAME,
	};
	return true;
}
