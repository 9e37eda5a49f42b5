/* cfi.c - call frame information of a file: reads CIEs and FDEs, executes
 * their instructions, and converts them to a table of rows. */
#include "symbolize/cfi/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/digits.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"

/* Compilers nest DW_CFA_remember_state one deep. */
#define CFI_REMEMBER_MAX 32

/* What FDEs need of their CIE. */
struct cfi_cie {
	uint64_t off;
	uint8_t enc;	 /* DW_EH_PE_* encoding of addresses */
	bool sized;	 /* FDEs have augmentation data with a length */
	bool good;	 /* was read without error */
	uint8_t address; /* bytes of an address */
	uint64_t code_align;
	int64_t data_align;
	struct cfi_rules initial;
};

struct cfi_fde {
	uint64_t start, end; /* ELF addresses; end is exclusive */
	uint32_t cie;
	uint32_t len; /* bytes of instructions */
	uint64_t off; /* offset of the instructions in the section */
};

struct cfi {
	const struct abi *abi;
	unsigned char *data; /* owned */
	size_t len;
	bool eh;   /* .eh_frame; false: .debug_frame */
	bool swap; /* the file has the other byte order */
	uint64_t addr;
	struct cfi_cie *cie;
	size_t n_cie, cap_cie;
	struct table by_off; /* offset of a CIE -> index in cie[] */
	/* bytes that may still be read as CIEs. In a valid file CIEs do not
	 * overlap. */
	uint64_t cie_room;
	struct cfi_fde *fde;
	size_t n, cap;
	/* how many functions begin before the i-th piece of 1 << shift bytes,
	 * from the first function on */
	uint32_t *near;
	size_t n_near;
	unsigned int shift;
	struct cfi *other; /* used where this one has no function; or NULL */
};

struct cfi_run {
	const struct cfi *c;
	const struct cfi_cie *cie;
	struct cfi_rules now;
	uint64_t loc;
	bool changed; /* set by each change of a rule; the caller clears it */
	unsigned int depth;
	struct cfi_rules saved[CFI_REMEMBER_MAX];
};

#define V_MAX (INT64_MAX >> 8)

/* The effect of an instruction. */
enum action {
	BAD,
	NOTHING,
	SET,	 /* set a register's rule */
	RESTORE, /* restore a register's initial rule */
	CFA,	 /* set register and offset of the CFA */
	CFA_REG,
	CFA_OFF,
	CFA_EXPR,
	REMEMBER,
	BACK,
	/* toggle the return address state of AArch64. SPARC uses the same
	 * opcode for something else, but is not supported. */
	SIGN,
};

/* Operands: r register, u unsigned, s signed, U and S unsigned and signed in
 * units of the data alignment, N like U and negated, b block, - unused
 * number. */
struct cfi_run_op {
	uint8_t action;
	uint8_t kind; /* SET: enum rule_kind */
	char operands[4];
};

static const struct cfi_run_op ops[64] = {
	[DW_CFA_nop] = { NOTHING, 0, "" },
	[DW_CFA_offset_extended] = { SET, RULE_OFFSET, "rU" },
	[DW_CFA_restore_extended] = { RESTORE, 0, "r" },
	[DW_CFA_undefined] = { SET, RULE_UNDEFINED, "r" },
	[DW_CFA_same_value] = { SET, RULE_SAME, "r" },
	[DW_CFA_register] = { SET, RULE_REG, "ru" },
	[DW_CFA_remember_state] = { REMEMBER, 0, "" },
	[DW_CFA_restore_state] = { BACK, 0, "" },
	[DW_CFA_def_cfa] = { CFA, 0, "ru" },
	[DW_CFA_def_cfa_register] = { CFA_REG, 0, "r" },
	[DW_CFA_def_cfa_offset] = { CFA_OFF, 0, "u" },
	[DW_CFA_def_cfa_expression] = { CFA_EXPR, 0, "b" },
	[DW_CFA_expression] = { SET, RULE_EXPR, "rb" },
	[DW_CFA_offset_extended_sf] = { SET, RULE_OFFSET, "rS" },
	[DW_CFA_def_cfa_sf] = { CFA, 0, "rS" },
	[DW_CFA_def_cfa_offset_sf] = { CFA_OFF, 0, "S" },
	[DW_CFA_val_offset] = { SET, RULE_VAL_OFFSET, "rU" },
	[DW_CFA_val_offset_sf] = { SET, RULE_VAL_OFFSET, "rS" },
	[DW_CFA_val_expression] = { SET, RULE_VAL_EXPR, "rb" },
	/* AArch64 "negate RA state with pc", which is the same here. */
	[0x2c] = { SIGN, 0, "" },
	[DW_CFA_GNU_window_save] = { SIGN, 0, "" },
	[DW_CFA_GNU_args_size] = { NOTHING, 0, "-" },
	[DW_CFA_GNU_negative_offset_extended] = { SET, RULE_OFFSET, "rN" },
};

/* Reads a pointer in encoding enc (DW_EH_PE_*). Encodings through memory or
 * relative to run-time values are not used for code addresses. */
