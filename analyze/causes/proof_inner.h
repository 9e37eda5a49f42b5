/* proof_inner.h - what the implementation files of proof.h share: a thread's
 * pieces while they are made. No other file includes it. */
#pragma once
#include "analyze/causes/packed_times.h"
#include "analyze/causes/proof.h"

/* A struct proof_piece while it is made. It ends where the next one begins. */
struct piece {
	int64_t from;
	uint32_t stay; /* number of the stay whose switch out began it;
			* TIMELINE_NONE: none */
	uint32_t edge;
	uint32_t cpu : 17; /* CPU + 1; 0: none */
	uint32_t state : 4;
	uint32_t proof : 2;
	uint32_t link : 2;
};

/* The pieces of a thread: first those in `kept`, which are final and packed
 * (time: from, event: stay, a: edge, b: the other members), then n that may
 * still change. */
struct pieces {
	struct packed_times kept;
	uint32_t stay, edge; /* last packed values that are not TIMELINE_NONE */
	struct piece *piece;
	size_t n, cap;
	int64_t end; /* end of the last piece */
	bool made;
};

/* The extra data of an edge whose time is not exactly that of its wake-up. */
struct edge_odd {
	int64_t from;
	uint32_t loss; /* TIMELINE_NONE: not deduced */
};

/* A loss that hides a run only of the threads named in the records around it:
 * one entry for each. */
struct own_loss {
	int32_t tid;
	uint32_t loss;
};

/* Losses that may hide a run, by their numbers in timeline.loss. */
struct hides {
	uint32_t *loss; /* losses that may hide a run of any thread, by their
			 * start */
	size_t n;
	struct loss_ends ends;
	struct loss_ends holding; /* ends of those for which missing_holds() is
				   * true */
	struct own_loss *own;	  /* by tid, then by their start */
	size_t n_own, cap_own;
};

#define WAKES_AT_HAND 64

struct proofs {
	const struct timeline *t;
	struct timeline_wake at_hand[WAKES_AT_HAND]; /* cache of wake_at() */
	struct hides hides;
	struct pieces *of; /* by thread */
	/* Edges. time: number of the wake-up, or of the waiter if deduced from
	 * a loss; a: index in odd + 1, 0: exactly at the wake-up's time */
	struct packed_times edge;
	struct edge_odd *odd;
	size_t n_odd, cap_odd;
	size_t kept;	       /* number of pieces in memory */
	bool wakings, wakeups; /* whether any were recorded */
	bool counts;   /* missing_counts(): numbers of lost records prove
			* something */
	bool complete; /* every missing record is in a loss */
	bool blind;    /* the absence of records proves nothing */
	struct idle_time *idle; /* long idle times, by CPU and time */
	size_t n_idle, cap_idle;
};

struct span {
	int64_t from, to;
};

/* The time between two stays of a thread, or between its birth and a stay. */
struct gap {
	struct proofs *p;
	struct pieces *out;
	uint32_t thread;
	const struct timeline_stay *a, *b; /* NULL: none */
	int64_t from, to;
	int64_t run_from; /* earliest time at which the thread may have been on
			   * its way to this sleep: start of a, or of the loss
			   * before a */
	bool exact_from, exact_to;
	int32_t bits;		    /* state at `from`; -1: unknown */
	struct numbers wake;	    /* wake-ups that may be in the gap */
	bool mixed;		    /* the wake-ups are not in time order */
	struct numbers before;	    /* wake-ups in the run before the gap */
	const struct own_loss *own; /* losses of this thread only */
	size_t n_own;
	int64_t counted; /* until this time the thread, asleep at the start,
			  * cannot have run unseen, as too few records are lost;
			  * `from`: nothing is proved that way */
	int64_t since;	 /* losses that end before this time are ignored */
	bool came; /* the only hidden run is at the end: the thread came after a
		    * silent task */
	int64_t came_from;   /* at this time or later; TIMELINE_START if not
			      * `came` */
	struct span *hidden; /* times in which the thread may have run, in
			      * order */
	size_t n_hidden, cap_hidden;
};

static inline bool is_sleep(int32_t bits)
{
	return bits > 0 && (bits & 0xff);
}

static inline bool is_ready(int32_t bits)
{
	return bits >= 0 && !(bits & 0xff);
}

/* Packs the pieces of a thread so far, which are final. */
void pieces_keep(struct proofs *p, uint32_t thread);
/* Fills p->idle with the times in which a CPU was idle for long. */
void held_init(struct proofs *p);
/* Add a piece. piece_add_time() adds no empty piece, and merges adjacent
 * unknown pieces: a thread that is away does not get a piece for each loss. */
struct piece *piece_add(struct gap *g, int64_t from, int64_t to,
			enum piece_state state, enum proof proof);
void piece_add_time(struct gap *g, int64_t from, int64_t to,
		    enum piece_state state, enum proof proof);
/* Adds an edge and returns its number. from: earliest time of the wake-up. */
uint32_t edge_add(struct gap *g, const struct timeline_wake *w, int64_t from);

/* Returns whether the number of records in a loss is known and proves
 * something. */
bool is_known_number(const struct proofs *p, const struct timeline_loss *l);
struct timeline_wake wake_at(const struct gap *g, const struct numbers *id,
			     size_t i);
/* Returns whether a wake-up came while the thread was on its way to sleep: a
 * sched_waking of the run at or after a time without a sched_wakeup up to the
 * switch out. If the start of the run is missing, wake-ups that may have been
 * in it count, though they may have ended the previous wait. */
bool gap_race(const struct gap *g, int64_t since);
/* Finds the first wake-up of a kind between two times. Returns whether there is
 * one; w may be NULL. */
bool gap_first(const struct gap *g, enum timeline_kind kind, int64_t from,
	       int64_t to, struct timeline_wake *w);
/* Returns whether a loss may lie in a gap. */
bool gap_has_loss(const struct gap *g, const struct timeline_loss *l);
/* Returns the value for gap.counted. */
int64_t gap_count(const struct gap *g);

/* Adds the pieces of a time in which the thread was off all CPUs. first, last:
 * the time begins, or ends, with a known switch. */
void quiet_judge(struct gap *g, int64_t from, int64_t to, bool first,
		 bool last);
