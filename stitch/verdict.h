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
	/* Of processes that unwind themselves only: */
	REQ_BEFORE_OPT_IN, /* the process had not logged any stack so far */
	REQ_IN_UNWINDER,   /* made while the thread unwound itself for an
			    * earlier one */
	REQ_UNWINDER_DIED, /* the process logged no stack ever after, though
			    * its thread went on or ended */
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
	VERDICT_AFTER_EXIT = 16,  /* chain: written after its thread's EXIT */
	VERDICT_USER_HIT = 32,	  /* request: the sample hit user mode */
	VERDICT_CONFLICT = 64,	  /* chain: same cookie, other addresses */
	VERDICT_FIRST_LOST = 128, /* request: the sample that made the cookie
				   * is missing, by the cookie's counter */
	VERDICT_PERF_LATE = 256,  /* request: perf gives it out after a later
				   * sample */
	VERDICT_PARTS = 512,	  /* chain: made of several unwinders' parts */
	VERDICT_UNPROVED = 1024,  /* chain: of some part it is not said where
				   * it goes, or one is missing */
	VERDICT_NONCE = 2048,	  /* the cookie is the nonce of a process that
				   * unwinds itself */
};

enum confidence {
	CONF_PROVED = 1, /* by the cookie */
	CONF_EXPLAINED,	 /* by a loss window, an exit, the end */
	CONF_UNEXPLAINED,
};

/* What ended the stay in the kernel for which a cookie stood, so that its
 * chain should have been written by then. */
enum request_end {
	END_COOKIE = 1, /* the thread has a newer cookie */
	END_EXIT,	/* it ended */
	END_REUSED,	/* its id means another life; no EXIT was seen */
	END_CAPTURE,	/* nothing before the capture ended */
};

/* What perf 7.2 makes of a sample that waits for its chain
 * (backstitch-formats(5), "Deferred stacks: how perf joins"):
 * it goes out with the next chain of the same tid, whichever cookie that
 * has. */
enum as_perf {
	AS_PERF_MERGED = 1, /* with the user half: the cookies are equal */
	AS_PERF_BARE,	    /* without: they differ */
	AS_PERF_BARE_END,   /* without: no chain of the tid followed */
};

/* What a run of missing counters means. */
enum gap_verdict {
	GAP_LOST = 1,  /* a loss on that CPU explains it */
	GAP_UNCOUNTED, /* nothing explains it, and it must be a loss */
	GAP_FOREIGN,   /* lost, or asked for by somebody else, or of a task
			* or CPU that was not recorded */
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
const char *request_end_name(unsigned int v);
const char *as_perf_name(unsigned int v);
const char *gap_verdict_name(unsigned int v);
const char *unwind_end_name(unsigned int v);
#endif
