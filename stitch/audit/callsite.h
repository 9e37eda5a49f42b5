/* callsite.h - the words of the call-site check: what is in front of a return
 * address, and where its call goes. */
#ifndef STITCH_AUDIT_CALLSITE_H
#define STITCH_AUDIT_CALLSITE_H

enum callsite_kind {
	CALLSITE_DIRECT = 1, /* a call with a fixed target */
	CALLSITE_INDIRECT,   /* a call through a register or memory */
	CALLSITE_SIGNAL,     /* the end of a signal handler */
	CALLSITE_START,	     /* where a context of makecontext() starts */
	CALLSITE_NO_CALL,    /* bogus: no call can return to here */
	CALLSITE_NO_CODE,    /* bogus: no code is here */
	CALLSITE_UNCHECKED,  /* nothing is known of the code here */
};

/* Of two frames, one next to the other. */
enum callsite_link {
	CALLSITE_PROVED = 1, /* the call goes to the inner frame's function */
	CALLSITE_OPEN,	     /* it is indirect: it may */
	CALLSITE_GAP,	     /* it goes elsewhere: a frame between the two is
			      * missing, or there was a tail call */
	CALLSITE_UNKNOWN,    /* one of the two is not known well enough */
};

/* The word for it; NULL behind the last. */
const char *callsite_kind_name(unsigned int v);
const char *callsite_link_name(unsigned int v);
#endif
