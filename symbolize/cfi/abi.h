/* abi.h - what unwinding has to know of a machine: its registers as DWARF and
 * as perf count them, and what a signal leaves on the stack. */
#ifndef SYMBOLIZE_CFI_ABI_H
#define SYMBOLIZE_CFI_ABI_H
#include <stdint.h>

struct regs;

/* DWARF numbers from 0 on that can matter. */
#define ABI_REGS 35
/* AArch64: not a register, but whether the return address is signed. */
#define ABI_SIGN_STATE 34

/* In bytes from the stack pointer in a signal handler's caller. */
struct abi_signal {
	uint16_t sp, fp, pc, link; /* where these were saved; link 0: none */
};

struct abi {
	uint16_t machine; /* EM_* */
	uint8_t word;	  /* bytes of an address */
	uint8_t sp, fp;	  /* DWARF numbers */
	uint8_t ra;	  /* of the return address, in tables */
	int8_t link;	  /* that a call leaves it in; -1: on the stack */
	uint8_t sp_below; /* the caller's SP is the CFA less this */
	uint8_t n_reg;
	uint8_t perf_pc;
	const int8_t *perf;	     /* [n_reg]; -1: perf has none */
	struct abi_signal signal[2]; /* [1]: of the older system call */
};

/* Register values, by DWARF number. */
struct abi_values {
	uint64_t reg[ABI_REGS];
	uint64_t have; /* a bit each */
	uint64_t pc;   /* 0: not sampled */
};

/* NULL: we do not unwind on this machine. */
const struct abi *abi_of(uint16_t machine);
/* The sampled ones; their number in the mask is perf's. */
void abi_values(const struct abi *abi, const struct regs *regs,
		struct abi_values *out);
#endif
