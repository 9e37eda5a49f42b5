/* unwinder.h - the interface to user-stack unwinding: registers and stack
 * bytes in, addresses and a reason out. Implemented in symbolize/; stitch
 * calls it through the pointer it is given, NULL means "cannot". */
#ifndef STITCH_UNWINDER_H
#define STITCH_UNWINDER_H
#include <stdint.h>

struct err;
struct regs;
struct unwinder;

/* Why an unwound stack ends where it ends. */
enum unwind_end {
	UNWIND_OUTERMOST, /* the tables say there is no caller */
	UNWIND_CUT,	  /* the dump ends, or our limit was reached */
	UNWIND_NO_TABLE,  /* no unwind information for this address */
	UNWIND_NO_MAP,	  /* the address is in no mapping */
	UNWIND_BAD,	  /* the tables contradict the dump */
};

/* What covers an address at the time in question. */
struct unwind_map {
	uint64_t start, end, pgoff;
	uint32_t image; /* id in struct frames; 0: none */
};

struct unwind_in {
	const struct regs *regs;
	uint64_t pc;	    /* where no register says it: the sampled address */
	uint64_t user_mask; /* clears pointer-authentication bits */
	const void *stack;  /* bytes from the stack pointer up */
	uint32_t len;
	uint16_t machine; /* ELF e_machine of the task */
	/* 1 and *map, or 0: nothing mapped there. */
	int (*find)(void *arg, uint64_t addr, struct unwind_map *map);
	void *arg;
};

struct unwinder_ops {
	const char *name;
	/* Fills ip[0..max) innermost first; gives the number, or -1. Callers
	 * are return address - 1, inside the call. Without a stack (in->stack
	 * NULL) only what the registers hold can be said: 2 addresses when
	 * the return address is still in the link register, else 1. */
	int (*unwind)(struct unwinder *uw, const struct unwind_in *in,
		      uint64_t *ip, uint32_t max, enum unwind_end *end,
		      struct err *err);
	void (*free)(struct unwinder *uw);
};

/* First member of every unwinder's own struct. */
struct unwinder {
	const struct unwinder_ops *ops;
};
#endif
