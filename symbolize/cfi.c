/* cfi.c - call frame information: where functions begin and end, and whether
 * the return address of AArch64 code is still in the link register. */
#include "symbolize/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/bytes.h"
#include "stitch/mem.h"
#include "symbolize/elf.h"

#define REG_LINK 30
/* Compilers nest remembered states one deep. */
#define REMEMBER_MAX 64
/* A CIE has about 20 bytes, an FDE up to a few thousand; a hostile one must
 * not be read anew for each address at the length of the file. */
#define CIE_MAX 4096
#define FDE_MAX 65536

struct fde {
	uint64_t start, end; /* ELF addresses, end exclusive */
	uint64_t off;	     /* in the section */
};

struct cfi {
	Elf_Data *data;
	unsigned char ident[EI_NIDENT];
	bool eh; /* .eh_frame, not .debug_frame */
	bool swap;
	uint64_t addr;
	struct fde *fde;
	size_t n, cap;
};

/* What is needed of a CIE to read its FDEs. */
struct cie {
	Dwarf_CIE d;
	uint8_t enc;
	bool sized;  /* FDEs have a block of augmentation data */
	bool signal; /* registers are those of the interrupted code */
};

static int uleb(struct bytes *b, uint64_t *out)
{
	uint8_t byte;

	*out = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		*out |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return 0;
	}
	return -1;
}

/* A window on part of the section, whose positions are section offsets. */
static void window(const struct cfi *c, const uint8_t *from, const uint8_t *to,
		   struct bytes *b)
{
	uint64_t off = (uint64_t)(from - (const uint8_t *)c->data->d_buf);

	bytes_init(b, from, (size_t)(to - from), "", off, c->swap);
}

/* A pointer as DW_EH_PE_* says. Those through memory or relative to what
 * only a running program has are not for code addresses. */
static int pointer(const struct cfi *c, struct bytes *b, uint8_t enc,
		   uint64_t *out)
{
	uint64_t here = c->addr + bytes_off(b);
	uint16_t half;
	uint32_t word;
	int ret = -1;

	switch (enc & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		ret = bytes_u64(b, out, NULL);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		ret = bytes_u32(b, &word, NULL);
		if (!ret)
			*out = enc & DW_EH_PE_signed
				       ? (uint64_t)(int64_t)(int32_t)word
				       : word;
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		ret = bytes_u16(b, &half, NULL);
		if (!ret)
			*out = enc & DW_EH_PE_signed
				       ? (uint64_t)(int64_t)(int16_t)half
				       : half;
		break;
	}
	if (ret || enc & 0xe0)
		return -1;
	if (enc & DW_EH_PE_pcrel)
		*out += here;
	return 0;
}

/* The letters after 'z' say what its data holds; an unknown one ends what
 * can be understood of them, as the data says its own length. */
static int augmentation(const struct cfi *c, struct cie *cie)
{
	const char *a = cie->d.augmentation;
	struct bytes b;
	uint64_t unused;
	uint8_t enc;

	cie->enc = DW_EH_PE_absptr;
	cie->sized = *a == 'z';
	if (!cie->sized)
		return *a ? -1 : 0;
	window(c, cie->d.augmentation_data,
	       cie->d.augmentation_data + cie->d.augmentation_data_size, &b);
	while (*++a) {
		if (*a == 'S') {
			cie->signal = true;
		} else if (*a == 'R') {
			if (bytes_u8(&b, &cie->enc, NULL))
				return -1;
		} else if (*a == 'L') {
			if (bytes_u8(&b, &enc, NULL))
				return -1;
		} else if (*a == 'P') {
			if (bytes_u8(&b, &enc, NULL) ||
			    pointer(c, &b, enc & 0xf, &unused))
				return -1;
		} else if (*a != 'B' && *a != 'G') {
			return 0;
		}
	}
	return 0;
}

static int read_cie(const struct cfi *c, uint64_t off, struct cie *cie)
{
	Dwarf_CFI_Entry e;
	Dwarf_Off next;

	memset(cie, 0, sizeof(*cie));
	if (off >= c->data->d_size ||
	    dwarf_next_cfi(c->ident, c->data, c->eh, off, &next, &e) ||
	    e.CIE_id != DW_CIE_ID_64)
		return -1;
	cie->d = e.cie;
	return augmentation(c, cie);
}