static int cfi_read_pointer(const struct cfi *c, struct bytes *b, uint8_t enc,
			    uint8_t size, uint64_t *out)
{
	static const uint8_t sizes[8] = {
		[DW_EH_PE_udata2] = 2,
		[DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8,
	};
	uint64_t here = c->addr + bytes_off(b);
	unsigned int bytes = sizes[enc & 7];

	if ((enc & 0xf) == DW_EH_PE_absptr)
		bytes = size == 8 ? 8 : 4;
	if (enc & 0xe0 ||
	    dwarf_number_fixed(b, bytes, enc & DW_EH_PE_signed, out))
		return -1;
	if (enc & DW_EH_PE_pcrel)
		*out += here;
	if (size == 4)
		*out &= UINT32_MAX;
	return 0;
}

static void cfi_run_restore(struct cfi_run *r, uint64_t reg)
{
	if (reg >= ABI_REGS)
		return;
	r->now.reg[reg] = r->cie->initial.reg[reg];
	r->changed = true;
}

/* Multiplies by the data alignment. Returns nonzero on overflow. */
static int cfi_run_scale(const struct cfi_run *r, int64_t v, int64_t *out)
{
	return __builtin_mul_overflow(v, r->cie->data_align, out);
}

/* Reads one operand of the given kind (see cfi_run_op) into *reg or *v. Returns
 * 0, or nonzero if it is damaged. */
static int cfi_run_operand(const struct cfi_run *r, struct bytes *b, char kind,
			   uint64_t *reg, int64_t *v)
{
	uint64_t u;

	if (kind == 'b') {
		*v = (int64_t)bytes_off(b);
		return leb128_unsigned(b, &u) || bytes_skip(b, u, NULL);
	}
	if (kind == 'S')
		return leb128_signed(b, v) || cfi_run_scale(r, *v, v);
	if (leb128_unsigned(b, &u))
		return -1;
	if (kind == '-')
		return 0;
	if (kind == 'r') {
		*reg = u;
		return 0;
	}
	if (u > V_MAX)
		return -1;
	*v = (int64_t)u;
	if (kind == 'U' || kind == 'N')
		return cfi_run_scale(r, kind == 'N' ? -*v : *v, v);
	return 0;
}

static int cfi_run_set_cfa(struct cfi_run *r, uint64_t reg, int64_t v)
{
	if (reg >= ABI_REGS)
		return -1;
	r->now.cfa.kind = RULE_REG;
	r->now.cfa.v = v;
	r->now.cfa_reg = (uint8_t)reg;
	r->changed = true;
	return 0;
}

/* Applies an instruction to the current rules. Returns 0, or -1 if it is not
 * allowed. */
static int cfi_run_action(struct cfi_run *r, const struct cfi_run_op *op,
			  uint64_t reg, int64_t v)
{
	switch ((enum action)op->action) {
	case NOTHING:
		return 0;
	case SET:
		if (reg >= ABI_REGS)
			return 0;
		r->now.reg[reg].kind = op->kind;
		r->now.reg[reg].v = v;
		r->changed = true;
		return 0;
	case RESTORE:
		cfi_run_restore(r, reg);
		return 0;
	case CFA:
		return cfi_run_set_cfa(r, reg, v);
	case CFA_REG:
		return cfi_run_set_cfa(r, reg, r->now.cfa.v);
	case CFA_OFF:
		return cfi_run_set_cfa(r, r->now.cfa_reg, v);
	case CFA_EXPR:
		r->now.cfa.kind = RULE_EXPR;
		r->now.cfa.v = v;
		r->changed = true;
		return 0;
	case REMEMBER:
		if (r->depth == CFI_REMEMBER_MAX)
			return -1;
		r->saved[r->depth++] = r->now;
		return 0;
	case BACK:
		if (!r->depth)
			return -1;
		r->now = r->saved[--r->depth];
		r->changed = true;
		return 0;
	case SIGN:
		r->now.is_signed = !r->now.is_signed;
		r->changed = true;
		return r->c->abi->machine == EM_AARCH64 ? 0 : -1;
	case BAD:
		break;
	}
	return -1;
}

/* Executes an instruction if it advances the location. Returns 0, -1 if
 * damaged, or 1 if op is another instruction. */
static int cfi_run_advance(struct cfi_run *r, struct bytes *b, uint8_t op)
{
	uint64_t by = op & 0x3f;
	int ret = 0;

	if (op == DW_CFA_set_loc)
		return cfi_read_pointer(r->c, b, r->cie->enc, r->cie->address,
					&r->loc);
	if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4)
		ret = dwarf_number_fixed(b, 1u << (op - DW_CFA_advance_loc1),
					 false, &by);
	else if ((op & 0xc0) != DW_CFA_advance_loc)
		return 1;
	if (!ret)
		r->loc += by * r->cie->code_align;
	return ret;
}

/* Executes instructions. Returns 1 if the location advanced, 0 at the end, -1
 * if they are damaged. */
