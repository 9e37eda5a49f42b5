/* disasm_sp.h - what an instruction does to the stack pointer; for disasm.c. */
#ifndef SYMBOLIZE_DISASM_DISASM_SP_H
#define SYMBOLIZE_DISASM_DISASM_SP_H
#include <stddef.h>
#include <stdint.h>

struct cs_insn;

enum disasm_sp {
	SP_KEPT,
	SP_MOVED, /* by so many bytes */
	SP_SET,	  /* in another way */
};
/* The change that instruction `in` of machine (EM_*) makes; *by is the number
 * of bytes of SP_MOVED, else 0. cs is capstone's csh. x86 must be disassembled
 * in Intel syntax: capstone keeps the operands in the order of the text. */
enum disasm_sp disasm_sp_of(uint16_t machine, size_t cs,
			    const struct cs_insn *in, int64_t *by);
#endif
