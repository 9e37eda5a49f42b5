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
 * on is in the capture or in a loss.
 *
 * Where several of one key are open at a time (PAIR_SET), nobody knows which
 * ends when. Once all have ended and nothing is missing, each of them is
 * ambiguous: it is given from the n-th begin to the n-th end, so that number
 * and sum are right, the longest is at least the longest of these, and the
 * shortest at most the shortest; each has its bounds. What was alone is held
 * back for a while, as an end that follows without a begin tells that it was
 * not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/latency/interval.h"
#include "analyze/latency/pair_kinds.h"

struct lost_times;
struct pairing;

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
	bool cancels;	/* what cancels one of its pair was on */
	int64_t length; /* how far the second key goes; 0: it has none */
	int64_t born;	/* the thread; INT64_MIN: not known */
	uint8_t role, call, begins;
};

typedef void pairing_fn(void *arg, const struct interval *i);

/* lost: sealed, and borrowed. */
struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    void *arg);
void pairing_free(struct pairing *p);
void pairing_take(struct pairing *p, const struct pairing_record *r);
/* Tells of all that is open. */
void pairing_end(struct pairing *p);
/* What the proofs rest on that were given, as bits. */
enum {
	PAIRING_IF_IDLE = 1,  /* no mutex was waited for when it began */
	PAIRING_IF_ALONE = 2, /* no two of one key were open unseen */
	PAIRING_IF_NOT_CANCELLED = 4, /* pair_kind.direct */
	PAIRING_IF_STARTED = 8,	      /* pair_kind.is_pending */
};
unsigned int pairing_premise(const struct pairing *p);
/* Returns how many records came a second time, and were left out. */
uint64_t pairing_doubled(const struct pairing *p);
