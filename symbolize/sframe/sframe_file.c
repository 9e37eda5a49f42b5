/* sframe_file.c - finds the SFrame section of an ELF file. */
#include "symbolize/sframe/sframe_file.h"

#include <gelf.h>
#include <inttypes.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"

#define PT_GNU_SFRAME_ID 0x6474e554
#define SEGMENTS_MAX 4096

struct sframe_file_place {
	const void *data;
	size_t len;
	uint64_t off, addr;
	size_t section; /* section index; 0: found by program header */
};

static bool sframe_file_by_segment(const struct elf_file *ef,
				   struct sframe_file_place *out)
{
	size_t n;

	if (elf_getphdrnum(ef->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;
		Elf_Data *d;

		if (!gelf_getphdr(ef->elf, (int)i, &ph) ||
		    ph.p_type != PT_GNU_SFRAME_ID || ph.p_offset > INT64_MAX)
			continue;
		d = elf_getdata_rawchunk(ef->elf, (int64_t)ph.p_offset,
					 ph.p_filesz, ELF_T_BYTE);
		if (!d || !d->d_buf)
			continue;
		*out = (struct sframe_file_place){ d->d_buf, d->d_size,
						   ph.p_offset, ph.p_vaddr, 0 };
		return true;
	}
	return false;
}

static bool sframe_file_by_name(const struct elf_file *ef,
				struct sframe_file_place *out)
{
	struct elf_section s;
	Elf_Data *d = elf_section_find(ef, ".sframe", &s) ? elf_section_data(&s)
							  : NULL;

	if (!d)
		return false;
	*out = (struct sframe_file_place){ d->d_buf, d->d_size, s.off, s.addr,
					   elf_ndxscn(s.scn) };
	return true;
}

/* Returns the bytes that a relocation "symbol + addend - place" changes; 0 for
 * another type. */
static unsigned int sframe_file_pc_relative(uint16_t machine, uint64_t type)
{
	static const struct {
		uint16_t machine;
		uint64_t type;
		unsigned int bytes;
	} known[] = {
		{ EM_X86_64, R_X86_64_PC32, 4 },
		{ EM_X86_64, R_X86_64_PC64, 8 },
		{ EM_AARCH64, R_AARCH64_PREL32, 4 },
		{ EM_AARCH64, R_AARCH64_PREL64, 8 },
		{ EM_S390, R_390_PC32, 4 },
		{ EM_S390, R_390_PC64, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].machine == machine && known[i].type == type)
			return known[i].bytes;
	return 0;
}

/* Looks up the offset of symbol i in its section. */
static bool sframe_file_symbol_at(const struct elf_file *ef,
				  const struct elf_section *rel, uint64_t i,
				  uint64_t *out)
{
	struct elf_section s;
	GElf_Sym sym;
	Elf_Data *d;

	if (i > INT32_MAX || !elf_section_get(ef, rel->link, &s))
		return false;
	d = elf_section_data(&s);
	if (!d || !gelf_getsym(d, (int)i, &sym))
		return false;
	*out = sym.st_value;
	return true;
}

/* Applies the relocations to p->data, an owned copy. */
static int sframe_file_relocate(const struct elf_file *ef,
				struct sframe_file_place *p, struct err *err)
{
	size_t n = elf_sections(ef);
	struct elf_section s;
	GElf_Rela r;

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(ef, i, &s) || s.type != SHT_RELA ||
		    s.info != p->section || !s.entsize)
			continue;
		Elf_Data *d = elf_section_data(&s);
		size_t len = d ? d->d_size / s.entsize : 0;

		for (size_t k = 0; k < len && k < INT32_MAX; k++) {
			uint64_t sym;

			if (!gelf_getrela(d, (int)k, &r))
				return -1;
			unsigned int bytes = sframe_file_pc_relative(
				ef->machine, GELF_R_TYPE(r.r_info));

			if (!bytes || r.r_offset > p->len ||
			    p->len - r.r_offset < bytes ||
			    !sframe_file_symbol_at(ef, &s, GELF_R_SYM(r.r_info),
						   &sym))
				return err_at(err, ef->path, p->off,
					      "relocation at 0x%" PRIx64
					      " of .sframe does not fill in a "
					      "function address",
					      r.r_offset);
			unsigned char *to =
				(unsigned char *)p->data + r.r_offset;
			uint64_t v = sym + (uint64_t)r.r_addend -
				     (p->addr + r.r_offset);

			for (unsigned int byte = 0; byte < bytes; byte++)
				to[ef->big ? bytes - 1 - byte : byte] =
					(unsigned char)(v >> (8 * byte));
		}
	}
	return 0;
}

static int sframe_file_init(const struct elf_file *ef,
			    const struct sframe_file_place *p,
			    struct sframe_file *out, struct err *err)
{
	if (sframe_init(&out->sf, p->data, p->len, ef->path, p->off, p->addr,
			err))
		return -1;
	if (ef->machine != out->sf.machine->elf)
		return err_at(err, ef->path, p->off,
			      "SFrame section of %s in a file of ELF machine "
			      "%u",
			      out->sf.machine->name, ef->machine);
	if (out->object && !(out->sf.head.flags & SFRAME_PCREL))
		return err_at(err, ef->path, p->off,
			      "SFrame section of an object file, made by "
			      "binutils before 2.45: its addresses are right "
			      "only after linking; link it first");
	return 0;
}

int sframe_file_open(const struct elf_file *ef, struct sframe_file *out,
		     struct err *err)
{
	struct sframe_file_place p = { 0 };

	memset(out, 0, sizeof(*out));
	if (!sframe_file_by_segment(ef, &p) && !sframe_file_by_name(ef, &p))
		return 0;
	out->len = p.len;
	out->off = p.off;
	out->object = ef->type == ET_REL;
	/* Check it before relocation, to avoid the copy if it is invalid. */
	if (sframe_file_init(ef, &p, out, err))
		return -1;
	if (!out->object)
		return 1;
	p.data = out->copy = mem_dup(p.data, p.len);
	if (sframe_file_relocate(ef, &p, err) ||
	    sframe_file_init(ef, &p, out, err)) {
		sframe_file_release(out);
		return -1;
	}
	return 1;
}

void sframe_file_release(struct sframe_file *f)
{
	free(f->copy);
	f->copy = NULL;
}
