/* proof_inner.h - what the files of proof.h share: a thread's pieces while they
 * are made. For them only. */
#pragma once
#include "analyze/causes/packed_times.h"
#include "analyze/causes/proof.h"

/* A struct proof_piece while it is made. It ends where the next one begins. */
struct piece {
	int64_t from;
	uint32_t stay; /* whose switch out began it; TIMELINE_NONE: none */
	uint32_t edge;
	uint32_t cpu : 17; /* + 1; 0: none */
	uint32_t state : 4;
	uint32_t proof : 2;
	uint32_t link : 2;
};

/* Those of a thread: what cannot change any more is kept as moments (time:
 * from, event: stay, a: edge, b: the others), then come the n that can. */
struct pieces {
	struct packed_times kept;
	uint32_t stay, edge; /* the last ones kept that are not TIMELINE_NONE */
	struct piece *piece;
	size_t n, cap;
	int64_t end; /* of the last one */
	bool made;
};

/* A struct proof_edge that is not of the very time of its wake-up. */
struct edge_odd {
	int64_t from;
	uint32_t loss; /* TIMELINE_NONE: not deduced */
};

/* A loss of one record, which hides a run only of those current on either side.
 */
struct own_loss {
	int32_t tid;
	uint32_t loss;
};

/* Losses that may hide a run: numbers of the timeline's. */
struct hides {
	uint32_t *loss; /* of any thread, by their start */
	size_t n;
	struct loss_ends ends;
	struct loss_ends holding; /* only of those that missing_holds() */
	struct own_loss *own;	  /* by tid, then by their start */
	size_t n_own, cap_own;
};

#define WAKES_AT_HAND 64

struct proofs {
	const struct timeline *t;
	struct timeline_wake at_hand[WAKES_AT_HAND]; /* wake_at() */
	struct hides hides;
	struct pieces *of; /* by thread */
	/* Edges. time: the wake-up, or the waiter if it is deduced from a loss;
	 * a: number in odd + 1, 0: of the wake-up's very time */
	struct packed_times edge;
	struct edge_odd *odd;
	size_t n_odd, cap_odd;
	size_t kept;		/* pieces */
	bool wakings, wakeups;	/* recorded at all */
	bool counts;		/* numbers of lost records prove something */
	bool complete;		/* what is missing is in the losses */
	bool blind;		/* the absence of records proves nothing */
	struct idle_time *idle; /* long ones, by CPU and time */
	size_t n_idle, cap_idle;
};

struct span {
	int64_t from, to;
};

/* The time between two stays of a thread, or a birth and a stay. */
struct gap {
	struct proofs *p;
	struct pieces *out;
	uint32_t thread;
	const struct timeline_stay *a, *b; /* NULL: none */
	int64_t from, to;
	int64_t run_from; /* since when the thread may have been on its way
			   * to this sleep: start of a, or of the loss before */
	bool exact_from, exact_to;
	int32_t bits;		    /* state at `from`; -1: unknown */
	struct numbers wake;	    /* that may be in the gap */
	bool mixed;		    /* they are not in time order */
	struct numbers before;	    /* in the run before it */
	const struct own_loss *own; /* that hide runs of this thread only */
	size_t n_own;
	int64_t counted;   /* until when the thread, asleep at the start, cannot
			    * have run unseen, as too few records are lost;
			    * `from`: nothing is proved so */
	int64_t since;	   /* losses that end before it count for nothing */
	bool came;	   /* all that is hidden is that the thread came after a
			    * silent task, at its end, */
	int64_t came_from; /* at this time or later; else TIMELINE_START */
	struct span *hidden; /* times in which it may have run, in order */
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

/* Keeps the pieces of a thread so far, which do not change any more. */
void pieces_keep(struct proofs *p, uint32_t thread);
/* Finds the times in which a CPU was idle for long. */
void held_init(struct proofs *p);
/* Adds a piece. The second one adds nothing if it is empty, and makes one of
 * what is unknown in a row: a thread that is away has no piece for each loss.
 */
struct piece *piece_add(struct gap *g, int64_t from, int64_t to,
			enum piece_state state, enum proof proof);
void piece_add_time(struct gap *g, int64_t from, int64_t to,
		    enum piece_state state, enum proof proof);
/* Returns the number of a new edge. from: the wake-up may have been since. */
uint32_t edge_add(struct gap *g, const struct timeline_wake *w, int64_t from);

/* Whether the number of a loss's records proves something. */
bool is_known_number(const struct proofs *p, const struct timeline_loss *l);
struct timeline_wake wake_at(const struct gap *g, const struct numbers *id,
			     size_t i);
/* Returns whether a wake-up came while the thread was on its way to sleep: a
 * sched_waking of the run at or after a time without a sched_wakeup up to the
 * switch out. Where the start of the run is missing, what may have been in it
 * counts, and may as well have ended the wait before. */
bool gap_race(const struct gap *g, int64_t since);
/* Finds the first wake-up of a kind between two times. Returns whether there is
 * one; w may be NULL. */
bool gap_first(const struct gap *g, enum timeline_kind kind, int64_t from,
	       int64_t to, struct timeline_wake *w);
/* Whether a loss counts for a gap. */
bool gap_has_loss(const struct gap *g, const struct timeline_loss *l);
/* Returns gap.counted. */
int64_t gap_count(const struct gap *g);

/* Adds the pieces of a time in which the thread was off all CPUs. first, last:
 * it begins, or ends, with a known switch. */
void quiet_judge(struct gap *g, int64_t from, int64_t to, bool first,
		 bool last);
