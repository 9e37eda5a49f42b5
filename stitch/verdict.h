/* verdict.h - the outcome of every request and of every deferred chain.
 *
 * A request is a sample of an event that asked for deferral and that ends with
 * a cookie, with a marker without a cookie, or with a user stack taken at once
 * because the kernel refused to defer. Each request and each chain gets exactly
 * one verdict. The numbers are stored in the database: add new ones at the end,
 * never renumber. */
#pragma once

enum request_verdict {
	REQ_MATCHED = 1,   /* joined to its chain by the cookie */
	REQ_CHAIN_LOST,	   /* no chain; records were lost while it was due */
	REQ_EXIT_PER_TASK, /* the thread ended in a per-task session, whose
			    * events are gone before the chain is written */
	REQ_PENDING_END,   /* still in the kernel when the capture ended */
	REQ_UNJOINABLE,	   /* a marker without cookie: the sysctl
			    * perf_event_max_contexts_per_stack is too small */
	REQ_REFUSED,	   /* the kernel took the user stack at once */
	REQ_STRIPPED,	   /* the file's chains were removed (perf inject) */
	REQ_UNEXPLAINED,
	/* Only for processes that unwind themselves: */
	REQ_BEFORE_OPT_IN, /* the process had logged no stack yet */
	REQ_IN_UNWINDER, /* made while the thread unwound itself for an earlier
			  * request */
	REQ_UNWINDER_DIED, /* the process logged no stack afterwards, although
			    * its thread continued or ended */
	REQ_EMPTY, /* joined to its chain, in which the kernel has no address */
};

enum chain_verdict {
	CHAIN_USED = 1,	   /* at least one sample uses it */
	CHAIN_SAMPLE_LOST, /* its samples were lost */
	CHAIN_FOREIGN,	   /* another session asked, or a filter removed the
			    * samples */
	CHAIN_OVERWRITTEN, /* its samples were overwritten in the ring */
	CHAIN_DUPLICATE,   /* the same cookie and addresses occurred before */
	CHAIN_UNEXPLAINED,
	CHAIN_UNJOINABLE, /* its samples have the marker without the cookie */
};

/* The mark of samples that are summed in sample_group: 0: none; minus a
 * request_verdict: there is no user half; MARK_EXEC: the user half belongs to
 * the program after an exec; MARK_ENDED plus an unwind_end: it was not unwound
 * to its outermost frame. */
#define MARK_EXEC 2
#define MARK_ENDED 100

enum verdict_flag {
	VERDICT_AFTER = 1, /* the sample is later than its chain */
	VERDICT_EXEC = 2,  /* exec in between: the chain belongs to the new
			    * program */
	VERDICT_OTHER_CAPTURE = 4,
	VERDICT_REUSED_TID = 8,
	VERDICT_AFTER_EXIT = 16,  /* chain: written after its thread's EXIT */
	VERDICT_USER_HIT = 32,	  /* request: the sample hit user mode */
	VERDICT_CONFLICT = 64,	  /* chain: same cookie, but other addresses */
	VERDICT_FIRST_LOST = 128, /* request: the sample for which the cookie
				   * was made is missing, by the cookie's
				   * counter */
	VERDICT_PERF_LATE =
		256, /* request: perf outputs it after a later sample */
	VERDICT_PARTS =
		512, /* chain: assembled from the parts of several unwinders */
	VERDICT_UNPROVED = 1024, /* chain: the place of some part is unknown,
				  * or a part is missing */
	VERDICT_NONCE = 2048,	 /* the cookie is the nonce of a process that
				  * unwinds itself */
	VERDICT_MERGED = 4096, /* the verdict of the request, or the requests of
				* the chain, do not come from its own capture
				* alone, but also from others merged with it */
};

enum confidence {
	CONF_PROVED = 1, /* proved by the cookie */
	CONF_EXPLAINED,	 /* explained by a loss, an exit, or the end of the
			  * capture */
	CONF_UNEXPLAINED,
};

/* What ended the cookie's stay in the kernel, when the chain was due. */
enum request_end {
	END_COOKIE = 1, /* the thread got a newer cookie */
	END_EXIT,	/* the thread ended */
	END_REUSED,	/* the thread id was reused; no EXIT was seen */
	END_CAPTURE,	/* none of these before the capture ended */
};

/* What perf 7.2 does with a sample that waits for its chain
 * (backstitch-formats(5), "Deferred stacks: how perf joins"): it outputs the
 * sample with the next chain of the same tid, whatever its cookie. */
enum as_perf {
	AS_PERF_MERGED = 1, /* with the user stack: the cookies are equal */
	AS_PERF_BARE,	    /* without it: the cookies differ */
	AS_PERF_BARE_END,   /* without it: no chain of the tid followed */
};

/* The meaning of a run of missing counters. */
enum gap_verdict {
	GAP_LOST = 1,  /* a loss on that CPU explains it */
	GAP_UNCOUNTED, /* nothing explains it, and it must be a loss */
	GAP_FOREIGN, /* lost, requested by another session, or of a task or CPU
		      * that was not recorded */
};

/* Indexes of rules[] (stitch/audit/rules.h). */
enum rule_number {
	RULE_TID_REUSED,
	RULE_MAP_LOST,
	RULE_FORK_LOST,
	RULE_AFTER_EXIT,
	RULE_SWITCH_BROKEN,
	RULE_WAKEUP_ORDER,
	RULE_WAKEUP_LOST,
	RULE_DUPLICATE,
	RULE_CLOCK_STEP,
	RULE_UNMAPPED,
	RULE_UNCOUNTED,
	RULE_COOKIE_CONFLICT,
	RULE_COOKIE_SHARED,
	RULE_COOKIE_REUSED,
	RULE_NONCE_EARLY,
	RULE_CLOCK_SKEW,
	RULE_EXIT_ORDER,
	RULE_SWITCH_GAP,
	RULES
};

/* The quality of a user stack by itself. */
enum quality {
	QUALITY_EMPTY = 1, /* no frame */
	QUALITY_ONE, /* one frame: probably compiled without frame pointers */
	QUALITY_CUT, /* ended by a limit */
	QUALITY_OUTERMOST, /* proved complete */
	QUALITY_OPEN,	   /* ends in another way */
};

/* Return the word for a number, or NULL if there is none. */
const char *request_verdict_name(unsigned int v);
const char *chain_verdict_name(unsigned int v);
const char *confidence_name(unsigned int v);
const char *quality_name(unsigned int v);
const char *request_end_name(unsigned int v);
const char *as_perf_name(unsigned int v);
const char *gap_verdict_name(unsigned int v);
const char *unwind_end_name(unsigned int v);
