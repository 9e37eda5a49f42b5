/* verdict.h - what became of every request and of every deferred chain.
 *
 * A request is a sample of an event that asked for deferral and ends in a
 * cookie, in a bare marker, or in a user half taken at once because the
 * kernel refused. Each request and each chain gets exactly one verdict. The
 * numbers are stored in the database: add at the end, never renumber. */
#ifndef STITCH_VERDICT_H
#define STITCH_VERDICT_H

enum request_verdict {
	REQ_MATCHED = 1,   /* joined to its chain by the cookie */
	REQ_CHAIN_LOST,	   /* no chain; records were lost meanwhile */
	REQ_EXIT_PER_TASK, /* the thread ended in a per-task session, whose
			    * events are gone before the chain is written */
	REQ_PENDING_END,   /* still in the kernel when the capture ended */
	REQ_UNJOINABLE,	   /* marker without cookie: the sysctl
			    * perf_event_max_contexts_per_stack is too small */
	REQ_REFUSED,	   /* the kernel took the user half at once */
	REQ_STRIPPED,	   /* the file's chains were removed (perf inject) */
	REQ_UNEXPLAINED,
};

enum chain_verdict {
	CHAIN_USED = 1,	   /* at least one sample has it */
	CHAIN_SAMPLE_LOST, /* its samples were lost */
	CHAIN_FOREIGN,	   /* another session asked, or a filter took the
			    * samples */
	CHAIN_OVERWRITTEN, /* its samples were overwritten in the ring */
	CHAIN_DUPLICATE,   /* the same cookie and addresses again */
	CHAIN_UNEXPLAINED,
	CHAIN_UNJOINABLE, /* its samples carry the marker but no cookie */
};

enum verdict_flag {
	VERDICT_AFTER = 1, /* the sample is later than its chain */
	VERDICT_EXEC = 2,  /* exec between: the chain is the new image's */
	VERDICT_OTHER_CAPTURE = 4,
	VERDICT_REUSED_TID = 8,
	VERDICT_AFTER_EXIT = 16, /* chain: written after its thread's EXIT */
	VERDICT_USER_HIT = 32,	 /* request: the sample hit user mode */
	VERDICT_CONFLICT = 64,	 /* chain: same cookie, other addresses */
};

enum confidence {
	CONF_PROVED = 1, /* by the cookie */
	CONF_EXPLAINED,	 /* by a loss window, an exit, the end */
	CONF_UNEXPLAINED,
};

/* How good a user stack is by itself. */
enum quality {
	QUALITY_EMPTY = 1, /* no frame */
	QUALITY_ONE,	   /* one frame: no frame pointers, most likely */
	QUALITY_CUT,	   /* a limit ended it */
	QUALITY_OUTERMOST, /* proved whole */
	QUALITY_OPEN,	   /* ends somewhere else */
};

/* The words for the numbers; NULL when there is no such number. */
const char *request_verdict_name(unsigned int v);
const char *chain_verdict_name(unsigned int v);
const char *confidence_name(unsigned int v);
const char *quality_name(unsigned int v);
#endif
