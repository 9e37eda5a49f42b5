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
	CALLSITE_NEVER,	   /* a gap, and what the call enters can neither have
			    * gone on to that function nor have made the frame
			    * that holds the return address */
	CALLSITE_INJECTED, /* the inner function was made to look called where
			    * no call is */
	CALLSITE_WALKED,   /* proved, and frame pointers do not lead there: the
			    * inner function has set none, and does not call
			    * itself */
};

/* Where a user stack ends: in the function in which its thread begins, or
 * elsewhere, and then why a walk along frame pointers ends there. Of a frame in
 * which none ends: ENDS_FUNCTION or ENDS_SWITCH if its caller is not in the
 * chain either. */
enum thread_start {
	START_UNKNOWN, /* not asked, or too little is known of the code */
	/* The function's unwind table gives no return address: _start of
	 * crt1.o, clone() of glibc. */
	START_TABLE,
	/* The entry of the program or of its loader, or main(), whose address
	 * it gives to the C library. */
	START_ENTRY,
	START_LIBRARY, /* what the C library or Go's runtime runs first */
	/* Its address is handed to the function that starts a thread, and it
	 * is called from nowhere else in its file. */
	START_ROUTINE,
	/* It set a frame pointer, and sets it to 0 in front of the call: so the
	 * System V ABI for x86-64, 3.4.1, and that for AArch64 mark the
	 * outermost frame. */
	START_MARK,
	ENDS_FILE,     /* hardly a function of the file sets a frame pointer */
	ENDS_FUNCTION, /* others do, but not this one; or that is not asked */
	ENDS_FRAME,    /* it has set one: the stack goes on */
	/* After, since the numbers are stored: the code after the call ends
	 * the thread by a system call. */
	START_EXIT,
	ENDS_SWITCH, /* ENDS_FUNCTION, and it goes to another stack and back */
	/* Of an innermost frame: its threads run code out of which no table
	 * leads, so that a stack dump would end there. */
	ENDS_DUMP,
	/* Of a kernel's stack: nothing is further out, as it is entered from
	 * user mode there, or a thread or CPU starts. */
	START_KERNEL,
	START_INTERRUPT, /* likewise, or else what was interrupted */
};

/* Who walked a user stack that was recorded as addresses. */
enum walk {
	WALK_UNKNOWN,
	WALK_FP,
	WALK_SFRAME,
	WALK_BOTH,   /* some frames were left by one, others by the other */
	WALK_EITHER, /* both would have found the same */
	WALKS
};

/* How far a user stack can be trusted. The open ones have a return address
 * that could not be checked, the last of these has most weight. */
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
	/* Behind, since the numbers are stored. */
	JUDGED_NO_START, /* open, as the next one */
	JUDGED_NO_TABLE,
	JUDGED_EARLY_FILE,
	JUDGED_EARLY_FUNCTION,
	JUDGED_EARLY_FRAME,
	JUDGED_HOLE, /* a caller further out is missing */
	/* others were walked by SFrame: the file has none; it has one */
	JUDGED_EARLY_NO_SFRAME,
	JUDGED_EARLY_SFRAME,
	JUDGED_EARLY_SIGNED, /* open, too: an address is signed, and not known
			      */
	JUDGED_FULL,  /* of a kernel's half: as NO_START, and no more frames are
		       * kept */
	JUDGED_GUEST, /* nothing but the address that was hit in a guest */
};

/* Would a stack dump end in this innermost frame, or not much further? start,
 * open: of that frame, as internal_end has them; anon: its code is in anonymous
 * memory, and nothing names it. */
static inline bool judged_ends_leaf(unsigned int start, unsigned int open,
				    bool anon)
{
	return anon || open == JUDGED_NO_TABLE || start == ENDS_DUMP;
}

/* Of a stack that was walked along frame pointers and is judged so: would a
 * dump of it not be whole? leaf: judged_ends_leaf(); switches: one of its
 * frames is ENDS_SWITCH, which frame pointers lead out of, and no dump. */
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

/* Of a stack dump: what is asked for at first, and the most that perf takes,
 * which is below 64 kB and a multiple of 8. */
#define DUMP_USUAL 16384u
#define DUMP_LARGEST 65528u

/* Returns at what a stack with so many recorded frames stopped, or a dump of it
 * would. kept: frames of both halves; bytes: it has, at least. */
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
/* A class of view trust_class. */
const char *judged_name(unsigned int v);
