/* cfi_run.c - executes the instructions of call frame information. */
#include "symbolize/cfi/cfi_run.h"

#include <dwarf.h>
#include <elf.h>

#include "stitch/base/bytes.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/elf/dwarf_number.h"

#define V_MAX (INT64_MAX >> 8)

/* Effect of an instruction. */
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
	 * opcode otherwise, but is not supported. */
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

int cfi_read_pointer(const struct cfi *c, struct bytes *b, uint8_t enc,
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

/* Multiplies by the data alignment; fails on overflow. */
static int cfi_run_scale(const struct cfi_run *r, int64_t v, int64_t *out)
{
	return __builtin_mul_overflow(v, r->cie->data_align, out);
}

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

/* Executes an instruction that advances the location. Returns 1 if op is
 * another one. */
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

int cfi_run(struct cfi_run *r, struct bytes *b)
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
