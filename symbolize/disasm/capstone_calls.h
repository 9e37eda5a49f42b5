/* capstone_calls.h - the functions of capstone, which is loaded when code is
 * disassembled: linked, 77,000 of its addresses are relocated at each start of
 * the program, a quarter of the time of a short command. */
#pragma once
#include <capstone/capstone.h>

struct err;

/* Those that are called, as C(NAME) for cs_NAME(). */
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
struct capstone_calls {
	CAPSTONE_CALLS(CAPSTONE_CALL_MEMBER)
};
#undef CAPSTONE_CALL_MEMBER

/* Set by capstone_load(). */
extern struct capstone_calls capstone;

/* Loads the library once, until the program ends; not for several threads at a
 * time. Returns 0, or -1 and *err (ERR_USAGE). */
int capstone_load(struct err *err);
