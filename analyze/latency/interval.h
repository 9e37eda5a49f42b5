/* interval.h - the time between two events that belong together, what the
 * records prove of it, and what a record says about it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/latency/pair_kinds.h"

struct lost_sum;

enum interval_verdict {
	INTERVAL_PROVED,
	INTERVAL_CONSISTENT, /* records may be missing: it may be two */
	INTERVAL_BEFORE,     /* it began before the recording */
	INTERVAL_UNFINISHED, /* it was open when the recording ended */
	INTERVAL_BEGIN_LOST, /* a loss explains that there is no begin, */
	INTERVAL_END_LOST,   /* or no end */
	INTERVAL_UNEXPLAINED,
	INTERVAL_CANCELLED, /* it ended without a result */
	INTERVAL_AMBIGUOUS, /* several at a time, which add up */
	INTERVAL_VERDICTS
};

/* Why the verdict is not proved. */
enum interval_reason {
	INTERVAL_NO_REASON,
	INTERVAL_BY_LOSS,   /* interval.loss */
	INTERVAL_BY_SILENT, /* records are missing, and no loss reports it */
	INTERVAL_BY_START,  /* not all CPUs were recorded yet, or any more */
	INTERVAL_BY_RESTART,
	INTERVAL_BY_CANCEL,
	INTERVAL_BY_EXEC,   /* another thread of the process called exec */
	INTERVAL_BY_RETURN, /* no end of such calls is recorded: sigreturn */
	INTERVAL_BY_MERGE,  /* requests may be merged and split */
	INTERVAL_REASONS
};

/* What that one is proved rests on, as bits. */
enum interval_premise {
	INTERVAL_IF_IDLE = 1,  /* no mutex was waited for when it began */
	INTERVAL_IF_ALONE = 2, /* no two of one key were open unseen */
	INTERVAL_IF_NOT_CANCELLED = 4, /* pair_kind.direct */
	INTERVAL_IF_STARTED = 8,       /* pair_kind.is_pending */
	INTERVAL_IF_PROBED = 16,       /* no hit of a probe was missed */
	INTERVAL_IF_RETURNED = 32,     /* no function was left otherwise */
	INTERVAL_PREMISES = 6
};

/* The name of a call whose end does not say the function, as that of a text,
 * and whose begin is not proved. */
#define INTERVAL_NO_NAME 1

/* The end of a recorded time. */
#define INTERVAL_NEVER INT64_MIN

struct interval {
	int64_t begin, end;		/* INTERVAL_NEVER: not known */
	int64_t begin_event, end_event; /* 0: none */
	int64_t key;			/* the first key field; 0: none */
	int64_t ret;
	int64_t least, most; /* ns that it took; INT64_MAX: any */
	int64_t loss;	     /* the first that may hide something; 0: none */
	int64_t self;	 /* ns of .most in no call inside of it that is known;
			  * -1: not known */
	uint64_t inside; /* number of the call that it is inside of, where it is
			  * kept; 0: of none that is known */
	uint32_t pair;	 /* as in the records */
	uint32_t thread; /* of the begin or, without one, of the end; 0 */
	uint32_t name;	 /* likewise */
	uint32_t by;	 /* likewise: what else the user sums up by; 0 */
	int32_t cpu;	 /* likewise; -1: not known */
	uint32_t depth;	 /* of a call; 0: it is in no other */
	bool has_ret;
	bool whole; /* no call inside of it can be missing: .self is true */
	uint8_t verdict; /* enum interval_verdict */
	uint8_t reason;	 /* enum interval_reason */
	uint8_t premise; /* enum interval_premise, of what is proved */
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

/* What a begin is that may be a part: pair_kind.part. */
enum pairing_begins {
	PAIRING_EITHER,
	PAIRING_FIRST,
	PAIRING_PART,
};

struct pairing_record {
	const struct pair_kind *kind;
	int64_t time, event;
	int64_t key[PAIR_KEYS], tag;
	int64_t ret;
	uint32_t pair;	/* number of the kind, or of what the user asked for */
	uint32_t world; /* recording, or several: see lost_times.h */
	uint32_t thread, process; /* 0: not known */
	uint32_t name, by;
	int32_t cpu;
	bool has_ret;
	bool untimed;	  /* PAIR_NEST: time is a place in an order */
	bool cancels;	  /* what cancels one of its pair was on */
	int64_t length;	  /* how far the second key goes; 0: it has none */
	int64_t born;	  /* the thread; INT64_MIN: not known */
	int64_t from, to; /* PAIR_NEST: when what ends began and ended, by the
			   * clock of the recorder */
	int64_t took;	  /* ns by that clock; -1: not known */
	int64_t blur;	  /* from is later by no more than so much, as a text
			   * rounds */
	uint32_t depth;	  /* likewise; 0: in no other */
	uint8_t role, call, begins;
	uint8_t premise; /* enum interval_premise: of what it begins */
};

/* Returns an interval of what a record says, without times and a verdict. */
struct interval pairing_of(const struct pairing_record *r);
/* Returns one from a begin to an end, which takes that time at most. */
struct interval pairing_of_both(const struct pairing_record *begin,
				const struct pairing_record *end);
/* Returns why records are missing; INTERVAL_NO_REASON: none are, or the
 * recorder was not on. */
uint8_t pairing_reason(const struct lost_sum *lost);
/* Returns the ns between two times; 0 if one of them is INTERVAL_NEVER or `to`
 * is the earlier one, INT64_MAX if they are further apart than that. */
int64_t interval_span(int64_t from, int64_t to);
/* Returns the ns that it took: of a call by the clock of the recorder. Of what
 * is not proved, from begin to end. */
int64_t interval_ns(const struct interval *i);
/* What is known of the length of an interval that is not proved. */
struct interval_range {
	int64_t least, most; /* INT64_MAX: any */
};

/* first, last: times of what was recorded. */
struct interval_range interval_range(const struct interval *i, int64_t first,
				     int64_t last);
/* Returns "proved", "consistent", "began before", ... */
const char *interval_verdict_word(uint8_t verdict);
/* Returns "loss", "start", ...; "" for none. */
const char *interval_reason_word(uint8_t reason);
/* Returns "idle", "alone", ... of the number of a bit of enum interval_premise.
 */
const char *interval_premise_word(uint8_t bit);
