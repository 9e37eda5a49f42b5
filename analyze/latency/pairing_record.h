/* pairing_record.h - what a record says about an interval, and intervals of one
 * record or two. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/latency/interval.h"
#include "analyze/latency/pair_kinds.h"

struct lost_sum;

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
