/* unwinder.h - the interface to user-stack unwinding: registers and stack
 * bytes in, addresses and a reason out. Implemented in symbolize/; stitch
 * calls it through the pointer it is given, NULL means "cannot". */
#ifndef STITCH_UNWINDER_H
#define STITCH_UNWINDER_H
#include <stdbool.h>
#include <stdint.h>

struct jit_code;
struct regs;
struct unwinder;

/* Why an unwound stack ends where it ends. Stored by these numbers. */
enum unwind_end {
	UNWIND_NONE,	  /* it was not unwound: as the kernel recorded it */
	UNWIND_OUTERMOST, /* the tables, or a return address of 0, say that
			   * there is no caller */
	UNWIND_TRUNCATED, /* goes on behind the end of the dump */
	UNWIND_NO_MAP,	  /* the next address is in no executable mapping: it
			   * is left out, unless it was the sampled one */
	UNWIND_NO_FILE,	  /* the file of the code is not at hand */
	UNWIND_NO_TABLE,  /* it says nothing of this code; or code in memory
			   * that is no file's */
	UNWIND_FOREIGN,	  /* goes on on a stack that was not dumped */
	UNWIND_COMPLEX,	  /* the tables ask for a value that is not known */
	UNWIND_LOOP,	  /* the caller's frame is not above its own */
	UNWIND_LIMIT,	  /* more frames than there is room for */
	UNWIND_BAD,	  /* the tables contradict the dump */
	UNWIND_N,
};

/* What covers an address at the time in question. */
struct unwind_map {
	uint64_t start, end, pgoff;
	uint32_t image; /* id in struct frames; 0: none */
	bool exec;	/* may be code */
	/* Or made at run time; NULL: it is not, or not known to be. */
	const struct jit_code *code;
	bool dated; /* what is there depends on the time: epoch or not */
};

struct unwind_in {
	const struct regs *regs;
	uint64_t pc;	    /* where no register says it: the sampled address */
	uint64_t user_mask; /* clears pointer-authentication bits */
	const void *stack;  /* bytes from the stack pointer up */
	uint32_t len;
	bool dumped;	  /* a stack was dumped, if perhaps an empty one */
	bool swap;	  /* it is in another byte order than ours */
	uint16_t machine; /* ELF e_machine of the task; 0: not said, that of
			   * the file whose code it runs */
	/* 1 and *map, or 0: nothing mapped there. */
	int (*find)(void *arg, uint64_t addr, struct unwind_map *map);
	void *arg;
	/* While this is the same, find() gives the same for an address that
	 * is mapped and not dated. 0: nothing is known of that. */
	uint64_t epoch;
};

struct unwind_out {
	uint64_t *ip;	  /* room for max; innermost first */
	uint32_t max, n;  /* n: how many there are, at least 1 */
	uint32_t guessed; /* from this one on, by frame pointer for want of a
			   * table; UINT32_MAX: none */
	enum unwind_end end;
};

/* What is known of the caller of a frame-pointer chain's innermost frame. */
enum unwind_caller {
	CALLER_KNOWN,	 /* it is in the chain, or nothing is known of it */
	CALLER_MISSING,	 /* that frame was not set up yet, or never is */
	CALLER_INFERRED, /* the same, and which one it is can be proved */
};

struct unwinder_ops {
	const char *name;
	/* Fills *out. Callers are return address - 1, inside the call, those
	 * that were interrupted as they are. Without a dump only what the
	 * registers hold can be said: 2 addresses when the return address is
	 * still in the link register, else 1. */
	void (*unwind)(struct unwinder *uw, const struct unwind_in *in,
		       struct unwind_out *out);
	/* Of a recorded chain ip[0..n), n >= 1. infer: look at code for a
	 * proof; then *caller is its return address. */
	enum unwind_caller (*caller)(struct unwinder *uw,
				     const struct unwind_in *in,
				     const uint64_t *ip, uint32_t n, bool infer,
				     uint64_t *caller);
	void (*free)(struct unwinder *uw);
};

/* First member of every unwinder's own struct. */
struct unwinder {
	const struct unwinder_ops *ops;
};
#endif
