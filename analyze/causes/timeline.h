/* timeline.h - which thread was on which CPU when, and which woke which, as far
 * as the scheduler's records show.
 *
 * Order of calls: timeline_new(), timeline_lose() for each loss in the order of
 * its CPU's ring, timeline_rename() for each exec, timeline_add() for each
 * record in time order (that of the ring within a CPU), timeline_seal(),
 * timeline_settle() if more is known about softirqs; then the functions that
 * read it. It has no SQL and no names: proof.h derives states from it, chain.h
 * chains.
 *
 * A *stay* is a time of a thread on a CPU between two records of that CPU's
 * ring with no loss in between. A start or end is exact if a switch was
 * recorded there. A *loss* is the time between two neighbouring records of one
 * ring, between which records are missing. Time that a ring does not cover is a
 * loss of unknown number, too: the time before its first record, that after its
 * last, a CPU without records, and the time between two captures. If the thread
 * of a record is not the one that the previous record left on the CPU, records
 * are missing although no loss was reported: that is a silent loss.
 *
 * A recorder turns events on and off one by one, CPU after CPU. So a type is on
 * at a CPU from the first record that shows it until the last record at which
 * it cannot have been off; CPUs are turned off in their order.
 *
 * Only one event changes the tid of the current thread: it calls exec and is
 * not the first thread of its process (timeline_rename()).
 *
 * Some tasks are never recorded: in guests with Linux 6.18 the idle task of one
 * CPU and a service, by perf and ftrace alike, except for interrupts in their
 * context. A *silent task* comes onto a CPU, as a switch or an interrupt's
 * record shows, but is never current in a record of a thread's own code. The
 * loss since it came is of a known kind (timeline_loss.of_task), and no
 * contradiction: the task left at an unknown time, for the next current thread
 * or for another silent task, and all its wake-ups are missing. The records of
 * all other tasks are complete.
 *
 * Where the recorder may have paused, a silent loss applies to all CPUs, from
 * the last switch of its CPU to the next one: sched_switch may have been off
 * for that long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/packed_times.h"
#include "stitch/base/table.h"

struct limits;

#define TIMELINE_NONE UINT32_MAX
/* Before and after all times. */
#define TIMELINE_START INT64_MIN
#define TIMELINE_END INT64_MAX

enum timeline_kind {
	TIMELINE_SEEN, /* any record that names the current thread */
	TIMELINE_SWITCH,
	/* Two records in place of one switch: the current thread leaves for
	 * `other`; then the thread comes. */
	TIMELINE_LEAVE,
	TIMELINE_COME,
	TIMELINE_WAKING,
	TIMELINE_WAKEUP,
	TIMELINE_NEW, /* sched_wakeup_new: the thread `other` is born ready */
};

/* The context of a record: the thread itself, or what interrupted it. */
enum timeline_context {
	CONTEXT_UNKNOWN,
	CONTEXT_TASK,
	CONTEXT_INLINE, /* a softirq that the thread ran in its own call */
	CONTEXT_SOFTIRQ,
	CONTEXT_SOFTIRQ_UNKNOWN, /* one of the two above */
	CONTEXT_TIMER,		 /* hardirq or softirq of a timer */
	CONTEXT_HARDIRQ,
	CONTEXT_DISK, /* hardirq or softirq in which a disk request was
		       * completed */
	CONTEXT_NMI,
	CONTEXT_SIGNAL, /* a thread that sent a signal, for which the other one
			 * did not wait */
};

#define TIMELINE_TYPES 4

/* Types of records whose absence may prove something: bits. */
enum {
	TIMELINE_HAS_SWITCH = 1,
	TIMELINE_HAS_WAKING = 2,
	TIMELINE_HAS_WAKEUP = 4,
	TIMELINE_HAS_NEW = 8,
};

