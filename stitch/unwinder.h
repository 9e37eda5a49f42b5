/* unwinder.h - the interface of user-stack unwinding: registers and stack bytes
 * in, addresses and the reason for the end out. Implemented in symbolize/.
 * stitch gets a pointer to it; NULL means that there is no unwinder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct jit_code;
struct regs;
struct unwind_job;
struct unwinder;

/* The reason why a stack that the kernel did not record ends. The numbers are
 * stored in the database. */
enum unwind_end {
	UNWIND_NONE,	  /* not unwound: as the kernel recorded it */
	UNWIND_OUTERMOST, /* the tables, or a return address of 0, say that
			   * there is no caller, or a thread begins there; or
			   * the processor recorded the calls (REC_F_LBR) */
	UNWIND_TRUNCATED, /* it continues beyond the end of the dump */
	UNWIND_NO_MAP,	  /* the next address is in no executable mapping; it is
			   * left out unless it is the sampled one */
	UNWIND_NO_FILE,	  /* the file of the code is not available */
	UNWIND_NO_TABLE,  /* no table covers this code, or the code is not in a
			   * file */
	UNWIND_FOREIGN,	  /* it continues on a stack that was not dumped */
	UNWIND_COMPLEX,	  /* the tables need a value that is unknown */
	UNWIND_LOOP,	  /* the caller's frame is not above the callee's */
	UNWIND_LIMIT,	  /* more frames than the output has room for */
	UNWIND_BAD,	  /* the tables contradict the dump */
	UNWIND_HIT,	  /* not unwound: the sampled address, as the callchain
			   * lacks this half (REC_F_HIT) */
	UNWIND_EMPTY,	  /* no byte could be dumped: most often, execve() has
			   * left the old stack and not begun the new one */
	UNWIND_UNREAD,	  /* it continues where no dump has it: beyond the end
			   * of the largest one, or where the kernel could not
			   * read, most often in a page that nothing touched */
	UNWIND_CONVERTED, /* perf inject unwound the dump, left out some frames,
			   * and removed the dump (REC_F_CONVERTED) */
	UNWIND_N,
};

/* The mapping of an address at the time of the sample. */
struct unwind_map {
	uint64_t start, end, pgoff;
	uint32_t image; /* id in struct frames; 0: none */
	bool exec;	/* may contain code */
	/* code made at run time; NULL: none, or unknown */
	const struct jit_code *code;
	bool dated; /* the answer depends on the time, even within one epoch */
};

struct unwind_in {
	const struct regs *regs;
	uint64_t pc;	    /* the sampled address, if no register has it */
	uint64_t user_mask; /* see user_mask_of() */
	const void *stack;  /* bytes from the stack pointer upwards */
	uint32_t len;
	bool dumped;	  /* a stack was dumped; it may be empty */
	bool swap;	  /* the dump has the other byte order */
	uint16_t machine; /* ELF e_machine of the task; 0: unknown, use that of
			   * the file */
	/* Returns 1 and *map, or 0 if nothing is mapped there. */
	int (*find)(void *arg, uint64_t addr, struct unwind_map *map);
	void *arg;
	/* While epoch is the same, find() returns the same for any mapped
	 * address that is not dated. 0: no such guarantee. */
	uint64_t epoch;
};

struct unwind_out {
	uint64_t *ip;	  /* room for max addresses, innermost first */
	uint32_t max, n;  /* n: number of addresses, at least 1 */
	uint32_t guessed; /* index of the first one found by frame pointer
			   * because there was no table; UINT32_MAX: none */
	bool unproved; /* a caller may be missing before one of these addresses:
			* a possible return address of it lies between two
			* frames */
	enum unwind_end end;
};

/* What is known about the caller of the innermost frame of a frame-pointer
 * chain. */
enum unwind_caller {
	CALLER_KNOWN,	 /* it is in the chain, or nothing is known */
	CALLER_MISSING,	 /* it is missing: the frame was not set up yet, or
			  * never is */
	CALLER_INFERRED, /* it is missing, but the code proves which one it
			  * is */
	CALLER_FRAMED,	 /* it is in the chain: the innermost function has set
			  * up its frame */
	CALLER_FUNCTION, /* it is missing, but the code proves its function,
			  * which calls the innermost one at several places;
			  * stored as inferred */
	CALLER_UNPROVED, /* for a dump: see struct unwind_out.unproved */
	CALLER_STALE, /* an address that an earlier call has left precedes it in
		       * the chain */
};

enum unwind_part {
	UNWIND_DATA,
	UNWIND_TEXT
};

struct unwinder_ops {
	/* Fills *out. Callers are return address - 1, which is inside the call;
	 * interrupted addresses are unchanged. Without a dump, only registers
	 * count: 2 addresses if the return address is still in the link
	 * register, else 1. */
	void (*unwind)(struct unwinder *uw, const struct unwind_in *in,
		       struct unwind_out *out);
	/* Examines a recorded chain ip[0..n), n >= 1. infer: look for a proof
	 * in the code; *caller is then the return address, or the start of the
	 * function. */
	enum unwind_caller (*caller)(struct unwinder *uw,
				     const struct unwind_in *in,
				     const uint64_t *ip, uint32_t n, bool infer,
				     uint64_t *caller);
	/* Returns whether the callers of a recorded chain are addresses inside
	 * calls, as from an unwinder, and none is a return address. At least
	 * two of them must be in available files. */
	bool (*inside)(struct unwinder *uw, const struct unwind_in *in,
		       const uint64_t *ip, uint32_t n);
	/* Returns whether [start, end), in or next to a mapping of a file's
	 * code, is a part of that file, by its program headers. UNWIND_DATA:
	 * data, loaded without the right to execute. UNWIND_TEXT: all of it is
	 * text of a program (a mapping may be longer than the file's text, and
	 * only programs stay mapped). False: it is not, or not known. */
	bool (*has)(struct unwinder *uw, const struct unwind_map *map,
		    uint64_t start, uint64_t end, enum unwind_part part);
	/* Returns whether a thread begins in the function at a return address
	 * in the code at map, so that nothing has called it: the C library's
	 * first functions keep other data in FP, along which a walk continues.
	 * Returns true only if this is known without reading the whole file. */
	bool (*begins)(struct unwinder *uw, const struct unwind_map *map,
		       uint64_t addr);
	/* Begins to unwind a dump of a known machine, whose registers have the
	 * sampled address, on another thread: registers, stack and the data of
	 * find() must not change until finish(). soon: unwind it before dumps
	 * begun without `soon`. Returns NULL if no thread is free. begin NULL:
	 * there are no threads. */
	struct unwind_job *(*begin)(struct unwinder *uw,
				    const struct unwind_in *in, bool soon);
	/* Ends a job and frees it. Returns true and *out, filled as by
	 * unwind(), or false if the caller must call unwind(). *dated: the
	 * result depends on an address that find() did not find or reported as
	 * dated. */
	bool (*finish)(struct unwinder *uw, struct unwind_job *job,
		       struct unwind_out *out, bool *dated);
	void (*free)(struct unwinder *uw);
};

/* First member of every unwinder's own struct. */
struct unwinder {
	const struct unwinder_ops *ops;
};