static int cfi_run(struct cfi_run *r, struct bytes *b)
{
	static const struct cfi_run_op offset = { SET, RULE_OFFSET, "U" };
	uint8_t op;

	while (!bytes_u8(b, &op, NULL)) {
		uint64_t reg = UINT64_MAX;
		int64_t v = 0;

		if ((op & 0xc0) == DW_CFA_offset) {
			if (cfi_run_operand(r, b, 'U', &reg, &v) || v > V_MAX ||
			    v < -V_MAX)
				return -1;
			cfi_run_action(r, &offset, op & 0x3f, v);
			continue;
		}
		if ((op & 0xc0) == DW_CFA_restore) {
			cfi_run_restore(r, op & 0x3f);
			continue;
		}
		int ret = cfi_run_advance(r, b, op);
		if (ret <= 0)
			return ret ? -1 : 1;
		for (const char *o = ops[op].operands; *o; o++)
			if (cfi_run_operand(r, b, *o, &reg, &v))
				return -1;
		if (v > V_MAX || v < -V_MAX ||
		    cfi_run_action(r, &ops[op], reg, v))
			return -1;
	}
	return 0;
}

/* ---- tables of Go. Go's linker makes .debug_frame from the stack depths that
 * the runtime has too (cmd/link/internal/ld/dwarf.go; all rows are the same
 * with Go 1.19, 1.26 and 1.27). A program that was linked with -s, or stripped,
 * has only those depths: .debug_frame is made from them again. */

#define WORD 8
/* The most bytes of made tables: a hostile table may have the same depths in
 * each function. Those of go itself, a program of 14 MB, take 1 MB. */
#define FRAMES_MOST ((size_t)64 << 20)
/* Depths below zero are a few words, which fit into one byte of DWARF. */
#define LEAST_DEPTH (60 * WORD)

#define X86_SP 7
#define X86_RA 16
#define A64_SP 31
#define A64_LINK 30

struct go_frames {
	uint16_t machine;
	unsigned char *data;
	size_t n, cap;
};

static void go_frames_put(struct go_frames *g, const void *data, size_t n)
{
	mem_append(g->data, g->n, g->cap, data, n);
}

static void go_frames_byte(struct go_frames *g, unsigned int v)
{
	unsigned char byte = (unsigned char)v;

	go_frames_put(g, &byte, 1);
}

static void go_frames_word(struct go_frames *g, uint32_t v)
{
	go_frames_put(g, &v, sizeof(v));
}

static void go_frames_leb(struct go_frames *g, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		go_frames_byte(g, (v & 0x7f) | 0x80);
	go_frames_byte(g, v);
}

/* Stores the length of the entry that begins at `at`. */
static void go_frames_end(struct go_frames *g, size_t at)
{
	uint32_t len = (uint32_t)(g->n - at - sizeof(len));

	memcpy(g->data + at, &len, sizeof(len));
}

/* Adds the rules for a stack depth. AArch64 saves the link register at the
 * lowest place of the frame, if the function has a caller. The depth is
 * negative where code of the runtime has popped words of its caller. Returns
 * false if no stack is so deep. */
static bool go_frames_depth(struct go_frames *g, int32_t depth, bool top)
{
	bool is_x86 = g->machine == EM_X86_64;

	if (depth < -LEAST_DEPTH || depth > INT32_MAX - WORD || depth % WORD)
		return false;
	int32_t cfa = depth + (is_x86 ? WORD : 0);

	if (cfa < 0) {
		go_frames_byte(g, DW_CFA_def_cfa_offset_sf);
		go_frames_byte(g, (unsigned int)(-cfa / WORD));
	} else {
		go_frames_byte(g, DW_CFA_def_cfa_offset);
		go_frames_leb(g, (uint32_t)cfa);
	}
	if (is_x86)
		return true;
	if (top) {
		go_frames_byte(g, DW_CFA_undefined);
		go_frames_byte(g, A64_LINK);
	} else if (depth > 0) {
		go_frames_byte(g, DW_CFA_offset | A64_LINK);
		go_frames_leb(g, (uint32_t)(depth / WORD));
	} else {
		go_frames_byte(g, DW_CFA_same_value);
		go_frames_byte(g, A64_LINK);
	}
	return true;
}

/* Adds a function, up to where its depths are known. */
static void go_frames_add(struct go_frames *g,
			  const struct gopclntab_function *f,
			  struct gopclntab_depths *d)
{
	size_t at = g->n;
	uint64_t start;
	uint64_t last = f->start;
	uint64_t length = 0;

	go_frames_word(g, 0);
	go_frames_word(g,
		       (uint32_t)g->n); /* distance to the CIE, which is at 0 */
	go_frames_put(g, &f->start, WORD);

	size_t length_at = g->n;

	go_frames_put(g, &length, WORD);
	while (g->n < FRAMES_MOST && gopclntab_next_depth(d, &start) > 0) {
		if (start > last) {
			go_frames_byte(g, DW_CFA_advance_loc4);
			go_frames_word(g, (uint32_t)(start - last));
		}
		if (!go_frames_depth(g, (int32_t)d->depth, d->top))
			break;
		last = start;
		length = d->pc - f->start;
	}
	memcpy(g->data + length_at, &length, WORD);
	go_frames_end(g, at);
	if (!length)
		g->n = at;
}

/* Returns the bytes of an .eh_frame in this host's byte order with absolute
 * addresses, for the caller to free; NULL if the file has no such table, or is
 * not for x86-64 or AArch64. */
