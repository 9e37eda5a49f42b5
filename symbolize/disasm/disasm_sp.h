/* disasm_sp.h - the effect of an instruction on the stack pointer; for
 * disasm.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cs_insn;

enum disasm_sp {
	SP_KEPT,
	SP_MOVED, /* changed by a constant */
	SP_SET,	  /* changed otherwise */
};
/* Returns the effect of instruction `in` of machine (EM_*); *by is the change
 * in bytes for SP_MOVED, else 0. cs is capstone's csh. x86 must be disassembled
 * in Intel syntax, since capstone orders operands like the text. */
enum disasm_sp disasm_sp_of(uint16_t machine, size_t cs,
			    const struct cs_insn *in, int64_t *by);
