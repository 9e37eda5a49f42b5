/* disasm.h - code bytes as instructions: capstone behind a small door.
 *
 * disasm_open() for a machine, then disasm_next() over bytes: what is no
 * instruction is stepped over as ".byte" (".word" where all have 4 bytes), so
 * that the end is always reached. */
#ifndef SYMBOLIZE_DISASM_DISASM_H
#define SYMBOLIZE_DISASM_DISASM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/disasm/disasm_sp.h"

struct disasm;
struct err;

enum disasm_flow {
	FLOW_NONE, /* goes on below */
	FLOW_CALL,
	FLOW_JUMP, /* with or without condition */
	FLOW_RETURN,
	FLOW_BAD, /* no instruction */
};

struct insn {
	uint64_t addr;
	unsigned int len;
	enum disasm_flow flow;
	bool has_target; /* a call or jump to a fixed address */
	uint64_t target;
	char mnemonic[32], operands[160];
};

/* intel: x86 in Intel's syntax, not AT&T's. NULL and *err when
 * capstone does not know the machine (EM_*). */
struct disasm *disasm_open(uint16_t machine, bool big, bool intel,
			   struct err *err);
void disasm_close(struct disasm *d);
/* The instruction at *code, which is at *addr; moves all three behind it.
 * False at the end only. */
bool disasm_next(struct disasm *d, const unsigned char **code, size_t *len,
		 uint64_t *addr, struct insn *out);

/* What the instruction that came last, which must have been one, does to the
 * stack pointer; a call and a return do nothing to it that counts for the
 * function they are in. x86-64 in Intel's syntax,
 * AArch64, s390x; SP_SET on others. */
enum disasm_sp disasm_sp(const struct disasm *d, int64_t *by);
#endif
