/* callsite.h - results of the call-site check.
 *
 * The check examines the instruction before a return address, and the target of
 * its call. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum callsite_kind {
	CALLSITE_DIRECT = 1, /* a call with a fixed target */
	CALLSITE_INDIRECT,   /* a call through a register or memory */
	CALLSITE_SIGNAL,     /* the return address of a signal handler */
	CALLSITE_START,	     /* where a context or goroutine starts */
	CALLSITE_NO_CALL,    /* wrong: no call can return to this address */
	CALLSITE_NO_CODE,    /* wrong: there is no code at this address */
	CALLSITE_UNCHECKED,  /* the code at this address is unknown */
};

/* The relation of two neighbouring frames. */
enum callsite_link {
	CALLSITE_PROVED = 1, /* the call's target is the inner frame's
			      * function */
	CALLSITE_OPEN,	     /* the call is indirect: the target may be that
			      * function */
	CALLSITE_GAP,	   /* the call has another target: a frame is missing in
			    * between, or there was a tail call */
	CALLSITE_UNKNOWN,  /* too little is known about one of the two */
	CALLSITE_NEVER,	   /* a gap, and the called function can neither have
			    * jumped to the inner one nor have made the frame that
			    * holds the return address */
	CALLSITE_INJECTED, /* the inner function was made to look called,
			    * without a call */
	CALLSITE_WALKED,   /* proved, but frame pointers do not lead there: the
			    * inner function has set none, and does not call
			    * itself */
};

/* Where a user stack ends: START_ in the function in which its thread begins;
 * ENDS_ elsewhere, with the reason why a walk along frame pointers ends there.
 * For a frame in which no stack ends: ENDS_FUNCTION or ENDS_SWITCH if its
 * caller is missing in the chain, too. */
enum thread_start {
	START_UNKNOWN, /* not examined, or too little is known about the code */
	/* The function's unwind table gives no return address: _start of
	 * crt1.o, clone() of glibc. */
	START_TABLE,
	/* The entry of the program or of its loader, or main(), whose address
	 * it gives to the C library. */
	START_ENTRY,
	START_LIBRARY, /* the first function of the C library or Go's runtime */
	/* The function that starts a thread gets its address, and nothing else
	 * in its file calls it. */
	START_ROUTINE,
	/* It set a frame pointer, and sets it to 0 before the call: the System
	 * V ABI for x86-64, 3.4.1, and that for AArch64 mark the outermost
	 * frame so. */
	START_MARK,
	ENDS_FILE,     /* hardly a function of the file sets a frame pointer */
	ENDS_FUNCTION, /* others set one, but not this function; or this is not
			* examined */
	ENDS_FRAME,    /* the function has set one: the stack continues */
	/* At the end, as the numbers are stored: the code after the call ends
	 * the thread with a system call. */
	START_EXIT,
	ENDS_SWITCH, /* ENDS_FUNCTION, and the function switches to another
		      * stack and back */
	/* For an innermost frame: its threads run code without an unwind table,
	 * so a stack dump would end there. */
	ENDS_DUMP,
	/* For a kernel stack: the kernel is entered from user mode there, or a
	 * thread or CPU starts, so no frame is further out. */
	START_KERNEL,
	START_INTERRUPT, /* an interrupt: entered from user mode, or from the
			  * interrupted kernel code */
};

/* Who walked a user stack that was recorded as addresses. */
enum walk {
	WALK_UNKNOWN,
	WALK_FP,
	WALK_SFRAME,
	WALK_BOTH,   /* some frames were unwound by one, some by the other */
	WALK_EITHER, /* both would have found the same */
	WALKS
};

/* How far a user stack can be trusted. "Open" values mean a return address that
 * could not be checked; if there are several, the last value counts. */
