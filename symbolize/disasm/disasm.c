/* disasm.c - disassembles code with capstone. */
#include "symbolize/disasm/disasm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <pthread.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

/* ---- loads capstone
 *
 * It is loaded when code is disassembled: linked, 77,000 of its addresses would
 * be relocated at each start of the program, a quarter of the time of a short
 * command. */

/* The functions that are called: C(NAME) is cs_NAME(). */
#define CAPSTONE_CALLS(C)                                                      \
	C(close)                                                               \
	C(disasm_iter)                                                         \
	C(free)                                                                \
	C(insn_group)                                                          \
	C(malloc)                                                              \
	C(open)                                                                \
	C(option)                                                              \
	C(regs_access)

#define CAPSTONE_CALL_MEMBER(name) __typeof__(cs_##name) *name;
/* Set by disasm_open(). */
static struct {
	CAPSTONE_CALLS(CAPSTONE_CALL_MEMBER)
} capstone;
#undef CAPSTONE_CALL_MEMBER

/* Structures differ between versions, so only the version of the header is
 * accepted. */
#define CAPSTONE_TEXT(major) #major
#define CAPSTONE_MAJOR(major) CAPSTONE_TEXT(major)

#define CAPSTONE_CALL_NAME(call) "cs_" #call,
static const char *const capstone_names[] = { CAPSTONE_CALLS(
	CAPSTONE_CALL_NAME) };

/* ---- instructions */

struct disasm {
	csh cs;
	cs_insn *insn;
	uint16_t machine;
	unsigned int step; /* bytes to skip where there is no instruction */
};

static int disasm_capstone_mode(uint16_t machine, bool big, cs_arch *arch,
				cs_mode *mode, unsigned int *step)
{
	*mode = big ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;
	*step = 4;
	switch (machine) {
	case EM_X86_64:
	case EM_386:
		*arch = CS_ARCH_X86;
		*mode = machine == EM_386 ? CS_MODE_32 : CS_MODE_64;
		*step = 1;
		return 0;
	case EM_AARCH64:
		*arch = CS_ARCH_ARM64;
		*mode = CS_MODE_LITTLE_ENDIAN;
		return 0;
	case EM_PPC64:
		*arch = CS_ARCH_PPC;
		*mode |= CS_MODE_64;
		return 0;
	case EM_S390:
		*arch = CS_ARCH_SYSZ;
		*mode = CS_MODE_BIG_ENDIAN;
		*step = 2;
		return 0;
	default:
		return -1;
	}
}

struct disasm *disasm_open(uint16_t machine, bool big, bool intel,
			   struct err *err)
{
	cs_arch arch;
	cs_mode mode;
	unsigned int step;
	csh cs;

