/* disasm.c - disassembles code with capstone. */
#include "symbolize/disasm/disasm.h"

#include <capstone/capstone.h>
#include <elf.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/disasm/capstone_calls.h"

struct disasm {
	csh cs;
	cs_insn *insn;
	uint16_t machine;
	unsigned int step; /* bytes to skip if there is no instruction */
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

	if (capstone_load(err))
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

/* capstone 4 has no group for calls on these machines. */
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

/* The target of a branch with a fixed target is its last operand. */
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

enum disasm_sp disasm_sp(const struct disasm *d, int64_t *by)
{
	return disasm_sp_of(d->machine, d->cs, d->insn, by);
}