static unsigned char *go_frames_make(const struct elf_file *ef, size_t *len)
{
	struct go_frames g = { .machine = ef->machine };
	struct elf_section from;
	struct gopclntab t;

	if ((ef->machine != EM_X86_64 && ef->machine != EM_AARCH64) ||
	    !gopclntab_open(ef, &t, &from) || t.word != WORD)
		return NULL;
	/* the only CIE: the state at the start of a function */
	static const unsigned char x86[] = {
		1,	/* version */
		0,	/* no augmentation */
		1,	/* code alignment */
		0x78,	/* data alignment: -8 */
		X86_RA, /* column of the return address */
		DW_CFA_def_cfa,
		X86_SP,
		WORD,
		DW_CFA_offset | X86_RA,
		1,
	};
	static const unsigned char a64[] = {
		1,	  0,	    1,
		0x78,	  A64_LINK, DW_CFA_def_cfa,
		A64_SP,	  0,	    DW_CFA_same_value,
		A64_LINK,
	};
	bool is_x86 = g.machine == EM_X86_64;

	go_frames_word(&g, 0);
	go_frames_word(&g, 0);
	go_frames_put(&g, is_x86 ? x86 : a64,
		      is_x86 ? sizeof(x86) : sizeof(a64));
	go_frames_end(&g, 0);
	for (uint64_t i = 0; i < t.n && g.n < FRAMES_MOST; i++) {
		struct gopclntab_function f;
		struct gopclntab_depths d;

		if (gopclntab_function(&t, i, &f) &&
		    gopclntab_depths(&t, &f, &d))
			go_frames_add(&g, &f, &d);
	}
	*len = g.n;
	return g.data;
}

/* .eh_frame has a few CIEs, .debug_frame one per source file. */
#define CIES_MAX 65536
/* The header of a compressed section may claim any size; this much is
 * accepted. */
#define SECTION_MAX ((uint64_t)1 << 30)

/* Sets *b to [off, off + len) of the section, with section offsets as
 * positions. */
static int cfi_window(const struct cfi *c, uint64_t off, uint64_t len,
		      struct bytes *b)
{
	if (off > c->len || len > c->len - off)
		return -1;
	bytes_init(b, c->data + off, len, "", off, c->swap);
	return 0;
}

/* The letters after 'z' describe the augmentation data, which has a length: an
 * unknown letter ends the parsing without an error. */
static int cfi_read_augmentation(const struct cfi *c, struct cfi_cie *cie,
				 const char *a, struct bytes *b)
{
	struct bytes data;
	uint64_t v;
	uint8_t enc;

	cie->sized = *a == 'z';
	if (!cie->sized)
		return *a ? -1 : 0;
	if (leb128_unsigned(b, &v) || bytes_take(b, v, &data, NULL))
		return -1;
	while (*++a) {
		if (*a == 'S') {
			cie->initial.interrupted = true;
		} else if (*a == 'R') {
			if (bytes_u8(&data, &cie->enc, NULL))
				return -1;
		} else if (*a == 'L') {
			if (bytes_u8(&data, &enc, NULL))
				return -1;
		} else if (*a == 'P') {
			if (bytes_u8(&data, &enc, NULL) ||
			    cfi_read_pointer(c, &data, enc & 0xf, cie->address,
					     &v))
				return -1;
		} else if (*a != 'B' && *a != 'G') {
			return 0;
		}
	}
	return 0;
}

static void cfi_start_run(struct cfi_run *r, const struct cfi *c,
			  const struct cfi_cie *cie)
{
	r->c = c;
	r->cie = cie;
	r->now = cie->initial;
	r->loc = 0;
	r->depth = 0;
	r->changed = false;
}

/* Reads a CIE, from after its id, and runs its initial instructions. Returns 0,
 * or -1 if it is damaged or not supported. */
static int cfi_read_cie(const struct cfi *c, struct cfi_cie *cie,
			struct bytes *b)
{
	struct cfi_run r;
	uint8_t version;
	uint8_t byte;
	uint64_t ra;
	const char *a;
	int ret;

	cie->address = c->abi->word;
	cie->enc = DW_EH_PE_absptr;
	if (bytes_u8(b, &version, NULL) || bytes_str(b, &a, NULL))
		return -1;
	if (version != 1 && version != 3 && version != 4)
		return -1;
	if (version == 4) {
		if (bytes_u8(b, &cie->address, NULL) ||
		    bytes_u8(b, &byte, NULL) || byte ||
		    (cie->address != 4 && cie->address != 8))
			return -1;
	}
	if (leb128_unsigned(b, &cie->code_align) ||
	    leb128_signed(b, &cie->data_align))
		return -1;
	if (version == 1) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		ra = byte;
	} else if (leb128_unsigned(b, &ra)) {
		return -1;
	}
	if (ra >= ABI_REGS)
		return -1;
	cie->initial.ra = (uint8_t)ra;
	if (cfi_read_augmentation(c, cie, a, b))
		return -1;
	cfi_start_run(&r, c, cie);
	while ((ret = cfi_run(&r, b)) > 0)
		;
	cie->initial = r.now;
	return ret;
}

/* Takes the next entry. Returns 1, with *b after its length, or 0 at the end.
 * *wide: it is in the 64-bit format. */
