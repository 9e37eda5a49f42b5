/* fact.h - what the stitch finds out: each fact is one row to be stored.
 *
 * Images, frames, stacks and raw chains are no facts: struct frames owns them,
 * and a fact names their ids. */
#ifndef STITCH_FACT_H
#define STITCH_FACT_H
#include <stdint.h>

#include "stitch/record.h"
#include "stitch/verdict.h"

enum fact_kind {
	FACT_EVENT,
	FACT_REQUEST,
	FACT_CHAIN,
	FACT_COPY,    /* of a chain, by another capture */
	FACT_PROCESS, /* once, when its end is known or the capture ends */
	FACT_THREAD,  /* the same */
	FACT_COMM,    /* when it is set */
	FACT_MAPPING, /* once, when its end is known or the capture ends */
	FACT_FINDING, /* of a rule: rules.h */
	FACT_GAP,     /* of the counters in cookies: counters.h */
	FACT_COUNTER,
	FACT_SESSION, /* once per source, last */
};

struct fact_event {
	uint32_t id;
	int64_t time;	       /* TIME_NONE: not timed */
	int32_t cpu;	       /* -1: not known */
	uint32_t thread, comm; /* ids */
	uint16_t source;
	uint32_t type; /* index in the source's events; UINT32_MAX:
			* a REC_SWITCH or REC_MARK, see rec */
	uint64_t weight;
	uint32_t kraw, uraw;	  /* raw chain ids; 0: none. uraw 0 with
				   * a request: the request has it */
	const uint32_t *held;	  /* the same of rec's sample.held, as many;
				   * borrowed like it */
	uint32_t flags;		  /* enum record_flag of the record */
	const struct record *rec; /* borrowed until the next stitch_next() */
};

struct fact_request {
	uint32_t event;
	uint64_t cookie;
	uint32_t chain; /* fact_chain.id; 0: none */
	uint32_t uraw;	/* its raw chain; 0: none */
	uint64_t ip;	/* sampled ip, when it hit user mode; else 0 */
	enum request_verdict verdict;
	enum confidence confidence;
	uint32_t flags;	 /* enum verdict_flag */
	int64_t latency; /* ns from sample to chain, may be negative;
			  * TIME_NONE: not known */
	int64_t exec;	 /* VERDICT_EXEC: when; TIME_NONE: not known */
	/* Without a chain: why, and by when it was due. */
	enum request_end end; /* 0: it has one, or it waits for none */
	int64_t until;	      /* TIME_NONE: not known */
	uint32_t loss;	      /* loss that explains it; 0: none */
	/* What others would have shown; all 0: it waits for no chain. */
	enum as_perf as_perf;
	int64_t held;	 /* ns that perf holds it back; TIME_NONE: to the end,
			  * or not known */
	uint32_t as_tid; /* the next chain of its tid; 0: none came */
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
	uint32_t n_events; /* samples that use it */
	int64_t from;  /* without a sample: when its thread was last seen, so
			* that the request came after; TIME_NONE */
	uint32_t loss; /* loss that explains the verdict; 0: none */
};

/* Another capture of the same kernel recorded a chain too. */
struct fact_copy {
	uint32_t chain; /* fact_chain.id */
	int64_t time;
	int32_t cpu;
	uint16_t source;
};

/* Something that must not happen did. */
struct fact_finding {
	uint32_t rule; /* index in rules[] */
	uint16_t source;
	int64_t time, since; /* what happened in (since, time]; TIME_NONE */
	int32_t cpu;	     /* -1: none */
	uint32_t thread;     /* row id; 0: none */
	uint32_t event;	     /* row id; 0: none */
	uint32_t loss;	     /* that explains it; 0: none does */
	uint64_t n;	     /* how many, how much; 1 */
};

/* Counters that no record of a CPU has: n of them from first on. */
struct fact_gap {
	uint16_t source;
	int32_t cpu;
	uint64_t first, n;
	int64_t t0, t1; /* made after, before; TIME_NONE: not known */
	enum gap_verdict verdict;
	uint32_t loss;
};

/* The cookies of one CPU. */
struct fact_counter {
	uint16_t source;
	int32_t cpu;
	uint64_t first, last; /* the smallest and the largest, before and
			       * after it wrapped */
	uint64_t seen, missing, gaps;
	uint64_t late;	    /* seen first when a later one had been seen */
	uint64_t elsewhere; /* seen first on another CPU */
	uint64_t wraps;
};

/* What can be said of a source's cookies as a whole. */
struct fact_session {
	uint16_t source;
	const char *layout; /* word: counters.h */
	const char *reason; /* why missing counters prove nothing; NULL: they
			     * do */
	uint64_t no_chain, no_sample, missing;
};

/* One life of a process id. */
struct fact_process {
	uint32_t id, parent; /* parent 0: not known */
	int32_t pid;
	uint16_t source;
	int64_t start, end; /* TIME_NONE: before, after the capture */
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
	const char *name; /* ":TID" when no name was ever said */
};

struct fact_mapping {
	uint32_t id, process; /* process 0: the kernel */
	uint64_t start, end, pgoff;
	uint32_t image, prot, flags;
	int64_t t0, t1; /* TIME_NONE: before, after the capture */
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
#endif
