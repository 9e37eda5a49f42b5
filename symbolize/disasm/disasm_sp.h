/* disasm_sp.h - what an instruction does to the stack pointer; for disasm.c. */
#ifndef SYMBOLIZE_DISASM_DISASM_SP_H
#define SYMBOLIZE_DISASM_DISASM_SP_H
#include <capstone/capstone.h>
#include <stdint.h>

#include "symbolize/disasm/disasm.h"

/* x86 in Intel's syntax: capstone keeps operands in the order of the text. */
enum disasm_sp disasm_sp_of(uint16_t machine, csh cs, const cs_insn *in,
			    int64_t *by);
#endif
