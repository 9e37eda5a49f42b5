/* link_register.c - AArch64 code without unwind tables: is the return address
 * still in the link register? */
#include "symbolize/unwind/link_register.h"

#include <gelf.h>
#include <stddef.h>

#include "stitch/base/bytes.h"
#include "symbolize/elf/elf.h"
#include "symbolize/unwind/unwind_images.h"

#define REG_LINK 30
#define VDSO_FUNC_MAX 65536
/* A vdso has about ten symbols. */
#define SYMBOLS_MAX 256
/* Instructions of a stub: bti, adrp, ldr, add, autia1716, br. */
#define STUB_MAX 6

/* Returns true if this A64 instruction might write x30: calls, and any with x30
 * as first operand, or as second one of a load or store. Some of these only
 * read x30, but a leaf function does not need them either. */
static bool link_register_written(uint32_t insn)
{
	bool branch = (insn & 0x7c000000) == 0x14000000; /* b, bl */
	bool call = (insn & 0xfc000000) == 0x94000000 || /* bl */
		    (insn & 0xfee00000) == 0xd6200000;	 /* blr, blraa, ... */
	bool memory = (insn & 0x0a000000) == 0x08000000;

	if (branch || call)
		return call;
	return (insn & 31) == REG_LINK ||
	       (memory && (insn >> 10 & 31) == REG_LINK);
}

/* Returns true if no instruction of the function writes the register. */
static bool link_register_untouched(struct unwind_image *m, const GElf_Sym *f)
{
	unsigned char code[1024];
	struct bytes b;
	uint32_t insn;

	if (f->st_size > VDSO_FUNC_MAX || f->st_value % 4 || f->st_size % 4)
		return false;
	for (uint64_t at = 0; at < f->st_size; at += sizeof(code)) {
		size_t n = f->st_size - at;

		if (n > sizeof(code))
			n = sizeof(code);
		if (unwind_images_read_code(m, f->st_value + at, code, n) != n)
			return false;
		bytes_init(&b, code, n, "", 0, bytes_must_swap(false));
		while (!bytes_u32(&b, &insn, NULL))
			if (link_register_written(insn))
				return false;
	}
	return true;
}

/* Matches the rest of a PLT stub, for which linkers write no table (ld 2.40): a
 * stub is entered by a call and ends with its only 'br'. The header stub starts
 * by storing the register, so it does not match there. */
static bool link_register_in_stub(struct unwind_image *m, uint64_t vaddr)
{
	unsigned char code[4 * STUB_MAX];
	struct bytes b;
	uint32_t insn;

	struct elf_file *ef = unwind_images_file(m);
	struct elf_section s;

	if (vaddr % 4 || !ef || !elf_section_find(ef, ".plt", &s) ||
	    vaddr - s.addr >= s.size)
		return false;
	bytes_init(&b, code,
		   unwind_images_read_code(m, vaddr, code, sizeof(code)), "", 0,
		   bytes_must_swap(false));
	while (!bytes_u32(&b, &insn, NULL)) {
		if (link_register_written(insn))
			return false;
		if ((insn & 0xfffffc1f) == 0xd61f0000)
			return true;
	}
	return false;
}

/* Finds the function around an address in the dynamic symbols. */
static bool link_register_function(const struct elf_file *ef, uint64_t vaddr,
				   GElf_Sym *f)
{
	struct elf_section s;
	struct elf_symbols it;
	const char *name;

	if (!ef || !elf_section_find(ef, ".dynsym", &s) ||
	    !elf_symbols_open(ef, &s, &it))
		return false;
	while (elf_symbols_next(&it, f, &name) && it.i <= SYMBOLS_MAX)
		if (GELF_ST_TYPE(f->st_info) == STT_FUNC &&
		    vaddr >= f->st_value && vaddr - f->st_value < f->st_size)
			return true;
	return false;
}

bool link_register_is_kept(struct unwind_image *m, uint64_t vaddr)
{
	GElf_Sym f;

	if (m->machine != EM_AARCH64)
		return false;
	if (m->kind != IMAGE_VDSO)
		return link_register_in_stub(m, vaddr);
	return vaddr % 4 == 0 &&
	       link_register_function(unwind_images_file(m), vaddr, &f) &&
	       link_register_untouched(m, &f);
}
