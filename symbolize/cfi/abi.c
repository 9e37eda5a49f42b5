/* abi.c - registers, signal frames, and the vdso functions that return from
 * them, of the machines that can be unwound. */
#include "symbolize/cfi/abi.h"

#include <elf.h>
#include <gelf.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/elf/elf.h"

/* A vdso has about ten dynamic symbols, and a function that returns from a
 * signal has two instructions. */
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

/* Maps register numbers of uapi/asm/perf_regs.h to those of DWARF (psABI). */
static const int8_t x86_64[] = { 0,  3,	 2,  1,	 4, 5, 6,  7,  16, -1, -1, -1,
				 -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };
static const int8_t x86[] = { 0, 3, 1, 2, 6, 7, 5, 4, 8 };
static const int8_t aarch64[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};
static const int8_t s390x[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,
	16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
};

/* Signal frames: arch/ * /include/uapi/asm/sigcontext.h and kernel/signal.c;
 * for AArch64 and s390x those of rt_sigreturn. */
static const struct abi abis[] = {
	{
		.machine = EM_X86_64,
		.word = 8,
		.sp = 7,
		.fp = 6,
		.ra = 16,
		.link = -1,
		.n_reg = 17,
		.perf_pc = 8,
		.dwarf = x86_64,
		.n_dwarf = ARRAY_SIZE(x86_64),
		.signal = { { 160, 120, 168, 0 } },
	},
	{
		.machine = EM_386,
		.word = 4,
		.sp = 4,
		.fp = 5,
		.ra = 8,
		.link = -1,
		.n_reg = 9,
		.perf_pc = 8,
		.dwarf = x86,
		.n_dwarf = ARRAY_SIZE(x86),
	},
	{
		.machine = EM_AARCH64,
		.word = 8,
		.sp = 31,
		.fp = 29,
		.ra = 30,
		.link = 30,
		.n_reg = ABI_REGS,
		.perf_pc = 32,
		.dwarf = aarch64,
		.n_dwarf = ARRAY_SIZE(aarch64),
		.signal = { { 560, 544, 568, 552 } },
	},
	{
		.machine = EM_S390,
		.word = 8,
		.sp = 15,
		.fp = 11,
		.ra = 14,
		.link = 14,
		.sp_below = 160,
		.n_reg = 32,
		.perf_pc = 33,
		.dwarf = s390x,
		.n_dwarf = ARRAY_SIZE(s390x),
		.signal = { { 472, 440, 344, 464 }, { 312, 280, 184, 304 } },
	},
};

const struct abi *abi_of(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(abis); i++)
		if (abis[i].machine == machine)
			return &abis[i];
	return NULL;
}

void abi_values(const struct abi *abi, const struct regs *regs,
		struct abi_values *out)
{
	out->have = 0;
	out->pc = 0;
	memset(out->reg, 0, sizeof(out->reg));
	if (!regs || !regs->v || !regs->abi)
		return;
	uint64_t left = regs->mask;

	/* values are in the order of the set bits */
	for (uint32_t i = 0; left && i < regs->n; i++, left &= left - 1) {
		int perf = __builtin_ctzll(left);

		if (perf == abi->perf_pc)
			out->pc = regs->v[i];
		if (perf >= abi->n_dwarf || abi->dwarf[perf] < 0)
			continue;
		out->reg[abi->dwarf[perf]] = regs->v[i];
		out->have |= 1ull << abi->dwarf[perf];
	}
}
