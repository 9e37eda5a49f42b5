/* timeline.h - who was on which CPU when, and who woke whom, as far as the
 * records of the scheduler tell.
 *
 * Order of calls: timeline_new(), timeline_rule(), timeline_lose() for each
 * loss in the order of its CPU's ring, timeline_rename() for each exec,
 * timeline_add() for each record in time order (that of the ring within a CPU),
 * timeline_seal(), timeline_settle() if more is known of softirqs; then
 * questions. No SQL and no names: what is proved from it is in proof.h, chains
 * in chain.h.
 *
 * A *stay* is a time of a thread on a CPU between two records of that CPU's
 * ring with no loss in between. A start or end is exact if a switch was
 * recorded there. A *loss* is the time between two neighbouring records of one
 * ring, between which records are missing. What a ring does not tell is a loss
 * too, of unknown number: the time before its first record, that after its
 * last, a CPU without records, and what is between two captures. Where the
 * thread of a record is not the one that the record before it left on the CPU,
 * records are missing although no loss was reported: that becomes a silent
 * loss.
 *
 * A recorder turns events on and off one by one, CPU after CPU. So a type is on
 * at a CPU since a record that shows it, until the last record that was written
 * when it cannot have been off; CPUs are turned off in their order.
 *
 * One thing only changes the tid of the current thread: it calls exec, and is
 * not the first of its process (timeline_rename()).
 *
 * Of some tasks nothing is ever recorded: in guests with Linux 6.18, of the
 * idle task of one CPU and of a service, by perf and ftrace alike, which may
 * have records of interrupts in their context. A *silent task* is one that
 * comes, by a switch or as an interrupt's record shows, and is never once
 * current in a record of a thread's own code. The loss since it came is of a
 * known kind (timeline_loss.of_task), and no contradiction: the task left at an
 * unknown time, for the thread that is current next or for another silent task,
 * and all that it woke is missing. The records of all others are complete.
 *
 * Where the recorder may have paused, a silent loss is of all CPUs, from the
 * last switch of that CPU to the next one: so long sched_switch can have been
 * off. */
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
	/* In place of one such record there may be two: the current thread
	 * leaves for `other`, or it comes. */
	TIMELINE_LEAVE,
	TIMELINE_COME,
	TIMELINE_WAKING,
	TIMELINE_WAKEUP,
	TIMELINE_NEW, /* sched_wakeup_new: the thread `other` is born ready */
};

/* In what the record was written: the thread itself, or what interrupted it. */
enum timeline_context {
	CONTEXT_UNKNOWN,
	CONTEXT_TASK,
	CONTEXT_INLINE, /* a softirq that the thread ran in its own call */
	CONTEXT_SOFTIRQ,
	CONTEXT_SOFTIRQ_UNKNOWN, /* one of the two above */
	CONTEXT_TIMER,		 /* hardirq or softirq of a timer */
	CONTEXT_HARDIRQ,
	CONTEXT_DISK, /* either, in which a disk reported that it is done */
	CONTEXT_NMI,
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
	int32_t target;	 /* of a wake-up: the CPU; -1: unknown */
	uint32_t stack;	 /* of a wake-up, and of who leaves: whatever number
			  * the caller likes */
	uint8_t kind;	 /* enum timeline_kind */
	uint8_t context; /* enum timeline_context */
	uint8_t shows;	 /* types that are on at this CPU since this record */
	bool interrupt;	 /* in a hardirq, softirq or NMI, as its flags say */
	bool irqs_off;	 /* it may be in the middle of a switch */
	uint8_t ended;	 /* types that may be off there already, as they are
			  * turned off before that of this record */
};

/* Records missing on a CPU between the record at `from` and that at `to`. Where
 * nothing says between which records of that time, they may be missing between
 * any two: that is still one loss, so that no time has more losses than were
 * reported. */
struct timeline_loss {
	int64_t id; /* row of table loss; 0: none */
	int64_t from, to;
	int64_t seen;	 /* of_task: when `before` was last on the CPU, as an
			  * interrupt's record may tell */
	int64_t n;	 /* -1: unknown */
	int32_t cpu;	 /* -1: any */
	int32_t before;	 /* who was on the CPU; -1: unknown */
	int32_t after;	 /* likewise */
	bool silent;	 /* found by a contradiction, no record tells it */
	bool of_task;	 /* only records in whose context `before`, or another
			  * silent task, was current are missing; after: -1 if
			  * that thread came by a record */
	bool only_wakes; /* switches are complete, wake-ups may be missing */
	bool spans;	 /* other records are between the two */
};