struct timeline_record {
	int64_t time, id; /* id: of the event, for its stack */
	int32_t cpu;
	int32_t current; /* tid; -1: not known */
	int32_t other;	 /* tid that comes, or is woken; -1: unknown */
	int32_t state;	 /* of the thread that leaves; -1: unknown */
	int32_t target;	 /* CPU of the woken thread; -1: unknown, or no
			  * wake-up */
	uint32_t stack;	 /* the caller's number for the stack of a wake-up or of
			  * the thread that leaves */
	uint8_t kind;	 /* enum timeline_kind */
	uint8_t context; /* enum timeline_context */
	uint8_t shows;	 /* types that are on at this CPU from this record on */
	bool interrupt;	 /* its flags say that it is in a hardirq, softirq or
			  * NMI */
	bool irqs_off;	 /* it may be in the middle of a switch */
	uint8_t ended;	 /* types that may be off there already, as they are
			  * turned off before this record's type */
};

/* Records missing on a CPU between the record at `from` and that at `to`. If it
 * is not known between which records of that time, they may be missing between
 * any two; it is still one loss, so that no time has more losses than were
 * reported. */
struct timeline_loss {
	int64_t id; /* row of table loss; 0: none */
	int64_t from, to;
	int64_t seen; /* if of_task: last time at which `before` is known to be
		       * on the CPU, perhaps from an interrupt's record */
	int64_t n;    /* -1: unknown */
	int32_t cpu;  /* -1: any */
	int32_t before;	 /* tid on the CPU before it; -1: unknown */
	int32_t after;	 /* tid on the CPU after it; -1: unknown */
	bool silent;	 /* found by a contradiction, not reported */
	bool of_task;	 /* all missing records were written while `before` or
			  * another silent task was current; then `after` is -1 if
			  * the next thread came by a TIMELINE_COME */
	bool only_wakes; /* switches are complete, wake-ups may be missing */
	bool spans;	 /* other records are between the two */
};

/* There are millions of stays and wake-ups. Each takes a few bytes, and
 * `common` or `woke` is kept once for all with equal values: packed_times.h. */
struct timeline_stay {
	int64_t from, to;
	int64_t event; /* event of the switch out; without by_event, that of an
			* earlier one */
	uint32_t number; /* timeline_stay() */
	union {
		struct kind common;
		struct {
			uint32_t thread; /* TIMELINE_NONE: idle */
			uint32_t stack;	 /* stack at an exact end, as in the
					  * record */
			int32_t state;	 /* state of the thread at an exact end;
					  * -1: unknown */
			uint16_t cpu;
			uint16_t exact_from : 1;
			uint16_t exact_to : 1;
			uint16_t by_event : 1; /* it ended with a switch out,
						* which has `event` */
			uint16_t exec : 1; /* it begins with an exec that gave
					    * the thread the tid of an ended
					    * one */
			uint16_t none : 12;
		};
	};
};

struct timeline_wake {
	int64_t time;
	int64_t event;	 /* 0: none */
	uint32_t number; /* argument of timeline_wake(); odd: a sched_wakeup
			  * that shares an item with its sched_waking, number -
			  * 1 */
	int32_t target;
	uint32_t waiter; /* number of the woken thread; TIMELINE_NONE: no
			  * wake-up has this number */
	union {
		struct kind woke;
		struct {
			uint32_t stack;	  /* as in the record */
			int32_t waker;	  /* tid of the current thread; -1:
					   * unknown */
			int32_t cpu;	  /* -1: unknown */
			uint16_t kind;	  /* enum timeline_kind */
			uint16_t context; /* enum timeline_context */
		};
	};
};

/* Returns the event of the switch out; 0: none. */
static inline int64_t timeline_stay_out(const struct timeline_stay *s)
{
	return s->by_event ? s->event : 0;
}

/* Facts that the records of rings do not contain. */
struct timeline_rules {
	int32_t cpus; /* number of the machine's CPUs; one without records hides
		       * everything. 0: unknown, which hides everything; -1:
		       * those with records */
	bool cpus_seen; /* `cpus` is -1 because the number is not known: others
			 * may have run */
	int64_t skew;	/* ns by which times of two CPUs may differ from their
			 * true order */
	/* prev_state may be S for a thread that stays ready because a signal is
	 * pending (Linux 5.18 to 6.15). */
	bool signal_bug;
	bool unmarked; /* a thread that leaves without a mark of preemption may
			* be ready */
	int8_t pauses; /* whether the recorder may have paused: 0 no, 1 by its
			* options, -1 unknown */
};

