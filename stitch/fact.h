/* fact.h - the results of the stitch: each fact becomes one row of the
 * database.
 *
 * Images, frames, stacks and raw chains are no facts: struct frames owns them,
 * and facts refer to their ids. */
#pragma once
#include <stdint.h>

#include "stitch/record.h"
#include "stitch/verdict.h"

enum fact_kind {
	FACT_EVENT,
	FACT_REQUEST,
	FACT_CHAIN,
	FACT_COPY,    /* another capture recorded the same chain */
	FACT_PROCESS, /* once, when its end is known or the capture ends */
	FACT_THREAD,  /* once, when its end is known or the capture ends */
	FACT_COMM,    /* whenever a name is set */
	FACT_MAPPING, /* once, when its end is known or the capture ends */
	FACT_FINDING, /* of a rule; see rules.h */
	FACT_GAP,     /* missing cookie counters; see counters.h */
	FACT_COUNTER,
	FACT_SESSION, /* once for each source, after all others */
};

struct fact_event {
	uint32_t id;
	int64_t time;	       /* TIME_NONE: unknown */
	int32_t cpu;	       /* -1: unknown */
	uint32_t thread, comm; /* row ids */
	uint16_t source;
	uint32_t type; /* index in the source's events; UINT32_MAX: REC_SWITCH
			* or REC_MARK, see rec */
	uint64_t weight;
	uint32_t kraw,
		uraw; /* raw chain ids; 0: none. If the event has a request,
		       * uraw is 0 and the request has the chain */
	const uint32_t *held;	  /* raw chain ids of rec's sample.held,
				   * sample.n_held of them; borrowed from the
				   * queue */
	const struct record *rec; /* borrowed as order_next() and
				   * order_keep() say */
	uint32_t leader; /* id of the event of the same sample that has the
			  * rest of rec: this one is what another member of its
			  * group counted. 0: none */
};

struct fact_request {
	uint32_t event;
	uint64_t cookie;
	uint32_t chain; /* fact_chain.id; 0: none */
	uint32_t uraw;	/* raw chain id of that chain; 0: none */
	uint64_t ip;	/* sampled address if it is in user mode; else 0 */
	enum request_verdict verdict;
	enum confidence confidence;
	uint32_t flags;	 /* enum verdict_flag */
	int64_t latency; /* ns from sample to chain, may be negative;
			  * TIME_NONE: unknown */
	int64_t exec; /* VERDICT_EXEC: time of the exec; TIME_NONE: unknown */
	/* If there is no chain: the reason, and when the chain was due. */
	enum request_end end; /* 0: it has a chain, or waits for none */
	int64_t until;	      /* TIME_NONE: unknown */
	uint32_t loss;	      /* row id of the loss that explains it; 0: none */
	/* What perf would show. All 0: the request waits for no chain. */
	enum as_perf as_perf;
	int64_t held;	 /* ns that perf holds the sample back; TIME_NONE:
			  * unknown, or until the end */
	uint32_t as_tid; /* id of the next chain with the same tid; 0: none */
};

struct fact_chain {
	uint32_t id;
	int64_t time;
	int32_t cpu;
	uint32_t thread;
	uint16_t source;
	uint64_t cookie;
	uint32_t uraw; /* 0: empty chain */
	enum chain_verdict verdict;
	enum confidence confidence;
	enum quality quality;
	uint32_t flags;
	uint32_t n_events; /* number of samples that use it */
	int64_t from;	   /* if no sample has it: when its thread was last seen
			    * before it, so the request was made later; TIME_NONE:
			    * unknown */
	uint32_t loss;	   /* row id of the loss that explains the verdict; 0:
			    * none */
};

/* Another capture of the same kernel recorded the chain as well. */
struct fact_copy {
	uint32_t chain; /* fact_chain.id */
	int64_t time;
	int32_t cpu;
	uint16_t source;
};

/* A rule was broken: something happened that must not happen. */
struct fact_finding {
	uint32_t rule; /* index in rules[] */
	uint16_t source;
	int64_t time,
		since;	 /* it happened in (since, time]; TIME_NONE: unknown */
	int32_t cpu;	 /* -1: unknown */
	uint32_t thread; /* row id; 0: none */
	uint32_t event;	 /* row id; 0: none */
	uint32_t loss;	 /* row id of the loss that explains it; 0: none */
	uint64_t n;	 /* number of occurrences, at least 1 */
};

/* n consecutive counters, starting with `first`, that no record of a CPU
 * has. */
struct fact_gap {
	uint16_t source;
	int32_t cpu;
	uint64_t first, n;
	int64_t t0,
		t1; /* assigned after t0 and before t1; TIME_NONE: unknown */
	enum gap_verdict verdict;
	uint32_t loss;
};

/* All cookies of one CPU. */
struct fact_counter {
	uint16_t source;
	int32_t cpu;
	uint64_t first,
		last; /* smallest and largest counter; last may have wrapped */
	uint64_t seen, missing, gaps;
	uint64_t late;	    /* first seen after a later one was seen */
	uint64_t elsewhere; /* first seen on another CPU */
	uint64_t wraps;
};

/* A summary of all cookies of a source. */
struct fact_session {
	uint16_t source;
	const char *layout; /* a word of cookie_layout_name() */
	const char
		*reason; /* why missing counters prove no loss; NULL: they do */
	uint64_t no_chain, no_sample, missing;
};

/* One incarnation of a process id. */
struct fact_process {
	uint32_t id, parent; /* parent 0: unknown */
	int32_t pid;
	uint16_t source;
	int64_t start, end; /* TIME_NONE: before the start, after the end of
			     * the capture */
};

struct fact_thread {
	uint32_t id, process;
	int32_t tid;
	int64_t start, end;
};

struct fact_comm {
	uint32_t id, thread;
	int64_t time; /* TIME_NONE: before the capture */
	int exec;
	const char *name; /* ":TID" if no record gave a name */
};

struct fact_mapping {
	uint32_t id, process; /* process 0: the kernel */
	uint64_t start, end, pgoff;
	uint32_t image, prot, flags;
	int64_t t0, t1; /* TIME_NONE: before the start, after the end of the
			 * capture */
};

struct fact {
	enum fact_kind kind;
	union {
		struct fact_event event;
		struct fact_request request;
		struct fact_chain chain;
		struct fact_copy copy;
		struct fact_process process;
		struct fact_thread thread;
		struct fact_comm comm;
		struct fact_mapping mapping;
		struct fact_finding finding;
		struct fact_gap gap;
		struct fact_counter counter;
		struct fact_session session;
	};
};