/* There is one for each switch and each wake-up, kept in a few bytes, and what
 * many of them have in common once: packed_times.h. */
struct timeline_stay {
	int64_t from, to;
	int64_t event; /* of the switch out, or of one before it if not known */
	uint32_t number; /* timeline_stay() */
	union {
		struct kind common;
		struct {
			uint32_t thread; /* TIMELINE_NONE: idle */
			uint32_t stack;	 /* at an exact end: as in the record */
			int32_t state;	 /* likewise: of the thread; -1:
					  * unknown */
			uint16_t cpu;
			uint16_t exact_from : 1;
			uint16_t exact_to : 1;
			uint16_t by_event : 1; /* a switch out with an event
						* ended it */
			uint16_t exec : 1; /* it begins with an exec, which gave
					    * the thread the tid of one that
					    * ended */
			uint16_t none : 12;
		};
	};
};

struct timeline_wake {
	int64_t time;
	int64_t event;	 /* 0: none */
	uint32_t number; /* timeline_wake(); odd: of a sched_wakeup that is
			  * kept with its sched_waking, the number before */
	int32_t target;
	uint32_t waiter; /* index of the thread; TIMELINE_NONE: there is none
			  * of that number */
	union {
		struct kind woke;
		struct {
			uint32_t stack;	  /* as in the record */
			int32_t waker;	  /* current thread; -1: unknown */
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

/* Facts that no record of a ring tells. */
struct timeline_rules {
	int32_t cpus;	/* how many the machine had; CPUs without records hide
			 * everything. 0: unknown, which hides everything; -1:
			 * those that have records */
	bool cpus_seen; /* -1 for want of the number: others may have run */
	int64_t skew;	/* times of two CPUs may be off by this much */
	/* prev_state may say S of a thread that stays ready, as a signal is
	 * pending (Linux 5.18 to 6.15). */
	bool signal_bug;
	bool unmarked; /* a thread that leaves in an unknown state may be ready
			*/
	int8_t pauses; /* whether the recorder may have paused: 0 no, 1 by its
			* options, -1 nothing tells */
};

/* Switches to a task of which the next record does not know, and whether any
 * record was written in its context. */
struct voice {
	uint32_t gaps;
	bool heard;
};

/* Threads are numbered from 0, in the order in which they appear; idle threads
 * are none. */
struct seen_thread {
	int32_t tid;
	uint32_t waking; /* number of its last wake-up + 1, if that is a
			  * sched_waking alone; 0 */
	struct voice voice;
	bool recorder;
	bool gone; /* it left its last CPU for good */
};

/* A task of which nothing was recorded. */
struct timeline_silent {
	int32_t tid;
	int32_t cpu; /* of the idle task, whose tid is 0; else -1 */
	uint32_t gaps;
};

/* Returns the process of a thread; -1: not known. */
typedef int32_t timeline_process_fn(void *arg, int32_t tid);

/* What the rings are read into: for whoever asks, loss, thread, silent, the
 * lists, types and contradictions are there once it is sealed. */
struct timeline {
	struct timeline_rules rules;
	struct ring *ring;
	size_t n_ring, cap_ring;
	struct timeline_loss *reported; /* as they were added */
	size_t n_reported, cap_reported;
	size_t *anywhere; /* those of an unknown CPU */
	size_t n_anywhere, cap_anywhere;
	struct timeline_loss *loss; /* as they are in the rings; by their start,
				     * once it is sealed */
	size_t n_loss, cap_loss;
	/* of loss[], and of those of each CPU, as they are in `losses` */
	struct loss_ends ends, ends_on;
	struct packed_times stay; /* by their end; a: length, b: in `stayed` */
	struct packed_times wake; /* of one record, or of sched_waking and its
				   * sched_wakeup: union wake_pair */
	struct intern stayed, woke, pairs; /* kinds */
	int64_t event;			   /* of the last switch out */
	struct seen_thread *thread;
	size_t n_thread, cap_thread;
	struct timeline_silent *silent;
	size_t n_silent, cap_silent;
	struct rename_row *rename;
	size_t n_rename, cap_rename;
	bool renames_sorted;
	timeline_process_fn *process; /* NULL: not known */
	void *process_arg;
	struct table index; /* tid to thread */
	/* Numbers of the stays and the wake-ups of each thread, and of the
	 * stays on each CPU, in time order: item i of x = lists_get(&stays,
	 * thread) is timeline_stay(t, numbers_get(&x, i)). timeline_seats() */
	struct lists stays, wakes, seats;
	struct lists losses; /* by their CPU + 1; 0: of an unknown one */
	struct ring_part *ring_part;
	size_t n_ring_part, cap_ring_part;
	struct timeline_part *part; /* the last one begins at part_from */
	size_t n_part, cap_part;
	int64_t part_from;
	size_t part_stay;    /* stays before this one are of earlier parts */
	unsigned int types;  /* that were recorded at all: TIMELINE_HAS_ bits */
	int64_t first, last; /* records in rings */
	/* How often records were missing without a loss, but for those of
	 * silent tasks. If there is any, numbers of lost records prove nothing.
	 */
	uint64_t contradictions;
	struct doubt *doubt;
	size_t n_doubt, cap_doubt;
	/* when a thread without a tid came last: it had left as if dead */
	int64_t undead;
	const struct limits *limits; /* borrowed; NULL: none were read */
	bool stray; /* a record is of no CPU, or no time, that is known */
};

struct timeline *timeline_new(const struct timeline_rules *r);
void timeline_free(struct timeline *t);
/* Adds a loss; only id, from, to, n, cpu and silent are read. TIMELINE_START
 * and TIMELINE_END stand for unknown times, and so does a time more than 146
 * years before or after zero. */
void timeline_lose(struct timeline *t, const struct timeline_loss *l);
/* Adds a record. One without such a time, or of no CPU, may have been anywhere:
 * then nothing is proved. */
void timeline_add(struct timeline *t, const struct timeline_record *r);
/* The records from here on are of another capture of the same kernel, and of
 * later times: what is between is a loss of each CPU, and events are off until
 * a record shows them. */
void timeline_change(struct timeline *t);
/* Waits of this thread for the recorder's own wake-ups are not recorded. */
void timeline_mark_recorder(struct timeline *t, int32_t tid);
/* A thread had the tid `to` at this time, and `from` before, as it called exec;
 * from -1: it is one of the process `to`. All of them come before all records.
 */
void timeline_rename(struct timeline *t, int64_t time, int32_t from,
		     int32_t to);
void timeline_seal(struct timeline *t);
/* Calls fn for each wake-up that is CONTEXT_SOFTIRQ_UNKNOWN or CONTEXT_HARDIRQ
 * so far, which returns what it is. Behind timeline_seal(). */
typedef uint8_t timeline_settle_fn(void *arg, const struct timeline_wake *w);
void timeline_settle(struct timeline *t, timeline_settle_fn *fn, void *arg);

int32_t timeline_tid(const struct timeline *t, uint32_t thread);
/* Returns TIMELINE_NONE if no record names it. */
uint32_t timeline_thread(const struct timeline *t, int32_t tid);

struct timeline_stay timeline_stay(const struct timeline *t, uint32_t i);
/* Returns the numbers of the stays on a CPU; none if it has no records. */
struct numbers timeline_seats(const struct timeline *t, int32_t cpu);
struct timeline_wake timeline_wake(const struct timeline *t, uint32_t i);
/* Returns the number of the wake-up, of any thread, that was added next, but
 * for a sched_wakeup kept with its sched_waking; TIMELINE_NONE. */
uint32_t timeline_next_wake(const struct timeline *t, uint32_t i);
/* Returns whether an event is a switch that ended a stay, or a wake-up, and its
 * stack. Events must have come in the order of their ids. */
bool timeline_stack(const struct timeline *t, int64_t event, uint32_t *stack);

/* Return the next loss after l, by their starts, that touches the time between
 * from and to, as far as clocks tell; or of which a part is in it. l NULL: the
 * first one. NULL: there is none. O(log n). */
const struct timeline_loss *timeline_next_loss(const struct timeline *t,
					       int64_t from, int64_t to,
					       const struct timeline_loss *l);
const struct timeline_loss *
timeline_next_loss_in(const struct timeline *t, int64_t from, int64_t to,
		      const struct timeline_loss *l);

/* The same of a CPU, and after them of those whose CPU is not known. */
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
/* Returns whether that is so often, or so much the recorder's habit, that the
 * absence of a record proves nothing anywhere. */
bool timeline_is_blind(const struct timeline *t);

/* Finds the stay on a CPU that ended last at or before a time, or contains it.
 * Returns whether there is one. */
bool timeline_on(const struct timeline *t, int32_t cpu, int64_t time,
		 struct timeline_stay *out);