/* How often a task came onto a CPU where the next record does not show it, and
 * whether any record was written in its context. */
struct voice {
	uint32_t gaps;
	bool heard;
};

/* A thread. Threads are numbered from 0 in the order in which they appear; idle
 * threads have no number. */
struct seen_thread {
	int32_t tid;
	uint32_t waking; /* number of its last wake-up + 1 if that is a
			  * sched_waking without a sched_wakeup; else 0 */
	struct voice voice;
	bool recorder;
	bool gone; /* it left its last CPU for good */
};

/* A task of which nothing was recorded. */
struct timeline_silent {
	int32_t tid;
	int32_t cpu; /* CPU of an idle task, whose tid is 0; else -1 */
	uint32_t gaps;
};

/* Returns the process of a thread; -1: not known. */
typedef int32_t timeline_process_fn(void *arg, int32_t tid);

/* The timeline. Once it is sealed, others may read loss, thread, silent, the
 * lists, types and contradictions. */
struct timeline {
	struct timeline_rules rules;
	struct ring *ring; /* by CPU */
	size_t n_ring, cap_ring;
	size_t n_seen;			/* rings with a record or a loss */
	struct timeline_loss *reported; /* losses as they were added */
	size_t n_reported, cap_reported;
	size_t *anywhere; /* indexes in `reported` of losses of an unknown
			   * CPU */
	size_t n_anywhere, cap_anywhere;
	struct timeline_loss *each; /* losses of each CPU */
	size_t n_each, cap_each;
	struct timeline_loss *loss; /* losses as applied to the rings; sorted by
				     * start once sealed */
	size_t n_loss, cap_loss;
	/* ends of loss[], and of each CPU's losses in the order of `losses` */
	struct loss_ends ends, ends_on;
	struct packed_times stay; /* stays by their end; a: length, b: number in
				   * `stayed` */
	struct packed_times wake; /* wake-ups: single records, or a sched_waking
				   * with its sched_wakeup: union wake_pair */
	struct intern stayed, woke, pairs; /* shared data of stays, wake-ups and
					    * pairs */
	int64_t event;			   /* event of the last switch out */
	struct seen_thread *thread;
	size_t n_thread, cap_thread;
	struct timeline_silent *silent;
	size_t n_silent, cap_silent;
	struct rename_row *rename;
	size_t n_rename, cap_rename;
	bool renames_sorted;
	timeline_process_fn *process; /* returns a thread's process; NULL: not
				       * known */
	void *process_arg;
	struct table index; /* tid to thread */
	/* Numbers of the stays and the wake-ups of each thread, and of the
	 * stays on each CPU, in time order: item i of x = lists_get(&stays,
	 * thread) is timeline_stay(t, numbers_get(&x, i)). timeline_seats() */
	struct lists stays, wakes, seats;
	struct lists losses; /* numbers of losses, by their CPU + 1; 0: unknown
			      * CPU */
	struct ring_part *ring_part;
	size_t n_ring_part, cap_ring_part;
	struct timeline_part *part; /* the last one begins at part_from */
	size_t n_part, cap_part;
	int64_t part_from;
	size_t part_stay;    /* stays before this one are of earlier parts */
	unsigned int types;  /* types recorded at all: TIMELINE_HAS_ bits */
	int64_t first, last; /* times of the first and last record of all
			      * rings */
	/* How often records were missing without a reported loss, except for
	 * silent tasks. If this is not 0, numbers of lost records prove
	 * nothing. */
	uint64_t contradictions;
	struct doubt *doubt;
	size_t n_doubt, cap_doubt;
	/* last time at which a thread came without a tid: it had left as if
	 * dead */
	int64_t undead;
	const struct limits *limits; /* borrowed; NULL: none were read */
	bool stray;		     /* a record has no valid CPU or time */
	int32_t bare; /* a CPU without any record, though it may have been on;
		       * -1: none */
};

struct timeline *timeline_new(const struct timeline_rules *r);
void timeline_free(struct timeline *t);
/* Adds a loss, of which only id, from, to, n, cpu and silent are read.
 * TIMELINE_START and TIMELINE_END mean unknown times, as does any time more
 * than 146 years before or after zero. */
