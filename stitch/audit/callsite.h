/* callsite.h - results of the call-site check.
 *
 * The check examines the instruction before a return address, and the target of
 * its call. */
#ifndef STITCH_AUDIT_CALLSITE_H
#define STITCH_AUDIT_CALLSITE_H

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
	CALLSITE_GAP,	  /* the call has another target: a frame is missing in
			   * between, or there was a tail call */
	CALLSITE_UNKNOWN, /* too little is known about one of the two */
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
	JUDGED_WHOLE
};

/* Return the word for a number, or NULL if there is none. */
const char *callsite_kind_name(unsigned int v);
const char *callsite_link_name(unsigned int v);
/* A class of view trust_class. */
const char *judged_name(unsigned int v);
#endif
