/* disasm.h - disassembles code with capstone.
 *
 * Call disasm_open() for a machine, then disasm_next() until it returns false.
 * Bytes that are no instruction are returned as ".byte", one instruction unit
 * at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;
struct err;

enum disasm_flow {
	FLOW_NONE, /* continues with the next instruction */
	FLOW_CALL,
	FLOW_JUMP, /* conditional or not */
	FLOW_RETURN,
	FLOW_BAD, /* not an instruction */
};

enum disasm_sp {
	SP_KEPT,
	SP_MOVED, /* changed by a constant */
	SP_SET,	  /* changed otherwise */
};

struct insn {
	uint64_t addr;
	unsigned int len;
	enum disasm_flow flow;
	bool has_target; /* call or jump to a fixed address */
	uint64_t target;
	char mnemonic[32], operands[160];
};

/* intel: x86 in Intel syntax, else AT&T. Returns NULL and *err if capstone does
 * not support the machine (EM_*). */
struct disasm *disasm_open(uint16_t machine, bool big, bool intel,
			   struct err *err);
void disasm_close(struct disasm *d);
/* Disassembles one instruction at *code, whose address is *addr, and advances
 * all three. Returns false only at the end. */
bool disasm_next(struct disasm *d, const unsigned char **code, size_t *len,
		 uint64_t *addr, struct insn *out);

/* Returns the effect of the last instruction, which must not be FLOW_BAD, on
 * the stack pointer, and the number of bytes in *by. Calls and returns count as
 * SP_KEPT, since they leave SP unchanged for their function. Supports x86-64
 * (Intel syntax), AArch64 and s390x; SP_SET for others. */
enum disasm_sp disasm_sp(const struct disasm *d, int64_t *by);