static int cfi_next_entry(struct bytes *all, struct bytes *b, bool *wide)
{
	uint32_t word;

	if (bytes_u32(all, &word, NULL))
		return 0;
	uint64_t len = word;
	*wide = word == UINT32_MAX;
	if (*wide && bytes_u64(all, &len, NULL))
		return 0;
	return !bytes_take(all, len, b, NULL);
}

/* Returns the index of the CIE at an offset, which is read the first time;
 * TABLE_NONE if there are too many. A damaged CIE has !good. */
static uint32_t cfi_cie_at(struct cfi *c, uint64_t off)
{
	uint32_t id = table_find_hash(&c->by_off, hash_u64(off));
	struct cfi_cie cie = { .off = off };
	struct bytes all;
	struct bytes b;
	uint32_t word = 0;
	uint64_t mark = 0;
	bool wide;

	if (id != TABLE_NONE || c->n_cie == CIES_MAX)
		return id;
	if (!cfi_window(c, off, off > c->len ? 0 : c->len - off, &all) &&
	    cfi_next_entry(&all, &b, &wide)) {
		if (wide && !c->eh)
			cie.good = !bytes_u64(&b, &mark, NULL) &&
				   mark == UINT64_MAX;
		else
			cie.good = !bytes_u32(&b, &word, NULL) &&
				   word == (c->eh ? 0 : UINT32_MAX);
		cie.good = cie.good && bytes_left(&b) <= c->cie_room;
		if (cie.good) {
			c->cie_room -= bytes_left(&b);
			cie.good = !cfi_read_cie(c, &cie, &b);
		}
	}
	mem_grow(c->cie, c->cap_cie, c->n_cie + 1);
	c->cie[c->n_cie] = cie;
	table_add(&c->by_off, hash_u64(off), (uint32_t)c->n_cie);
	return (uint32_t)c->n_cie++;
}

/* Reads an FDE; b is after its CIE pointer. */
static int cfi_read_fde(const struct cfi *c, uint32_t id, struct bytes *b,
			struct cfi_fde *f)
{
	const struct cfi_cie *cie = &c->cie[id];
	uint64_t len;

	if (cfi_read_pointer(c, b, cie->enc, cie->address, &f->start) ||
	    cfi_read_pointer(c, b, cie->enc & 0xf, cie->address, &len) ||
	    __builtin_add_overflow(f->start, len, &f->end))
		return -1;
	if (cie->sized &&
	    (leb128_unsigned(b, &len) || bytes_skip(b, len, NULL)))
		return -1;
	if (f->start == f->end || bytes_left(b) > UINT32_MAX)
		return -1;
	f->cie = id;
	f->off = bytes_off(b);
	f->len = (uint32_t)bytes_left(b);
	return 0;
}

/* Reads the CIE pointer of an entry. Returns -1 if the entry is a CIE or
 * damaged. */
static int cfi_cie_offset(const struct cfi *c, struct bytes *b, bool wide,
			  uint64_t *off)
{
	uint64_t here = bytes_off(b);
	uint32_t word = 0;

	if (wide && !c->eh) {
		if (bytes_u64(b, off, NULL) || *off == UINT64_MAX)
			return -1;
		return 0;
	}
	if (bytes_u32(b, &word, NULL) || word == (c->eh ? 0 : UINT32_MAX))
		return -1;
	*off = c->eh ? here - word : word;
	return c->eh && word > here ? -1 : 0;
}

/* FDEs are read in the order of their places, which those with equal starts
 * keep. With qsort() this was half the time of opening cc1. */
SORT_BY_DIGITS(cfi_sort, struct cfi_fde, start);

/* Returns a copy of a section's contents, or NULL. A loaded section is stored
 * as it is, so it is read directly into the copy: libelf would keep the 5 MB of
 * a large program too. The Go linker compresses .debug_frame. */
static unsigned char *cfi_section_data(const struct elf_file *ef,
				       const struct elf_section *s, size_t *len)
{
	const bool packed = s->flags & SHF_COMPRESSED;
	uint64_t end;
	char last;
	GElf_Chdr ch;

	*len = s->size;
	if (s->type == SHT_NOBITS)
		return NULL;
	if (!packed && s->flags & SHF_ALLOC) {
		if (!s->size || s->size > SECTION_MAX ||
		    __builtin_add_overflow(s->off, s->size, &end) ||
		    elf_read(ef, end - 1, &last, 1) != 1)
			return NULL;
		unsigned char *data = mem_new(1, *len);

		*len = elf_read(ef, s->off, data, *len);
		return data;
	}
	if (packed && (!gelf_getchdr(s->scn, &ch) || ch.ch_size > SECTION_MAX ||
		       elf_compress(s->scn, 0, 0) < 0))
		return NULL;
	const Elf_Data *d =
		packed ? elf_getdata(s->scn, NULL) : elf_rawdata(s->scn, NULL);

	if (!d || !d->d_buf || !d->d_size || d->d_size > SECTION_MAX)
		return NULL;
	*len = d->d_size;
	return mem_dup(d->d_buf, d->d_size);
}