/* *b becomes the window on its instructions. */
static int read_fde(const struct cfi *c, const struct cie *cie,
		    const Dwarf_FDE *d, struct fde *out, struct bytes *b)
{
	uint64_t len;

	window(c, d->start, d->end, b);
	if (bytes_left(b) > FDE_MAX || pointer(c, b, cie->enc, &out->start) ||
	    pointer(c, b, cie->enc & 0xf, &len) ||
	    __builtin_add_overflow(out->start, len, &out->end))
		return -1;
	if (cie->sized)
		return uleb(b, &len) || bytes_skip(b, len, NULL) ? -1 : 0;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct fde *x = a;
	const struct fde *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

static void read_all(struct cfi *c)
{
	uint64_t cie_off = UINT64_MAX;
	bool good = false;
	struct cie cie;
	Dwarf_CFI_Entry e;
	Dwarf_Off next;

	for (Dwarf_Off off = 0;; off = next) {
		struct fde f = { .off = off };
		struct bytes b;

		if (dwarf_next_cfi(c->ident, c->data, c->eh, off, &next, &e) ||
		    next <= off)
			break;
		if (e.CIE_id == DW_CIE_ID_64)
			continue;
		if (e.fde.CIE_pointer != cie_off) {
			cie_off = e.fde.CIE_pointer;
			good = !read_cie(c, cie_off, &cie);
		}
		if (!good || read_fde(c, &cie, &e.fde, &f, &b) ||
		    f.start == f.end)
			continue;
		c->fde = mem_grow(c->fde, &c->cap, c->n + 1, sizeof(*c->fde));
		c->fde[c->n++] = f;
	}
	if (c->n)
		qsort(c->fde, c->n, sizeof(*c->fde), by_start);
}

struct cfi *cfi_open(const struct elf_file *ef)
{
	const char *ident = elf_getident(ef->elf, NULL);
	struct elf_section s;
	Elf_Data *data;
	bool eh = elf_section_find(ef, ".eh_frame", &s);

	if (!ident || ident[EI_CLASS] != ELFCLASS64 ||
	    (!eh && !elf_section_find(ef, ".debug_frame", &s)))
		return NULL;
	data = elf_section_data(&s);
	if (!data)
		return NULL;
	struct cfi *c = mem_new(1, sizeof(*c));
	c->data = data;
	memcpy(c->ident, ident, sizeof(c->ident));
	c->eh = eh;
	c->swap = (ident[EI_DATA] == ELFDATA2MSB) !=
		  (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c->addr = s.addr;
	read_all(c);
	return c;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	free(c->fde);
	free(c);
}

/* The instructions up to pc, of which only what they do to the link register
 * and to the place is kept. */
struct run {
	const struct cfi *c;
	const struct cie *cie;
	uint64_t loc, pc;
	bool kept, initial; /* now, and where 'restore' goes back to */
	bool saved[REMEMBER_MAX];
	unsigned int depth;
};

static void set_rule(struct run *r, uint64_t reg, bool kept)
{
	if (reg == REG_LINK)
		r->kept = kept;
}

/* Operands of instructions that may touch a register's rule: r the register,
 * u a number of either sign (whose value is not needed), b a block. */
static const char *const operands[64] = {
	[DW_CFA_nop] = "",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "ru",
	[DW_CFA_def_cfa] = "uu",
	[DW_CFA_def_cfa_register] = "u",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru",
	[DW_CFA_def_cfa_sf] = "uu",
	[DW_CFA_def_cfa_offset_sf] = "u",
	[DW_CFA_val_offset] = "ru",
	[DW_CFA_val_offset_sf] = "ru",
	[DW_CFA_val_expression] = "rb",
	/* AArch64: the address in the register is signed, or no more. */
	[0x2c] = "",
	[DW_CFA_GNU_window_save] = "",
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

static int run_rule(struct run *r, struct bytes *b, uint8_t op)
{
	const char *o = operands[op];
	uint64_t reg = UINT64_MAX;
	uint64_t v;

	if (!o)
		return -1;
	for (; *o; o++) {
		if (uleb(b, &v) || (*o == 'b' && bytes_skip(b, v, NULL)))
			return -1;
		if (*o == 'r')
			reg = v;
	}
	if (op == DW_CFA_restore_extended)
		set_rule(r, reg, r->initial);
	else
		set_rule(r, reg, op == DW_CFA_same_value);
	return 0;
}

/* 1: op was no advance of the location. */
static int run_advance(struct run *r, struct bytes *b, uint8_t op)
{
	uint64_t by = op & 0x3f;
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	int ret = 0;

	if (op == DW_CFA_set_loc)
		return pointer(r->c, b, r->cie->enc, &r->loc);
	if (op == DW_CFA_advance_loc1) {
		ret = bytes_u8(b, &byte, NULL);
		by = ret ? 0 : byte;
	} else if (op == DW_CFA_advance_loc2) {
		ret = bytes_u16(b, &half, NULL);
		by = ret ? 0 : half;
	} else if (op == DW_CFA_advance_loc4) {
		ret = bytes_u32(b, &word, NULL);
		by = ret ? 0 : word;
	} else if ((op & 0xc0) != DW_CFA_advance_loc) {
		return 1;
	}
	r->loc += by * r->cie->d.code_alignment_factor;
	return ret;
}

static int run_one(struct run *r, struct bytes *b)
{
	uint64_t unused;
	uint8_t op;

	if (bytes_u8(b, &op, NULL))
		return -1;
	if ((op & 0xc0) == DW_CFA_offset) {
		set_rule(r, op & 0x3f, false);
		return uleb(b, &unused);
	}
	if ((op & 0xc0) == DW_CFA_restore) {
		set_rule(r, op & 0x3f, r->initial);
		return 0;
	}
	int ret = run_advance(r, b, op);
	if (ret <= 0)
		return ret;
	if (op == DW_CFA_remember_state) {
		if (r->depth == REMEMBER_MAX)
			return -1;
		r->saved[r->depth++] = r->kept;
		return 0;
	}
	if (op == DW_CFA_restore_state) {
		if (!r->depth)
			return -1;
		r->kept = r->saved[--r->depth];
		return 0;
	}
	return run_rule(r, b, op);
}

static int run_to(struct run *r, struct bytes *b)
{
	while (bytes_left(b) && r->loc <= r->pc)
		if (run_one(r, b))
			return -1;
	return 0;
}

static const struct fde *find(const struct cfi *c, uint64_t vaddr)
{
	size_t lo = 0;
	size_t hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->fde[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < c->fde[lo - 1].end ? &c->fde[lo - 1] : NULL;
}

bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end)
{
	const struct fde *f = c ? find(c, vaddr) : NULL;

	if (!f)
		return false;
	*start = f->start;
	*end = f->end;
	return true;
}

/* Before the first instruction the register holds the return address: so the
 * AArch64 DWARF ABI has it, and so libdw's default is. */
enum cfi_link cfi_link(const struct cfi *c, uint64_t vaddr)
{
	const struct fde *f = find(c, vaddr);
	struct run r = {
		.c = c, .pc = UINT64_MAX, .kept = true, .initial = true
	};
	struct bytes b;
	struct cie cie;
	struct fde again;
	Dwarf_CFI_Entry e;
	Dwarf_Off next;

	if (!f || dwarf_next_cfi(c->ident, c->data, c->eh, f->off, &next, &e) ||
	    read_cie(c, e.fde.CIE_pointer, &cie))
		return CFI_NONE;
	if (cie.signal || cie.d.return_address_register != REG_LINK)
		return CFI_MOVED;
	r.cie = &cie;
	window(c, cie.d.initial_instructions, cie.d.initial_instructions_end,
	       &b);
	if (run_to(&r, &b))
		return CFI_NONE;
	r.initial = r.kept;
	r.depth = 0;
	r.loc = f->start;
	r.pc = vaddr;
	if (read_fde(c, &cie, &e.fde, &again, &b) || run_to(&r, &b))
		return CFI_NONE;
	return r.kept ? CFI_KEPT : CFI_MOVED;
}
