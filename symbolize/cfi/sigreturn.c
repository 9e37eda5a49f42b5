/* sigreturn.c - the vdso functions that return from signal handlers. */
#include "symbolize/cfi/sigreturn.h"

#include <gelf.h>

#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/cfi/unwind_rows.h"

/* A vdso has about ten dynamic symbols, and such a function has two
 * instructions. */
#define SYMBOLS_MAX 256
#define SIZE_MAX_BYTES 16

struct sigreturn sigreturn_find(const struct elf_file *ef)
{
	static const char *const names[] = { "__kernel_rt_sigreturn",
					     "__kernel_sigreturn" };
	struct sigreturn found = { .end = { 0 } };
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
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(name, names[i])) {
				found.start[i] = sym.st_value;
				found.end[i] = sym.st_value + sym.st_size;
			}
	}
	return found;
}

/* A handler returns to the first instruction, and rows are looked up at return
 * address - 1. */
bool sigreturn_row(const struct sigreturn *s, uint64_t vaddr,
		   struct unwind_row *out)
{
	for (int i = 0; i < 2; i++)
		if (s->end[i] && vaddr + 1 >= s->start[i] &&
		    vaddr < s->end[i]) {
			*out = (struct unwind_row){
				.how = ROW_SIGNAL | ROW_INTERRUPTED,
				.cfa = i,
				.fp = ROW_SAME,
				.ra = ROW_SAME,
			};
			return true;
		}
	return false;
}
