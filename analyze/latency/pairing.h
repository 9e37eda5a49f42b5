/* pairing.h - makes intervals of the records that begin and end them, and says
 * of each what the records prove.
 *
 * Order of calls: pairing_new(), pairing_take() for each record in time order
 * (that of the ring within a CPU), pairing_end(). An interval is given to a
 * function when it ends. Memory grows with the intervals that are open at one
 * time, and with the threads. No SQL and no names.
 *
 * Proved: begin and end are recorded, and so few records are missing between
 * them that no other begin or end of the same key can be among these. All of it
 * assumes, as analyze/causes/proof.h does, that a record of an event that was
 * on is in the capture or in a loss. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/latency/pair_kinds.h"

struct lost_times;
struct pairing;

enum interval_verdict {
	INTERVAL_PROVED,
	INTERVAL_CONSISTENT, /* records may be missing: it may be two */
	INTERVAL_BEFORE,     /* it began before the recording */
	INTERVAL_UNFINISHED, /* it was open when the recording ended */
	INTERVAL_BEGIN_LOST, /* a loss explains that there is no begin, */
	INTERVAL_END_LOST,   /* or no end */
	INTERVAL_UNEXPLAINED,
	INTERVAL_CANCELLED, /* it ended without a result */
	INTERVAL_VERDICTS
};

/* Why the verdict is not proved. */
enum interval_reason {
	INTERVAL_NO_REASON,
	INTERVAL_BY_LOSS,   /* interval.loss */
	INTERVAL_BY_SILENT, /* records are missing, and no loss tells of it */
	INTERVAL_BY_START,  /* not all CPUs were recorded yet, or any more */
	INTERVAL_BY_RESTART,
	INTERVAL_BY_CANCEL,
	INTERVAL_BY_EXEC,   /* another thread of the process called exec */
	INTERVAL_BY_RETURN, /* no end of such calls is recorded: sigreturn */
	INTERVAL_BY_MERGE,  /* requests may be merged and split */
	INTERVAL_REASONS
};

/* The end of a recorded time. */
#define INTERVAL_NEVER INT64_MIN

struct interval {
	int64_t begin, end;		/* INTERVAL_NEVER: not known */
	int64_t begin_event, end_event; /* 0: none */
	int64_t key;			/* the first key field; 0: none */
	int64_t ret;
	int64_t loss;	 /* the first that may hide something; 0: none */
	uint32_t pair;	 /* as in the records */
	uint32_t thread; /* of the begin or, without one, of the end; 0 */
	uint32_t name;	 /* likewise */
	uint32_t by;	 /* likewise: what else the user sums up by; 0 */
	int32_t cpu;	 /* likewise; -1: not known */
	bool has_ret;
	uint8_t verdict; /* enum interval_verdict */
	uint8_t reason;	 /* enum interval_reason */
};

enum pairing_role {
	PAIRING_BEGIN,
	PAIRING_END,
	PAIRING_CANCEL,
};

/* What a call does that pairs cannot show. */
enum pairing_call {
	PAIRING_PLAIN,
	PAIRING_NEVER_RETURNS, /* exit, exit_group */
	PAIRING_EXEC,	       /* returns in the first thread of the process */
	PAIRING_CLONE,	       /* returns twice */
	PAIRING_SIGRETURN,     /* returns with the number -1 */
};

struct pairing_record {
	const struct pair_kind *kind;
	int64_t time, event;
	int64_t key[PAIR_KEYS], tag;
	int64_t ret;
	uint32_t pair;	/* number of the kind, or of what the user asked for */
	uint32_t world; /* recording; of pairs across several LOST_ANY_WORLD */
	uint32_t thread, process; /* 0: not known */
	uint32_t name, by;
	int32_t cpu;
	bool has_ret;
	bool whole; /* no earlier begin of the same interval can be missing */
	bool loose; /* the key is that of several at a time */
	uint8_t role, call;
};

typedef void pairing_fn(void *arg, const struct interval *i);

/* lost: sealed, and borrowed. */
struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    void *arg);
void pairing_free(struct pairing *p);
void pairing_take(struct pairing *p, const struct pairing_record *r);
/* Tells of all that is open. */
void pairing_end(struct pairing *p);
/* Returns the ns between two times; 0 if one of them is INTERVAL_NEVER or `to`
 * is the earlier one, INT64_MAX if they are further apart than that. */
int64_t interval_span(int64_t from, int64_t to);
/* What is known of the length of an interval that is not proved. */
struct interval_range {
	int64_t least, most; /* INT64_MAX: any */
};

/* first, last: times of what was recorded. One whose ends are recorded but may
 * belong to others is at most so long. */
struct interval_range interval_range(const struct interval *i, int64_t first,
				     int64_t last);
/* Returns how many records came a second time, and were left out. */
uint64_t pairing_doubled(const struct pairing *p);

/* Returns "proved", "consistent", "began before", ... */
const char *interval_verdict_word(uint8_t verdict);
/* Returns "loss", "start", ...; "" for none. */
const char *interval_reason_word(uint8_t reason);