/* Reads a section. Takes ownership of data. */
static struct cfi *cfi_new(const struct abi *abi, unsigned char *data,
			   size_t len, bool eh, uint64_t addr, bool swap)
{
	struct cfi *c = mem_new(1, sizeof(*c));
	struct bytes all;
	struct bytes b;
	uint64_t last = UINT64_MAX;
	uint32_t id = TABLE_NONE;
	bool wide;

	c->abi = abi;
	c->data = data;
	c->len = len;
	c->eh = eh;
	c->swap = swap;
	c->addr = addr;
	c->cie_room = len;
	bytes_init(&all, c->data, len, "", 0, swap);
	while (cfi_next_entry(&all, &b, &wide)) {
		uint64_t off =
			0; /* set for gcc -O1, which does not see that it is */
		struct cfi_fde f;

		if (cfi_cie_offset(c, &b, wide, &off))
			continue;
		/* most have the same CIE as the FDE before */
		if (off != last)
			id = cfi_cie_at(c, last = off);
		if (id == TABLE_NONE || !c->cie[id].good ||
		    cfi_read_fde(c, id, &b, &f))
			continue;
		*mem_add(c->fde, c->n, c->cap) = f;
	}
	if (c->n > 1) {
		c->fde = cfi_sort(c->fde, c->n);
		c->cap = c->n;
	}
	if (!c->n)
		return c;
	/* A binary search over the 60,000 functions of a compiler waits for
	 * memory ten times; the index leads to the few that begin near an
	 * address. */
	const uint64_t range = c->fde[c->n - 1].start - c->fde[0].start;

	while (range >> c->shift >= c->n)
		c->shift++;
	c->n_near = (size_t)(range >> c->shift) + 1;
	c->near = mem_new(c->n_near + 1, sizeof(*c->near));
	for (size_t i = 0; i < c->n; i++)
		c->near[((c->fde[i].start - c->fde[0].start) >> c->shift) + 1] =
			(uint32_t)i + 1;
	for (size_t i = 1; i <= c->n_near; i++)
		raise_to(c->near[i], c->near[i - 1]);
	return c;
}

struct cfi *cfi_memory(uint16_t machine, const void *data, size_t len,
		       uint64_t addr, bool swap)
{
	const struct abi *abi = abi_of(machine);

	if (!abi || !len || len > SECTION_MAX)
		return NULL;
	return cfi_new(abi, mem_dup(data, len), len, true, addr, swap);
}

struct cfi *cfi_open(const struct elf_file *ef, const char *section)
{
	const struct abi *abi = abi_of(ef->machine);
	struct elf_section s;
	size_t len;

	if (!abi || (gelf_getclass(ef->elf) == ELFCLASS64 ? 8 : 4) != abi->word)
		return NULL;
	unsigned char *data;

	if (!elf_section_find(ef, section, &s)) {
		data = strcmp(section, ".debug_frame")
			       ? NULL
			       : go_frames_make(ef, &len);
		return data ? cfi_new(abi, data, len, true, 0, false) : NULL;
	}
	data = cfi_section_data(ef, &s, &len);

	return data ? cfi_new(abi, data, len, !strcmp(section, ".eh_frame"),
			      s.addr, ef->swap)
		    : NULL;
}

struct cfi *cfi_open_both(const struct elf_file *ef)
{
	struct cfi *c = cfi_open(ef, ".eh_frame");
	struct cfi *debug = cfi_open(ef, ".debug_frame");

	if (!c)
		return debug;
	c->other = debug;
	return c;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	cfi_close(c->other);
	table_release(&c->by_off);
	free_all(c->data, c->cie, c->near, c->fde, c);
}

/* Returns the function around an ELF address, the one with the highest start if
 * there are several; NULL if there is none. O(log n). */
static const struct cfi_fde *cfi_find_fde(const struct cfi *c, uint64_t vaddr)
{
	size_t lo = c->n;

	if (!lo || vaddr < c->fde[0].start)
		return NULL;
	const uint64_t at = (vaddr - c->fde[0].start) >> c->shift;

	if (at < c->n_near) {
		const uint32_t from = c->near[at];

		lo = from + search_where(c->near[at + 1] - from, i,
					 c->fde[from + i].start > vaddr);
	}
	return lo && vaddr < c->fde[lo - 1].end ? &c->fde[lo - 1] : NULL;
}

size_t cfi_functions(const struct cfi *c)
{
	return c->n + (c->other ? c->other->n : 0);
}

void cfi_range(const struct cfi *c, size_t i, uint64_t *start, uint64_t *end)
{
	const struct cfi_fde *f =
		i < c->n ? &c->fde[i] : &c->other->fde[i - c->n];

	*start = f->start;
	*end = f->end;
}

bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end)
{
	const struct cfi_fde *f = c ? cfi_find_fde(c, vaddr) : NULL;

	if (!f)
		return c && cfi_function(c->other, vaddr, start, end);
	*start = f->start;
	*end = f->end;
	return true;
}

uint64_t cfi_next(const struct cfi *c, uint64_t vaddr)
{
	if (!c)
		return UINT64_MAX;
	size_t i = search_where(c->n, k, c->fde[k].start > vaddr);
	uint64_t next = cfi_next(c->other, vaddr);

	if (i < c->n)
		lower_to(next, c->fde[i].start);
	return next;
}

/* Sets *b to the instructions of a function and starts to run them. Returns -1
 * if it has none. */