enum judged {
	JUDGED_NONE, /* there is no user stack */
	JUDGED_OPEN,
	JUDGED_GENERATED,
	JUDGED_NO_FILE,
	JUDGED_OTHER_FILE,
	JUDGED_MAPPINGS,
	JUDGED_UNMAPPED,
	JUDGED_ONE_FRAME,
	JUDGED_FABRICATED,
	JUDGED_CALLER,
	JUDGED_WHOLE,
	/* At the end, as the numbers are stored. */
	JUDGED_NO_START, /* open, like the next one */
	JUDGED_NO_TABLE,
	JUDGED_EARLY_FILE,
	JUDGED_EARLY_FUNCTION,
	JUDGED_EARLY_FRAME,
	JUDGED_HOLE, /* a caller further out is missing */
	/* others were walked by SFrame, but this file has none; this file has
	 * one, too */
	JUDGED_EARLY_NO_SFRAME,
	JUDGED_EARLY_SFRAME,
	JUDGED_EARLY_SIGNED, /* open, too: an address is signed, so its value is
			      * not known */
	JUDGED_FULL, /* kernel half: as NO_START, and the recorder keeps no more
		      * frames */
	JUDGED_GUEST, /* only the sampled address in a guest */
};

/* Returns whether a stack dump would end in this innermost frame or soon after
 * it. start, open: the frame's, as in internal_end; anon: its code is in
 * anonymous memory and has no name. */
static inline bool judged_ends_leaf(unsigned int start, unsigned int open,
				    bool anon)
{
	return anon || open == JUDGED_NO_TABLE || start == ENDS_DUMP;
}

/* Returns whether a dump of a stack that was walked along frame pointers, and
 * is judged so, would be incomplete. leaf: judged_ends_leaf(); switches: one of
 * its frames is ENDS_SWITCH, which frame pointers can leave but a dump
 * cannot. */
static inline bool judged_ends_dump(unsigned int judged, bool leaf,
				    bool switches)
{
	return switches ||
	       (leaf &&
		(judged == JUDGED_ONE_FRAME || judged == JUDGED_FABRICATED ||
		 judged == JUDGED_CALLER || judged == JUDGED_HOLE ||
		 judged == JUDGED_EARLY_FILE ||
		 judged == JUDGED_EARLY_FUNCTION));
}

/* Numbers of internal_user_trust.frames (tables.sql). */
enum judged_stop {
	STOP_NONE,
	STOP_DUMP = 1,	  /* judged_ends_dump() */
	STOP_DEEP = 2,	  /* deeper than a dump of DUMP_USUAL bytes */
	STOP_DEEPEST = 3, /* deeper than one of DUMP_LARGEST bytes */
	STOP_FTRACE = 8,  /* frames of a user stack that ftrace keeps */
	STOP_PERF = 127,  /* all frames of both halves that perf keeps */
};

/* Sizes of a stack dump in bytes: the default, and the largest that perf takes,
 * below 64 kB and a multiple of 8. */
#define DUMP_USUAL 16384u
#define DUMP_LARGEST 65528u

/* Returns the limit at which a stack with these numbers of recorded frames
 * stopped, or a dump of it would. kept: maximum number of frames of both
 * halves; bytes: least size of the stack. */
static inline enum judged_stop judged_stop(uint32_t user, uint32_t kernel,
					   uint32_t kept, bool ends_dump,
					   uint64_t bytes)
{
	if (user + kernel == kept)
		return STOP_PERF;
	if (user == STOP_FTRACE)
		return STOP_FTRACE;
	return ends_dump	      ? STOP_DUMP
	       : bytes > DUMP_LARGEST ? STOP_DEEPEST
	       : bytes > DUMP_USUAL   ? STOP_DEEP
				      : STOP_NONE;
}

/* Return the word for a number, or NULL if there is none. */
const char *callsite_kind_name(unsigned int v);
const char *callsite_link_name(unsigned int v);
const char *thread_start_name(unsigned int v);
const char *walk_name(unsigned int v);
/* Returns a class of view trust_class, or NULL. */
const char *judged_name(unsigned int v);
