/* relocate.c - applies relocations to the debug information of a file that was
 * not linked.
 *
 * Addresses in a kernel module's debug information are zeros with a relocation
 * such as ".text+0x40". Compilers use a few types for them: a whole address in
 * 4 or 8 bytes. Other types are for locations of variables and are ignored. */
#include "symbolize/dwarf/relocate.h"

#include <gelf.h>

#include "stitch/base/mem.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/kernel_module.h"

/* RISC-V is missing: it expresses differences as pairs of relocations. */
static const struct {
	uint16_t machine;
	uint8_t size;
	uint32_t type;
} rules[] = {
	{ EM_X86_64, 8, R_X86_64_64 },	    { EM_X86_64, 4, R_X86_64_32 },
	{ EM_X86_64, 4, R_X86_64_32S },	    { EM_AARCH64, 8, R_AARCH64_ABS64 },
	{ EM_AARCH64, 4, R_AARCH64_ABS32 }, { EM_S390, 8, R_390_64 },
	{ EM_S390, 4, R_390_32 },	    { EM_PPC64, 8, R_PPC64_ADDR64 },
	{ EM_PPC64, 4, R_PPC64_ADDR32 },
};
#define N_RULES ARRAY_SIZE(rules)

/* Addresses for sections whose place is unknown: distinct, and never asked
 * for. */
#define FAR ((uint64_t)1 << 56)
#define FAR_STEP ((uint64_t)1 << 36)

struct relocate_state {
	const struct elf_file *ef;
	struct elf_section *sec;
	size_t n_sec;
};

bool relocate_knows(uint16_t machine)
{
	return any_where(N_RULES, i, rules[i].machine == machine);
}

static size_t relocate_width(uint16_t machine, uint64_t type)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (rules[i].machine == machine && rules[i].type == type)
			return rules[i].size;
	return 0;
}

/* Writes v in the byte order of the file. */
static void relocate_put(const struct relocate_state *r, unsigned char *at,
			 uint64_t v, size_t size)
{
	uint32_t half = (uint32_t)v;

	if (size == sizeof(half)) {
		half = r->ef->swap ? __builtin_bswap32(half) : half;
		memcpy(at, &half, sizeof(half));
	} else {
		v = r->ef->swap ? __builtin_bswap64(v) : v;
		memcpy(at, &v, sizeof(v));
	}
}

static bool relocate_symbol_value(const struct relocate_state *r,
				  Elf_Data *symbols, uint64_t i,
				  uint64_t *value)
{
	GElf_Sym sym;

	if (i > INT32_MAX || !gelf_getsym(symbols, (int)i, &sym))
		return false;
	*value = sym.st_value;
	if (sym.st_shndx == SHN_ABS)
		return true;
	if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= r->n_sec)
		return false;
	*value += r->sec[sym.st_shndx].addr;
	return true;
}

/* Applies one table of relocations. */
static bool relocate_apply(const struct relocate_state *r,
			   const struct elf_section *table)
{
	struct elf_section *to = &r->sec[table->info];
	struct elf_section *sym = &r->sec[table->link];

	/* libdw will decompress it anyway. */
	if (to->flags & SHF_COMPRESSED && elf_compress(to->scn, 0, 0) < 0)
		return false;
	Elf_Data *out = elf_rawdata(to->scn, NULL);
	Elf_Data *list = elf_section_data(table);
	Elf_Data *symbols =
		sym->type == SHT_SYMTAB ? elf_section_data(sym) : NULL;
	if (!out || !out->d_buf || !list || list->d_type != ELF_T_RELA ||
	    !symbols || symbols->d_type != ELF_T_SYM)
		return false;
	size_t each = gelf_fsize(r->ef->elf, ELF_T_RELA, 1, EV_CURRENT);
	for (size_t i = 0; i < list->d_size / each && i < INT32_MAX; i++) {
		GElf_Rela rela;
		uint64_t v;

		if (!gelf_getrela(list, (int)i, &rela))
			return false;
		size_t size = relocate_width(r->ef->machine,
					     GELF_R_TYPE(rela.r_info));
		if (!size || out->d_size < size ||
		    rela.r_offset > out->d_size - size ||
		    !relocate_symbol_value(r, symbols, GELF_R_SYM(rela.r_info),
					   &v))
			continue;
		relocate_put(r, (unsigned char *)out->d_buf + rela.r_offset,
			     v + (uint64_t)rela.r_addend, size);
	}
	return true;
}

bool relocate_debug(const struct elf_file *ef)
{
	struct relocate_state r = { .ef = ef, .n_sec = elf_sections(ef) };
	bool ok = true;

	/* Sections of a file in memory may overlap each other and what libelf
	 * has checked; those of a file on disk do not. */
	if (ef->fd < 0)
		return false;
	r.sec = mem_new(r.n_sec + 1, sizeof(*r.sec));
	for (size_t i = 1; i < r.n_sec; i++)
		elf_section_get(ef, i, &r.sec[i]);
	kernel_module_layout(ef, r.sec, r.n_sec);
	for (size_t i = 1; i < r.n_sec; i++)
		if (r.sec[i].flags & SHF_ALLOC && !r.sec[i].addr)
			r.sec[i].addr = FAR + i * FAR_STEP;
	for (size_t i = 1; i < r.n_sec && ok; i++) {
		const struct elf_section *s = &r.sec[i];

		if (s->type == SHT_RELA && s->info && s->info < r.n_sec &&
		    s->link < r.n_sec && r.sec[s->info].scn &&
		    r.sec[s->link].scn && r.sec[s->info].type == SHT_PROGBITS &&
		    dwarf_sections_reads(r.sec[s->info].name))
			ok = relocate_apply(&r, s);
	}
	free(r.sec);
	return ok;
}