void timeline_lose(struct timeline *t, const struct timeline_loss *l);
/* Adds a loss of each CPU, whatever their numbers are. */
void timeline_lose_each(struct timeline *t, const struct timeline_loss *l);
/* Adds a record. A record with an unknown time or CPU may belong anywhere: then
 * nothing is proved. */
void timeline_add(struct timeline *t, const struct timeline_record *r);
/* Ends a capture: further records belong to another capture of the same kernel,
 * at later times. The time between is a loss of each CPU, and events are off
 * until a record shows them. */
void timeline_change(struct timeline *t);
/* Marks a thread of the recorder: its own wake-ups are not recorded. */
void timeline_mark_recorder(struct timeline *t, int32_t tid);
/* Notes that a thread had the tid `from` before it called exec, and `to` at
 * this time; from -1: some thread of the process `to`. Call it before adding
 * records. */
void timeline_rename(struct timeline *t, int64_t time, int32_t from,
		     int32_t to);
void timeline_seal(struct timeline *t);
/* Calls fn for each wake-up that is CONTEXT_SOFTIRQ_UNKNOWN or CONTEXT_HARDIRQ
 * and sets its context to what fn returns. Call it after timeline_seal(). */
typedef uint8_t timeline_settle_fn(void *arg, const struct timeline_wake *w);
void timeline_settle(struct timeline *t, timeline_settle_fn *fn, void *arg);

int32_t timeline_tid(const struct timeline *t, uint32_t thread);
/* Returns the number of a thread; TIMELINE_NONE: no record names it. */
uint32_t timeline_thread(const struct timeline *t, int32_t tid);

struct timeline_stay timeline_stay(const struct timeline *t, uint32_t i);
/* Returns the numbers of the stays on a CPU, none if the CPU has no records. */
struct numbers timeline_seats(const struct timeline *t, int32_t cpu);
struct timeline_wake timeline_wake(const struct timeline *t, uint32_t i);
/* Returns the number of the wake-up (of any thread) added after this one,
 * skipping a sched_wakeup that shares an item with its sched_waking;
 * TIMELINE_NONE: none. */
uint32_t timeline_next_wake(const struct timeline *t, uint32_t i);
/* Stores the stack of an event. Returns false if the event is neither a switch
 * that ended a stay nor a wake-up. Events must have been added in the order of
 * their ids. */
bool timeline_stack(const struct timeline *t, int64_t event, uint32_t *stack);

/* Return the next loss after l, by start, that touches the time between from
 * and to, allowing for skew; timeline_next_loss_in(): of which a part lies in
 * that time. l NULL: the first one. NULL: no more. O(log n). */
const struct timeline_loss *timeline_next_loss(const struct timeline *t,
					       int64_t from, int64_t to,
					       const struct timeline_loss *l);
const struct timeline_loss *
timeline_next_loss_in(const struct timeline *t, int64_t from, int64_t to,
		      const struct timeline_loss *l);

/* The same for the losses of one CPU, followed by those of an unknown CPU. */
const struct timeline_loss *
timeline_next_loss_on(const struct timeline *t, int32_t cpu, int64_t from,
		      int64_t to, const struct timeline_loss *l);
/* Returns the latest end of the losses that begin before a time. O(log n). */
int64_t timeline_loss_end(const struct timeline *t, int64_t time);

/* Returns whether records of this type were on at all CPUs between two times,
 * by the capture that reports the first one. */
bool timeline_is_on(const struct timeline *t, unsigned int type, int64_t from,
		    int64_t to);
/* Returns the times of the first and the last record that names the thread on a
 * CPU; from > to: there is none. */
void timeline_span(const struct timeline *t, int64_t *from, int64_t *to);
/* Returns whether there are so many contradictions, or the recorder paused by
 * its options, that the absence of a record proves nothing anywhere. */
bool timeline_is_blind(const struct timeline *t);

/* Finds the last stay on a CPU that begins at or before a time. Returns whether
 * there is one. */
bool timeline_on(const struct timeline *t, int32_t cpu, int64_t time,
		 struct timeline_stay *out);
