/* plt.c - finds the names of PLT stubs, through which one file calls another.
 *
 * On x86 the slot that a stub jumps through is decoded from its code, and the
 * relocation of that slot has the name; this works for .plt, .plt.sec and
 * .plt.got. On other machines stub i belongs to relocation i of .rela.plt. */
#include "symbolize/elf/plt.h"

#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/symtab.h"
#include "stitch/base/search.h"

#define STUBS_MAX 1000000
#define NAME_SIZE 4096

struct plt_reloc {
	uint64_t slot;
	const char *name; /* NULL: no name */
};

struct plt_reader {
	const struct elf_file *ef;
	struct symtab *t;
	struct arena *names;
	struct plt_reloc *rel; /* .rela.plt first, in file order */
	size_t n, cap, n_plt;
	uint64_t got; /* address of .got.plt */
};

/* Returns the name of dynamic symbol i, or NULL. */
static const char *plt_symbol_name(const struct plt_reader *p,
				   const struct elf_section *s, Elf_Data *syms,
				   uint64_t i)
{
	GElf_Sym sym;

	if (!i || i > INT32_MAX || !gelf_getsym(syms, (int)i, &sym) ||
	    !sym.st_name)
		return NULL;
	const char *name = elf_strptr(p->ef->elf, s->link, sym.st_name);
	return name && name[0] ? name : NULL;
}

/* Returns the name for an IRELATIVE relocation, which has no symbol but the
 * address of a resolver function: its name is the one that users know the
 * target by, such as strrchr. */
static const char *plt_chooser_name(const struct plt_reader *p, uint64_t info,
				    int64_t addend)
{
	static const struct {
		uint16_t machine;
		uint64_t irelative;
	} known[] = {
		{ EM_X86_64, R_X86_64_IRELATIVE },
		{ EM_AARCH64, R_AARCH64_IRELATIVE },
		{ EM_S390, R_390_IRELATIVE },
	};

	if (!any_where(ARRAY_SIZE(known), i,
		       known[i].machine == p->ef->machine &&
			       known[i].irelative == GELF_R_TYPE(info)))
		return NULL;
	const struct sym *s = symtab_find(p->t, (uint64_t)addend);
	return s && s->start == (uint64_t)addend ? s->name : NULL;
}

/* all: keep relocations without a name too, so that stub i is relocation i. */
static void plt_read_relocs(struct plt_reader *p, const char *name, bool all)
{
	struct elf_section s;
	struct elf_section dyn;

	if (!elf_section_find(p->ef, name, &s) ||
	    (s.type != SHT_RELA && s.type != SHT_REL) ||
	    !elf_section_get(p->ef, s.link, &dyn))
		return;
	Elf_Data *d = elf_section_data(&s);
	Elf_Data *syms = elf_section_data(&dyn);
	size_t each = gelf_fsize(p->ef->elf,
				 s.type == SHT_RELA ? ELF_T_RELA : ELF_T_REL, 1,
				 EV_CURRENT);
	if (!d || !syms || !each || syms->d_type != ELF_T_SYM)
		return;
	for (size_t i = 0; i < d->d_size / each && i < STUBS_MAX; i++) {
		GElf_Rela a = { .r_addend = 0 };
		GElf_Rel r;

		if (s.type == SHT_RELA) {
			if (!gelf_getrela(d, (int)i, &a))
				return;
		} else {
			if (!gelf_getrel(d, (int)i, &r))
				return;
			a.r_offset = r.r_offset;
			a.r_info = r.r_info;
		}
		const char *sym =
			plt_symbol_name(p, &dyn, syms, GELF_R_SYM(a.r_info));
		if (!sym)
			sym = plt_chooser_name(p, a.r_info, a.r_addend);
		/* skips nearly all of .rela.dyn, which has a million entries in
		 * a large library */
		if (!sym && !all)
			continue;
		*mem_add(p->rel, p->n, p->cap) =
			(struct plt_reloc){ a.r_offset, sym };
	}
}

static void plt_add_stub(struct plt_reader *p, uint64_t addr, uint64_t len,
			 const char *name)
{
	char buf[NAME_SIZE];
	uint64_t end;

	if (!name || __builtin_add_overflow(addr, len, &end))
		return;
	if (name[0] != '.') {
		int n = snprintf(buf, sizeof(buf), "%.*s@plt",
				 (int)strcspn(name, "@"), name);

		if (n < 0 || (size_t)n >= sizeof(buf))
			return;
		name = arena_strdup(p->names, buf);
	}
	symtab_add(p->t, &(struct sym){
				 .start = addr,
				 .end = end,
				 .name = name,
				 .how = "plt",
				 .rank = SYM_REAL | SYM_SIZED | SYM_TYPED |
					 SYM_STRONG,
			 });
}

COMPARE_BY(plt_compare_slot, struct plt_reloc, slot);

/* Finds the slot that the x86 stub of len bytes at addr jumps through: jmp *mem
 * is ff 25 (relative to the next instruction, absolute on i386) or ff a3
 * (relative to .got.plt, in i386 position-independent code). */
