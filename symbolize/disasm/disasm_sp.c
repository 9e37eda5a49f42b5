/* disasm_sp.c - the effect of an instruction on the stack pointer. */
#include "symbolize/disasm/disasm_sp.h"

#include <capstone/capstone.h>
#include <elf.h>

#include "symbolize/disasm/capstone_calls.h"

/* Returns true if the instruction writes register sp, or if that is unknown. */
static bool disasm_sp_writes(csh cs, const cs_insn *in, uint16_t sp)
{
	cs_regs reads;
	cs_regs written;
	uint8_t n_read = 0;
	uint8_t n = 0;

	if (capstone.regs_access(cs, in, reads, &n_read, written, &n) !=
	    CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < n; i++)
		if (written[i] == sp)
			return true;
	return false;
}

static enum disasm_sp disasm_sp_x86(csh cs, const cs_insn *in, int64_t *by)
{
	const cs_x86 *t = &in->detail->x86;
	const cs_x86_op *to = &t->operands[0];
	const cs_x86_op *from = &t->operands[1];

	if (capstone.insn_group(cs, in, CS_GRP_CALL) ||
	    capstone.insn_group(cs, in, CS_GRP_RET))
		return SP_KEPT;
	switch (in->id) {
	case X86_INS_PUSH:
		*by = -(int64_t)to->size;
		/* size is then that of the immediate */
		if (to->type == X86_OP_IMM)
			*by = -8;
		return SP_MOVED;
	case X86_INS_PUSHFQ:
	case X86_INS_POPFQ:
		*by = in->id == X86_INS_PUSHFQ ? -8 : 8;
		return SP_MOVED;
	case X86_INS_POP:
		*by = to->size;
		return to->type == X86_OP_REG && to->reg == X86_REG_RSP
			       ? SP_SET
			       : SP_MOVED;
	case X86_INS_ADD:
	case X86_INS_SUB:
		if (to->type != X86_OP_REG || to->reg != X86_REG_RSP ||
		    from->type != X86_OP_IMM)
			break;
		*by = in->id == X86_INS_ADD ? from->imm : -from->imm;
		return SP_MOVED;
	case X86_INS_LEA:
		if (to->reg != X86_REG_RSP || from->type != X86_OP_MEM ||
		    from->mem.base != X86_REG_RSP ||
		    from->mem.index != X86_REG_INVALID)
			break;
		*by = from->mem.disp;
		return SP_MOVED;
	default:
		break;
	}
	return disasm_sp_writes(cs, in, X86_REG_RSP) ? SP_SET : SP_KEPT;
}

/* Pre-index "[sp, #-16]!" or post-index "[sp], #16". */
static enum disasm_sp disasm_sp_arm64_memory(const cs_arm64 *t, int64_t *by)
{
	for (uint8_t i = 0; i < t->op_count; i++) {
		const cs_arm64_op *op = &t->operands[i];

		if (op->type != ARM64_OP_MEM || op->mem.base != ARM64_REG_SP)
			continue;
		*by = op->mem.disp;
		if (i + 1 < t->op_count &&
		    t->operands[i + 1].type == ARM64_OP_IMM)
			*by = t->operands[i + 1].imm;
		return SP_MOVED;
	}
	return SP_KEPT;
}

static enum disasm_sp disasm_sp_arm64(csh cs, const cs_insn *in, int64_t *by)
{
	const cs_arm64 *t = &in->detail->arm64;
	const cs_arm64_op *op = t->operands;

	if (t->writeback)
		return disasm_sp_arm64_memory(t, by);
	if ((in->id == ARM64_INS_ADD || in->id == ARM64_INS_SUB) &&
	    t->op_count == 3 && op[0].type == ARM64_OP_REG &&
	    op[0].reg == ARM64_REG_SP && op[1].type == ARM64_OP_REG &&
	    op[1].reg == ARM64_REG_SP && op[2].type == ARM64_OP_IMM) {
		int64_t n = op[2].imm;

		if (op[2].shift.type == ARM64_SFT_LSL)
			n = (int64_t)((uint64_t)n << (op[2].shift.value & 31));
		*by = in->id == ARM64_INS_ADD ? n : -n;
		return SP_MOVED;
	}
	return disasm_sp_writes(cs, in, ARM64_REG_SP) ? SP_SET : SP_KEPT;
}

/* capstone 4 does not list the registers these write: those with r15 as first
 * operand, and load-multiple up to r15. */
static enum disasm_sp disasm_sp_s390x(const cs_insn *in, int64_t *by)
{
	const cs_sysz *t = &in->detail->sysz;
	const cs_sysz_op *op = t->operands;

	if (!t->op_count || op[0].type != SYSZ_OP_REG)
		return SP_KEPT;
	if (in->id == SYSZ_INS_LMG)
		return t->op_count > 1 && op[1].type == SYSZ_OP_REG &&
				       op[1].reg == SYSZ_REG_15
			       ? SP_SET
			       : SP_KEPT;
	if (op[0].reg != SYSZ_REG_15 || in->mnemonic[0] == 's' ||
	    in->mnemonic[0] == 'c')
		return SP_KEPT;
	if (t->op_count == 2 && op[1].type == SYSZ_OP_IMM &&
	    (in->id == SYSZ_INS_AGHI || in->id == SYSZ_INS_AGFI)) {
		*by = op[1].imm;
		return SP_MOVED;
	}
	if (t->op_count == 2 && op[1].type == SYSZ_OP_MEM &&
	    (in->id == SYSZ_INS_LAY || in->id == SYSZ_INS_LA) &&
	    op[1].mem.base == SYSZ_REG_15 && !op[1].mem.index) {
		*by = op[1].mem.disp;
		return SP_MOVED;
	}
	return SP_SET;
}

enum disasm_sp disasm_sp_of(uint16_t machine, csh cs, const cs_insn *in,
			    int64_t *by)
{
	enum disasm_sp sp = SP_SET;

	*by = 0;
	if (machine == EM_X86_64)
		sp = disasm_sp_x86(cs, in, by);
	else if (machine == EM_AARCH64)
		sp = disasm_sp_arm64(cs, in, by);
	else if (machine == EM_S390)
		sp = disasm_sp_s390x(in, by);
	if (sp != SP_MOVED)
		*by = 0;
	return sp;
}