static int cfi_begin(const struct cfi *c, const struct cfi_fde *f,
		     struct cfi_run *r, struct bytes *b)
{
	if (cfi_window(c, f->off, f->len, b))
		return -1;
	cfi_start_run(r, c, &c->cie[f->cie]);
	r->loc = f->start;
	return 0;
}

int cfi_rules(const struct cfi *c, uint64_t vaddr, struct cfi_rules *out)
{
	const struct cfi_fde *f = cfi_find_fde(c, vaddr);
	struct cfi_run r;
	struct bytes b;

	if (!f && c->other)
		return cfi_rules(c->other, vaddr, out);
	if (!f || cfi_begin(c, f, &r, &b))
		return 0;
	for (;;) {
		int ret = cfi_run(&r, &b);

		if (ret < 0)
			return 0;
		if (!ret || r.loc > vaddr)
			break;
	}
	*out = r.now;
	return 1;
}

int cfi_expr(const struct cfi *c, int64_t v, struct bytes *out)
{
	struct bytes b;
	uint64_t len;

	if (v < 0 || (uint64_t)v > c->len ||
	    cfi_window(c, (uint64_t)v, c->len - (uint64_t)v, &b) ||
	    leb128_unsigned(&b, &len))
		return -1;
	return bytes_take(&b, len, out, NULL);
}

#define X86_64_R10 10

/* Matches expressions that are register + off, or the memory there (*deref). */
static bool cfi_rows_simple_expr(const struct cfi *c, int64_t v, uint8_t *reg,
				 int64_t *off, bool *deref)
{
	struct bytes b;
	uint8_t op;

	*deref = false;
	if (cfi_expr(c, v, &b) || bytes_u8(&b, &op, NULL) || op < DW_OP_breg0 ||
	    op > DW_OP_breg31 || leb128_signed(&b, off) || *off > INT32_MAX ||
	    *off < INT32_MIN)
		return false;
	*reg = (uint8_t)(op - DW_OP_breg0);
	if (!bytes_left(&b))
		return true;
	*deref = true;
	return !bytes_u8(&b, &op, NULL) && op == DW_OP_deref && !bytes_left(&b);
}

/* Matches the expression ld writes for lazy PLTs, whose entries are 16 bytes:
 * SP + word + ((pc & 15) >= N ? word : 0). */
static bool cfi_rows_plt_expr(const struct cfi *c, int64_t v, int64_t *n)
{
	const uint8_t wide = c->abi->word == 8;
	const uint8_t want[] = {
		(uint8_t)(DW_OP_breg0 + c->abi->sp),
		c->abi->word,
		(uint8_t)(DW_OP_breg0 + c->abi->ra),
		0,
		DW_OP_lit15,
		DW_OP_and,
		DW_OP_lit0, /* N */
		DW_OP_ge,
		(uint8_t)(wide ? DW_OP_lit3 : DW_OP_lit2),
		DW_OP_shl,
		DW_OP_plus,
	};
	struct bytes b;

	if (cfi_expr(c, v, &b) || bytes_left(&b) != sizeof(want))
		return false;
	*n = b.pos[6] - DW_OP_lit0;
	return *n >= 0 && *n < 16 && !memcmp(b.pos, want, 6) &&
	       !memcmp(b.pos + 7, want + 7, 4);
}

static bool cfi_rows_saved_at_sp(const struct cfi *c, const struct cfi_rule *r,
				 int64_t off)
{
	uint8_t reg;
	int64_t v;
	bool deref;

	return r->kind == RULE_EXPR &&
	       cfi_rows_simple_expr(c, r->v, &reg, &v, &deref) &&
	       reg == c->abi->sp && v == off && !deref;
}

static enum row_kind cfi_rows_cfa_kind(const struct cfi *c,
				       const struct cfi_rules *r, int64_t *cfa)
{
	uint8_t reg;
	bool deref = false;

	*cfa = r->cfa.v;
	if (r->cfa.kind == RULE_REG) {
		reg = r->cfa_reg;
	} else if (r->cfa.kind != RULE_EXPR) {
		return ROW_COMPLEX;
	} else if (!cfi_rows_simple_expr(c, r->cfa.v, &reg, cfa, &deref)) {
		return cfi_rows_plt_expr(c, r->cfa.v, cfa) ? ROW_PLT
							   : ROW_COMPLEX;
	}
	if (reg == c->abi->sp)
		return deref ? ROW_SP_DEREF : ROW_SP;
	if (reg == c->abi->fp)
		return deref ? ROW_FP_DEREF : ROW_FP;
	if (reg == X86_64_R10 && c->abi->machine == EM_X86_64 && !deref)
		return ROW_DRAP;
	return ROW_COMPLEX;
}

/* Returns false if a row cannot express the rule. */
static bool cfi_rows_place(const struct cfi *c, const struct cfi_rule *r,
			   struct place_rule *out)
{
	int64_t off = r->v;
	uint8_t reg;
	bool deref;