static bool plt_x86_slot(const struct plt_reader *p, const unsigned char *code,
			 size_t len, uint64_t addr, uint64_t *slot)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		struct bytes b;
		uint32_t disp = 0;

		if (code[i] != 0xff ||
		    (code[i + 1] != 0x25 && code[i + 1] != 0xa3))
			continue;
		bytes_init(&b, code + i + 2, 4, p->ef->path, 0,
			   bytes_must_swap(false));
		if (bytes_u32(&b, &disp, NULL))
			return false;
		if (p->ef->machine == EM_X86_64)
			*slot = addr + i + 6 + (uint64_t)(int64_t)(int32_t)disp;
		else if (code[i + 1] == 0x25)
			*slot = disp;
		else
			*slot = (uint32_t)(p->got + disp);
		return true;
	}
	return false;
}

static void plt_x86_stubs(struct plt_reader *p, const char *section)
{
	struct elf_section s;

	if (!elf_section_find(p->ef, section, &s))
		return;
	Elf_Data *d = elf_section_data(&s);
	size_t each = s.entsize == 8 ? 8 : 16;
	if (!d)
		return;
	for (size_t i = 0; i < d->d_size / each && i < STUBS_MAX; i++) {
		struct plt_reloc key = { 0, NULL };
		const unsigned char *code = d->d_buf;
		uint64_t addr = s.addr + i * each;

		if (!plt_x86_slot(p, code + i * each, each, addr, &key.slot))
			continue;
		/* bsearch() must not get NULL, even for no items */
		const struct plt_reloc *r =
			p->n ? bsearch(&key, p->rel, p->n, sizeof(*p->rel),
				       plt_compare_slot)
			     : NULL;
		if (r)
			plt_add_stub(p, addr, each, r->name);
		else if (!i && !strcmp(section, ".plt"))
			plt_add_stub(p, addr, each, ".plt");
	}
}

static void plt_other_stubs(struct plt_reader *p)
{
	struct elf_section s;
	uint64_t head;

	switch (p->ef->machine) {
	case EM_AARCH64:
	case EM_S390:
	case EM_RISCV:
		head = 32;
		break;
	default:
		return;
	}
	if (!elf_section_find(p->ef, ".plt", &s) || !p->n_plt || s.size < head)
		return;
	/* AArch64 stubs are longer with branch protection. */
	uint64_t each = (s.size - head) / p->n_plt;
	if (each < 8 || each > 64)
		return;
	plt_add_stub(p, s.addr, head, ".plt");
	for (size_t i = 0; i < p->n_plt; i++)
		plt_add_stub(p, s.addr + head + i * each, each, p->rel[i].name);
}

void plt_add(const struct elf_file *ef, struct symtab *t, struct arena *names)
{
	struct plt_reader p = { .ef = ef, .t = t, .names = names };
	struct elf_section got;

	if (ef->no_code)
		return;
	plt_read_relocs(&p, ".rela.plt", true);
	if (!p.n)
		plt_read_relocs(&p, ".rel.plt", true);
	p.n_plt = p.n;
	if (ef->machine == EM_X86_64 || ef->machine == EM_386) {
		plt_read_relocs(
			&p, ef->machine == EM_386 ? ".rel.dyn" : ".rela.dyn",
			false);
		if (elf_section_find(ef, ".got.plt", &got) ||
		    elf_section_find(ef, ".got", &got))
			p.got = got.addr;
		sort_items(p.rel, p.n, plt_compare_slot);
		plt_x86_stubs(&p, ".plt");
		plt_x86_stubs(&p, ".plt.sec");
		plt_x86_stubs(&p, ".plt.got");
	} else {
		plt_other_stubs(&p);
	}
	free(p.rel);
}

size_t plt_slots(const struct elf_file *ef, const char *const name[], size_t n,
		 struct plt_slot slot[], size_t max)
{
	struct symtab none = { .n = 0 };
	struct plt_reader p = { .ef = ef, .t = &none };
	struct elf_section s;
	Elf_Data *d = elf_section_find(ef, ".dynstr", &s) ? elf_section_data(&s)
							  : NULL;
	size_t found = 0;
	bool any = false;

	/* Few files have such a name, and reading the relocations of a large
	 * one takes long. */
	for (size_t k = 0; d && d->d_buf && k < n; k++)
		any |= memmem(d->d_buf, d->d_size, name[k],
			      strlen(name[k]) + 1) != NULL;
	if (ef->no_code || !any)
		return 0;
	plt_read_relocs(&p, ".rela.plt", false);
	plt_read_relocs(&p, ".rela.dyn", false);
	for (size_t i = 0; i < p.n; i++)
		for (size_t k = 0; k < n && found < max; k++)
			if (!strcmp(p.rel[i].name, name[k]))
				slot[found++] =
					(struct plt_slot){ p.rel[i].slot, k };
	free(p.rel);
	return found;
}