	/* Load the library once, until the program ends; the lock is for
	 * threads that name images at the same time. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *const files[] = {
		"libcapstone.so." CAPSTONE_MAJOR(CS_API_MAJOR), NULL
	};
	const struct shared_library l = {
		"instructions are shown by",
		files,
		"libcapstone" CAPSTONE_MAJOR(CS_API_MAJOR),
		capstone_names,
		ARRAY_SIZE(capstone_names),
		&capstone,
	};

	pthread_mutex_lock(&lock);
	int rc = shared_library_load(&l, err);

	pthread_mutex_unlock(&lock);
	if (rc)
		return NULL;
	if (disasm_capstone_mode(machine, big, &arch, &mode, &step) ||
	    capstone.open(arch, mode, &cs) != CS_ERR_OK) {
		err_set(err, ERR_FORMAT,
			"code of ELF machine %u cannot be disassembled; "
			"x86, AArch64, s390x and ppc64 can",
			machine);
		return NULL;
	}
	struct disasm *d = mem_new(1, sizeof(*d));

	d->cs = cs;
	d->machine = machine;
	d->step = step;
	capstone.option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		capstone.option(cs, CS_OPT_SYNTAX,
				intel ? CS_OPT_SYNTAX_INTEL
				      : CS_OPT_SYNTAX_ATT);
	d->insn = capstone.malloc(cs);
	if (!d->insn) {
		disasm_close(d);
		err_set(err, ERR_LIMIT, "no memory for an instruction");
		return NULL;
	}
	return d;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		capstone.free(d->insn, 1);
	capstone.close(&d->cs);
	free(d);
}

static bool disasm_in_group(const struct disasm *d, unsigned int group)
{
	return capstone.insn_group(d->cs, d->insn, group);
}

/* Returns whether the instruction is a call. capstone 4 has no group for calls
 * on these machines. */
static bool disasm_is_call(const struct disasm *d)
{
	const char *m = d->insn->mnemonic;

	switch (d->machine) {
	case EM_AARCH64:
		return d->insn->id == ARM64_INS_BL ||
		       d->insn->id == ARM64_INS_BLR;
	case EM_S390:
		return !strcmp(m, "brasl") || !strcmp(m, "bras") ||
		       !strcmp(m, "basr") || !strcmp(m, "bas") ||
		       !strcmp(m, "jasl") || !strcmp(m, "jas");
	case EM_PPC64:
		return m[0] == 'b' && strchr(m, 'l') &&
		       (!strcmp(m, "bl") || !strcmp(m, "bla") ||
			!strcmp(m, "bctrl") || !strcmp(m, "blrl") ||
			!strcmp(m, "bcl"));
	default:
		return disasm_in_group(d, CS_GRP_CALL);
	}
}

static bool disasm_is_return(const struct disasm *d)
{
	switch (d->machine) {
	case EM_S390:
		return !strcmp(d->insn->mnemonic, "br") &&
		       !strcmp(d->insn->op_str, "%r14");
	case EM_PPC64:
		return !strcmp(d->insn->mnemonic, "blr");
	default:
		return disasm_in_group(d, CS_GRP_RET) ||
		       disasm_in_group(d, CS_GRP_IRET);
	}
}

static bool disasm_is_jump(const struct disasm *d)
{
	const char *m = d->insn->mnemonic;

	switch (d->machine) {
	case EM_S390:
		return m[0] == 'j' || !strcmp(m, "br") ||
		       !strncmp(m, "brc", 3) || strstr(m, "rj") != NULL;
	case EM_PPC64:
		return m[0] == 'b' && strncmp(m, "bpermd", 6) != 0;
	default:
		return disasm_in_group(d, CS_GRP_JUMP);
	}
}

/* Sets *out to the target of a branch with a fixed target, which is its last
 * operand. */
static bool disasm_fixed_target(const struct disasm *d, uint64_t *out)
{
	const cs_detail *t = d->insn->detail;

#define LAST_IMMEDIATE(arch, type_imm)                                         \
	do {                                                                   \
		unsigned int n = t->arch.op_count;                             \
                                                                               \
		if (!n || t->arch.operands[n - 1].type != (type_imm))          \
			return false;                                          \
		*out = (uint64_t)t->arch.operands[n - 1].imm;                  \
		return true;                                                   \
	} while (0)

	switch (d->machine) {
	case EM_X86_64:
	case EM_386:
		if (t->x86.op_count != 1)
			return false;
		LAST_IMMEDIATE(x86, X86_OP_IMM);
	case EM_AARCH64:
		LAST_IMMEDIATE(arm64, ARM64_OP_IMM);
	case EM_PPC64:
		LAST_IMMEDIATE(ppc, PPC_OP_IMM);
	case EM_S390:
		LAST_IMMEDIATE(sysz, SYSZ_OP_IMM);
	default:
		return false;
	}
#undef LAST_IMMEDIATE
}

bool disasm_next(struct disasm *d, const unsigned char **code, size_t *len,
		 uint64_t *addr, struct insn *out)
{
	const uint8_t *p = *code;
	size_t left = *len;
	uint64_t at = *addr;

	if (!*len)
		return false;
	*out = (struct insn){ .addr = *addr };
	if (capstone.disasm_iter(d->cs, &p, &left, &at, d->insn) &&
	    d->insn->size && d->insn->size <= *len) {
		snprintf(out->mnemonic, sizeof(out->mnemonic), "%s",
			 d->insn->mnemonic);
		snprintf(out->operands, sizeof(out->operands), "%s",
			 d->insn->op_str);
		out->len = d->insn->size;
		if (disasm_is_call(d))
			out->flow = FLOW_CALL;
		else if (disasm_is_return(d))
			out->flow = FLOW_RETURN;
		else if (disasm_is_jump(d))
			out->flow = FLOW_JUMP;
		if (out->flow == FLOW_CALL || out->flow == FLOW_JUMP)
			out->has_target = disasm_fixed_target(d, &out->target);
	} else {
		size_t n = *len < d->step ? *len : d->step;
		size_t used = 0;

		out->flow = FLOW_BAD;
		out->len = (unsigned int)n;
		snprintf(out->mnemonic, sizeof(out->mnemonic), ".byte");
		for (size_t i = 0; i < n; i++)
			used += (size_t)snprintf(out->operands + used,
						 sizeof(out->operands) - used,
						 "%s0x%02x", i ? ", " : "",
						 (*code)[i]);
	}
	*code += out->len;
	*len -= out->len;
	*addr += out->len;
	return true;
}

/* ---- the stack pointer */

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
	return any_where(n, i, written[i] == sp);
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
		/* size is that of the immediate here */
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

static enum disasm_sp disasm_sp_arm64(csh cs, const cs_insn *in, int64_t *by)
{
	const cs_arm64 *t = &in->detail->arm64;
	const cs_arm64_op *op = t->operands;

	/* pre-index "[sp, #-16]!" or post-index "[sp], #16" */
	if (t->writeback) {
		for (uint8_t i = 0; i < t->op_count; i++) {
			const cs_arm64_op *at = &t->operands[i];

			if (at->type != ARM64_OP_MEM ||
			    at->mem.base != ARM64_REG_SP)
				continue;
			*by = at->mem.disp;
			if (i + 1 < t->op_count &&
			    t->operands[i + 1].type == ARM64_OP_IMM)
				*by = t->operands[i + 1].imm;
			return SP_MOVED;
		}
		return SP_KEPT;
	}
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

/* capstone 4 does not list the registers that these write: instructions with
 * r15 as first operand, and load-multiple up to r15. */
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

enum disasm_sp disasm_sp(const struct disasm *d, int64_t *by)
{
	enum disasm_sp sp = SP_SET;

	*by = 0;
	if (d->machine == EM_X86_64)
		sp = disasm_sp_x86(d->cs, d->insn, by);
	else if (d->machine == EM_AARCH64)
		sp = disasm_sp_arm64(d->cs, d->insn, by);
	else if (d->machine == EM_S390)
		sp = disasm_sp_s390x(d->insn, by);
	if (sp != SP_MOVED)
		*by = 0;
	return sp;
}