	switch ((enum rule_kind)r->kind) {
	case RULE_UNSET:
	case RULE_SAME:
		out->kind = PLACE_SAME;
		return true;
	case RULE_UNDEFINED:
		out->kind = PLACE_UNDEFINED;
		return true;
	case RULE_OFFSET:
		out->kind = PLACE_CFA;
		break;
	case RULE_REG:
		out->kind = PLACE_REG;
		break;
	case RULE_EXPR:
		if (!cfi_rows_simple_expr(c, r->v, &reg, &off, &deref) ||
		    deref || (reg != c->abi->fp && reg != c->abi->sp))
			return false;
		out->kind = reg == c->abi->fp ? PLACE_FP : PLACE_SP;
		break;
	default:
		return false;
	}
	out->off = (int32_t)off;
	return off >= INT32_MIN && off <= INT32_MAX;
}

/* Returns true if SP after the step is the CFA. On s390x SP may be saved in the
 * frame, where the same value is found. */
static bool cfi_rows_sp_is_cfa(const struct cfi *c, const struct cfi_rules *r)
{
	const struct cfi_rule *sp = &r->reg[c->abi->sp];

	if (c->abi->sp_below)
		return sp->kind != RULE_EXPR && sp->kind != RULE_VAL_EXPR &&
		       sp->kind != RULE_UNDEFINED;
	return sp->kind == RULE_UNSET ||
	       (sp->kind == RULE_VAL_OFFSET && !sp->v);
}

/* Converts rules to a row, which is ROW_COMPLEX if they do not fit. */
static void cfi_rows_convert(const struct cfi *c, const struct cfi_rules *r,
			     struct unwind_rule *out)
{
	const struct cfi_rule *ra = &r->reg[r->ra];

	*out = (struct unwind_rule){ .kind = ROW_COMPLEX };
	if (r->interrupted)
		out->flags |= ROW_INTERRUPTED;
	if (r->is_signed)
		out->flags |= ROW_SIGNED;
	if (ra->kind == RULE_UNDEFINED) {
		out->kind = ROW_OUTERMOST;
		return;
	}
	/* Matches glibc's __restore_rt: all registers are where the kernel
	 * saved them. */
	const struct abi_signal *s = &c->abi->signal[0];
	uint8_t reg;
	int64_t off;
	bool deref;
	if (c->abi->machine == EM_X86_64 && r->interrupted &&
	    r->cfa.kind == RULE_EXPR &&
	    cfi_rows_simple_expr(c, r->cfa.v, &reg, &off, &deref) && deref &&
	    reg == c->abi->sp && off == s->sp &&
	    cfi_rows_saved_at_sp(c, &r->reg[c->abi->fp], s->fp) &&
	    cfi_rows_saved_at_sp(c, &r->reg[c->abi->ra], s->pc)) {
		out->kind = ROW_SIGNAL;
		return;
	}
	if (r->ra != c->abi->ra || !cfi_rows_sp_is_cfa(c, r) ||
	    (c->abi->sp_below && r->interrupted) ||
	    !cfi_rows_place(c, &r->reg[c->abi->fp], &out->fp) ||
	    !cfi_rows_place(c, ra, &out->ra))
		return;
	if (c->abi->link < 0 && ra->kind == RULE_UNSET)
		out->ra = (struct place_rule){ PLACE_CFA, -c->abi->word };
	else if (c->abi->link < 0 && out->ra.kind == PLACE_SAME)
		return;
	out->kind = cfi_rows_cfa_kind(c, r, &out->cfa);
}

struct unwind_rows *cfi_rows(const struct cfi *c, size_t first, size_t step)
{
	struct unwind_rows *rows = unwind_rows_new(c->abi->word);

	for (size_t i = first; i < c->n; i += step) {
		const struct cfi_fde *f = &c->fde[i];
		const struct unwind_rule gap = { .kind = ROW_GAP };
		struct unwind_rule rule;
		struct cfi_run r;
		struct bytes b;
		int ret = 1;

		if (cfi_begin(c, f, &r, &b))
			continue;
		r.changed = true;
		unwind_rows_begin(rows, f->start, f->end);
		while (ret > 0 && r.loc < f->end) {
			uint64_t from = r.loc;

			ret = cfi_run(&r, &b);
			/* a gap begins where the rest is damaged */
			if (ret < 0) {
				unwind_rows_add(rows, from, &gap);
			} else if (r.changed) {
				cfi_rows_convert(c, &r.now, &rule);
				unwind_rows_add(rows, from, &rule);
			}
			r.changed = r.loc <= from;
		}
		unwind_rows_end(rows);
	}
	unwind_rows_finish(rows);
	return rows;
}

struct function_rows *function_rows_new(const struct cfi *c)
{
	struct function_rows *t = mem_new(1, sizeof(*t));

	t->c = c;
	t->n = cfi_functions(c);
	if (t->n)
		t->of = mem_new(t->n, sizeof(*t->of));
	return t;
}

void function_rows_free(struct function_rows *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		unwind_rows_free(t->of[i]);
	free_all(t->of, t);
}

const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr)
{
	const struct cfi_fde *f = cfi_find_fde(t->c, addr);

	if (!f)
		return NULL;
	size_t i = (size_t)(f - t->c->fde);

	if (!t->of[i]) {
		t->of[i] = cfi_rows(t->c, i, t->n);
		t->rows += unwind_rows_count(t->of[i]);
	}
	return unwind_rows_find(t->of[i], addr);
}
