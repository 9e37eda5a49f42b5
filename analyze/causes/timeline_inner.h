/* timeline_inner.h - what the files of the timeline share: timeline_rings.c
 * takes records, timeline_seal.c finishes it, timeline_ask.c answers. For them
 * only. */
#pragma once
#include "analyze/causes/timeline.h"

#define TIMELINE_CPUS_MAX 65536 /* records of further ones are ignored */

/* A thread whose tid changed: one that is not the first of its process and
 * calls exec goes on under the tid of the first, which has ended. */
struct rename_row {
	int64_t time;	  /* the tid had changed then */
	int32_t from, to; /* from -1: a thread of the process `to` */
};

/* A time in which the recorder may have paused. */
struct doubt {
	int64_t from, to;
	int64_t task; /* there is no doubt if this task is silent; -1: there is
		       * one in any case; -2 - CPU: the idle task of that CPU */
	size_t open;  /* number of another one of this CPU that has no end yet,
		       * + 1 */
};

/* The ring of a CPU, up to the record that was added last. */
struct ring {
	int32_t current; /* tid; -1: unknown */
	int64_t since;	 /* start of the stay of `current` */
	/* time of the last record; once the capture ended, of the last one with
	 * which switches were on */
	int64_t last;
	int64_t since_on[TIMELINE_TYPES]; /* by bit of the type; TIMELINE_END:
					     never */
	/* time of the last record with which they were on */
	int64_t until[TIMELINE_TYPES];
	int32_t coming;	 /* tid, when another one has left; -1: unknown, or it
			  * has come */
	int32_t leaving; /* tid, where the last record is its switch; -1 */
	bool left;	 /* the last record is TIMELINE_LEAVE */
	bool exact;	 /* whether `since` is a switch, or an exec */
	bool exec;	 /* it is an exec */
	bool began;	 /* a record was added since switches are on */
	bool changed;	 /* no record since the capture changed */
	int64_t start;	 /* in this capture; TIMELINE_START in the first */
	size_t *loss;	 /* losses of this CPU, in timeline.told */
	size_t n_loss, cap_loss, next_loss;
	size_t spans; /* number in timeline.loss of the one that lasts, + 1 */
	size_t spans_told; /* and in timeline.told */
	int64_t switched;  /* time of the last switch */
	size_t doubt; /* number in timeline.doubt of the last one without an
		       * end, + 1 */
	struct voice idle; /* of its idle task */
};

/* A ring in one of several captures: since when types are on there, and until
 * when. */
struct ring_part {
	int64_t from, to;
	int64_t last; /* time of its last record */
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
	int32_t cpu;
};

/* The time of one capture: since when types are on at all CPUs, and until
 * when. */
struct timeline_part {
	int64_t from;
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
};

void timeline_put_stay(struct timeline *t, const struct timeline_stay *s);
void timeline_put_wake(struct timeline *t, const struct timeline_wake *w);
/* Returns the number for a new wake-up, which may be kept with the last one. */
uint32_t timeline_wake_number(struct timeline *t,
			      const struct timeline_wake *w);
/* Returns the ring of a CPU, which may be new; NULL: the number is none. */
struct ring *timeline_ring(struct timeline *t, int32_t cpu);
/* Returns the voice of a task; NULL: there is none of that number. */
struct voice *timeline_voice(struct timeline *t, struct ring *r, int32_t tid);
/* Notes the silent losses of a ring that are not between two of its records, up
 * to a time. */
void timeline_skip_losses(struct timeline *t, struct ring *r, int64_t until);
/* Adds a loss of which no more is known, and returns it until the next one. */
struct timeline_loss *timeline_add_loss(struct timeline *t, int64_t from,
					int64_t to, int32_t cpu);
/* Adds a loss to the ring: the stay there ends at l.from; from l.to on, the
 * thread `after` is there (-1: unknown). */
void timeline_break(struct timeline *t, struct ring *r, struct timeline_loss l,
		    int32_t after);
/* Notes since when types are on in the capture that ends, and until when. to:
 * its last time; TIMELINE_END: no other one follows. */
void timeline_end_part(struct timeline *t, int64_t to);
/* Then, once the stays of that capture are ended: cuts those that go on when
 * switches may be off. */
void timeline_cut_tails(struct timeline *t);
