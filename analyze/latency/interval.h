/* interval.h - the time between two events that belong together, what the
 * records prove about it, and what one record says. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/latency/pair_kinds.h"

struct lost_sum;

enum interval_verdict {
	INTERVAL_PROVED,
	INTERVAL_CONSISTENT, /* records may be missing: these may be two */
	INTERVAL_BEFORE,     /* it began before the recording */
	INTERVAL_UNFINISHED, /* it was open when the recording ended */
	INTERVAL_BEGIN_LOST, /* a loss explains why there is no begin */
	INTERVAL_END_LOST,   /* a loss explains why there is no end */
	INTERVAL_UNEXPLAINED,
	INTERVAL_CANCELLED, /* it ended without a result */
	INTERVAL_AMBIGUOUS, /* several were open at a time: their sum is
			     * right */
	INTERVAL_VERDICTS
};

/* Why the verdict is not proved. */
enum interval_reason {
	INTERVAL_NO_REASON,
	INTERVAL_BY_LOSS,   /* interval.loss */
	INTERVAL_BY_SILENT, /* records are missing, but no loss reports it */
	INTERVAL_BY_START,  /* not all CPUs were recorded yet, or no longer */
	INTERVAL_BY_RESTART,
	INTERVAL_BY_CANCEL,
	INTERVAL_BY_EXEC,   /* another thread of the process called exec */
	INTERVAL_BY_RETURN, /* sigreturn, whose end is not recorded */
	INTERVAL_BY_MERGE,  /* requests may be merged and split */
	INTERVAL_REASONS
};

/* What a proof rests on, as bits. */
enum interval_premise {
	INTERVAL_IF_IDLE =
		1, /* no thread waited for the mutex when the recording began */
	INTERVAL_IF_ALONE =
		2, /* no two of one key were open where records are missing */
	INTERVAL_IF_NOT_CANCELLED = 4, /* pair_kind.direct */
	INTERVAL_IF_STARTED = 8,       /* pair_kind.is_pending */
	INTERVAL_IF_PROBED = 16,       /* the kernel missed no hit of a probe */
	INTERVAL_IF_RETURNED =
		32, /* no function was left otherwise than by its return */
	INTERVAL_PREMISES = 6
};

/* The name of a call whose begin is not proved, and whose end does not name the
 * function, as that of a text. */
#define INTERVAL_NO_NAME 1

/* In place of a time that is not known. */
#define INTERVAL_NEVER INT64_MIN

struct interval {
	int64_t begin, end;		/* INTERVAL_NEVER: not known */
	int64_t begin_event, end_event; /* 0: none */
	int64_t key;			/* the first key field; 0: none */
	int64_t ret;
	int64_t least, most; /* ns that it took; INT64_MAX: any */
	int64_t loss; /* id of the first that may hide something; 0: none */
	int64_t self; /* ns of .most that were spent in no known call inside it;
		       * -1: not known */
	uint64_t inside; /* number of the call that it is inside of, if
			  * interval_sql.c keeps it; 0: none is known */
	uint32_t pair;	 /* as in the records */
	uint32_t thread; /* of the begin or, without one, of the end; 0 */
	uint32_t name;	 /* of the same record */
	uint32_t by;	 /* as name, by what the user sums up; 0: nothing */
	int32_t cpu;	 /* of the same record; -1: not known */
	uint32_t depth;	 /* calls around a call; 0: none */
	bool has_ret;
	bool whole;	 /* no call inside it is missing: .self is true */
	uint8_t verdict; /* enum interval_verdict */
	uint8_t reason;	 /* enum interval_reason */
	uint8_t premise; /* enum interval_premise, if proved */
};

enum pairing_role {
	PAIRING_BEGIN,
	PAIRING_END,
	PAIRING_CANCEL,
};

/* What a call does that its pair of events does not show. */
enum pairing_call {
	PAIRING_PLAIN,
	PAIRING_NEVER_RETURNS, /* exit, exit_group */
	PAIRING_EXEC,	       /* returns in the first thread of the process */
	PAIRING_CLONE,	       /* returns twice */
	PAIRING_SIGRETURN,     /* returns with the number -1 */
	PAIRING_UNNAMED, /* a number of an unknown machine: any of these */
};

/* Whether a begin may be a part of an interval, by pair_kind.part. */
enum pairing_begins {
	PAIRING_EITHER,
	PAIRING_FIRST,
	PAIRING_PART,
};

/* What pairing reads of one event. */
struct pairing_record {
	const struct pair_kind *kind;
	int64_t time, event;
	int64_t key[PAIR_KEYS], tag;
	int64_t ret;
	uint32_t pair;	/* number of the pair kind, own ones included */
	uint32_t world; /* one recording, or several: see lost_times.h */
	uint32_t thread, process; /* 0: not known */
	uint32_t name, by;
	int32_t cpu;
	bool has_ret;
	bool untimed;	/* PAIR_NEST: time is a position in the order */
	bool cancels;	/* events that cancel this pair were recorded */
	int64_t length; /* what the second key covers; 0: no length */
	int64_t born; /* time at which the thread began; INT64_MIN: not known */
	int64_t died; /* time at which the thread ended, if its call may be one
		       * that does not return; 0: not known */
	int64_t from, to; /* PAIR_NEST: begin and end of the ended call by the
			   * recorder's clock */
	int64_t took;	  /* ns by the recorder's clock; -1: not known */
	int64_t blur; /* ns by which from may be late, because a text rounds */
	uint32_t depth; /* PAIR_NEST: calls around it; 0: none */
	uint8_t role, call, begins;
	uint8_t premise; /* enum interval_premise, for its interval */
};

/* Returns an interval with what one record says, without times and verdict. */
struct interval pairing_of(const struct pairing_record *r);
/* Returns an interval from a begin to an end, whose time is its maximum. */
struct interval pairing_of_both(const struct pairing_record *begin,
				const struct pairing_record *end);
/* Returns why records are missing; INTERVAL_NO_REASON if none are, or the
 * recorder was off. */
uint8_t pairing_reason(const struct lost_sum *lost);
/* Returns the ns between two times; 0 if one of them is INTERVAL_NEVER or `to`
 * is the earlier one, INT64_MAX if they are further apart than that. */
int64_t interval_span(int64_t from, int64_t to);
/* Returns how many ns an interval took: for a call, by the recorder's clock.
 * Without a proof, this is the time from begin to end. */
int64_t interval_ns(const struct interval *i);
/* What is known about the length of an interval that is not proved, in ns. */
struct interval_range {
	int64_t least, most; /* INT64_MAX: any */
};

/* Returns that range; first, last: times of the first and last record. */
struct interval_range interval_range(const struct interval *i, int64_t first,
				     int64_t last);
/* Returns "proved", "consistent", "began before", ... */
const char *interval_verdict_word(uint8_t verdict);
/* Returns "loss", "start", ...; "" for none. */
const char *interval_reason_word(uint8_t reason);
/* Returns "idle", "alone", ... for a bit number of enum interval_premise. */
const char *interval_premise_word(uint8_t bit);
