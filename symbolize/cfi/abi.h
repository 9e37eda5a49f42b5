/* abi.h - registers and signal frames of the machines that can be unwound. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct regs;

/* DWARF register numbers below this one are used. The last is a pseudo register
 * of AArch64 with the state of return address signing. */
#define ABI_REGS 35

/* Offsets in a signal frame, from the stack pointer at the handler's return
 * address. */
struct abi_signal {
	uint16_t sp, fp, pc, link; /* saved registers; link 0: not saved */
};

struct abi {
	uint16_t machine; /* EM_* */
	uint8_t word;	  /* bytes of an address */
	uint8_t sp, fp;	  /* DWARF numbers */
	uint8_t ra;	  /* DWARF number of the return address column */
	/* register in which a call stores the return address; -1: on the
	 * stack */
	int8_t link;
	uint8_t sp_below; /* CFA minus the caller's SP */
	uint8_t n_reg;
	uint8_t perf_pc, n_dwarf;
	const int8_t *dwarf; /* by perf number, n_dwarf of them; -1: none */
	/* [1]: frame of the older sigreturn system call */
	struct abi_signal signal[2];
};

/* Register values, by DWARF number. */
struct abi_values {
	uint64_t reg[ABI_REGS];
	uint64_t have; /* bit i: reg[i] is known */
	uint64_t pc;   /* 0: not sampled */
};

/* Returns the constants of a machine (EM_*), or NULL if its stacks cannot be
 * unwound. */
const struct abi *abi_of(uint16_t machine);
/* Stores the sampled registers by DWARF number; perf numbers them
 * differently. */
void abi_values(const struct abi *abi, const struct regs *regs,
		struct abi_values *out);

struct elf_file;
struct unwind_row;

/* ELF addresses of rt_sigreturn, and of the older system call; end 0: the file
 * lacks it. */
struct sigreturn {
	uint64_t start[2], end[2];
};

/* Finds these functions in a vdso whose unwind tables do not describe them:
 * AArch64 has no tables, and those of s390x treat them as ordinary functions
 * (Linux 7.2). */
struct sigreturn sigreturn_find(const struct elf_file *ef);
/* Sets *out to the row of an address in one of these functions. Returns false
 * if it is in neither. */
bool sigreturn_row(const struct sigreturn *s, uint64_t vaddr,
		   struct unwind_row *out);
