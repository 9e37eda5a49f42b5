/* stitch.h - ordered records in, facts out: each fact is a row to be.
 *
 * Events come in time order with ids 1, 2, 3 ...; the request of an event may
 * come much later (when its chain arrived, or when it is sure that it never
 * will), everything else when it is known. Images, frames, stacks and raw
 * chains are not facts: they are in struct frames, and a fact only names ids
 * that are already there. */
#ifndef STITCH_STITCH_H
#define STITCH_STITCH_H
#include <stdint.h>

#include "stitch/tasks/jit.h"
#include "stitch/record.h"
#include "stitch/join/verdict.h"
#include "stitch/tasks/partial_maps.h"

struct err;
struct frames;
struct ledger;
struct order;
struct snapshot;
struct stitch;
struct unwinder;

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

/* Borrows all of them; order must outlive the stitch. uw may be NULL. */
struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, struct unwinder *uw);
/* How cookies are made (enum cookie_layout); before the first fact. */
void stitch_layout(struct stitch *st, unsigned int layout);
/* Put in callers that frame-pointer chains lack where code proves them; before
 * the first fact. */
void stitch_infer_callers(struct stitch *st);
/* What a process of a source had mapped: snapshots.h. Before the first fact;
 * the list is borrowed until stitch_free(). Those that the source itself has
 * are used where nothing is given. */
void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank);
/* Who knows where in memory which part of a file is (whole.h); before the
 * first fact. Without: nobody does. */
void stitch_files(struct stitch *st, whole_fn fn, void *arg);
/* Captures of one kernel whose times are on one clock: what one of them knows
 * holds for all (tasks, what they have mapped, chains of cookies). first: the
 * smallest index of those that belong together; by itself each capture is
 * alone. Before the first fact. */
void stitch_together(struct stitch *st, uint16_t source, uint16_t first);
/* Who finds the code that processes made themselves: jit.h. Before the first
 * fact. */
void stitch_jit(struct stitch *st, jit_find_fn *fn, void *arg);
/* 1 and *out, 0 the end (everything handed out), -1 an error. Strings and
 * rec hold until the next call. */
int stitch_next(struct stitch *st, struct fact *out, struct err *err);
/* End the input here: the next calls give out what waits. For SIGINT. */
void stitch_stop(struct stitch *st);
void stitch_free(struct stitch *st);
#endif
