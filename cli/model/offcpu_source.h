/* offcpu_source.h - iterates over the scheduler events of a database, one
 * capture after the other, in time order. */
#ifndef CLI_MODEL_OFFCPU_SOURCE_H
#define CLI_MODEL_OFFCPU_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct stacks_group;
struct store;
struct value;

enum offcpu_end {
	OFFCPU_BACK,	  /* the thread came back */
	OFFCPU_UNCERTAIN, /* it may have come back in between */
	OFFCPU_OPEN,	  /* it was off the CPU when the capture ended */
};

/* A capture, and the event ids between which its events are. */
struct capture_events {
	int64_t capture, first, last;
};

/* A thread's name and stack at an event, as in struct stacks_group. */
struct offcpu_stack {
	uint32_t type; /* event_type.id; 0: not known */
	uint32_t comm, kraw, uraw;
	uint8_t verdict, flags;
};

struct offcpu_sums {
	uint64_t waits[3], ns[3]; /* by enum offcpu_end */
	uint64_t exits;		  /* threads that exited */
	uint64_t lost;		  /* records, in these captures */
	bool lost_unknown;	  /* some losses have no number */
	/* sched_switch: where fewer were recorded than there were, perf record
	 * sampled it, and nobody knows what a thread did between two */
	uint64_t recorded, happened;
	bool wakes;   /* who woke is known, as far as wakers.h tells */
	bool partial; /* not recorded on all CPUs: switches in are missing */
	bool records; /* from PERF_RECORD_SWITCH, not sched_switch */
	bool whole;   /* from perf record --off-cpu */
	/* sums of perf record --off-cpu that other captures tell of in part:
	 * they cannot be taken apart, and do not count */
	uint64_t mixed, mixed_ns;
};

enum offcpu_role {
	OFFCPU_NONE,
	OFFCPU_SWITCH, /* sched_switch: one thread leaves, one comes */
	OFFCPU_RECORD, /* PERF_RECORD_SWITCH: one thread leaves or comes */
	OFFCPU_STACK,  /* a sample with the stack for the next record */
	OFFCPU_WAIT,   /* of perf record --off-cpu: a wait, or a sum of them */
};

struct offcpu_event {
	enum offcpu_role role;
	int64_t id, time; /* time 0: OFFCPU_WAIT that is a sum */
	/* OFFCPU_WAIT: how long, since when (of a sum 0), and whether another
	 * capture tells of it too */
	int64_t ns, from;
	bool told;
	int32_t cpu; /* -1: not known */
	struct offcpu_stack stack;
	bool has_out, has_in;
	int64_t out, in; /* tid that leaves, that comes */
	int64_t state;	 /* of the thread that leaves; -1: not known */
	bool chosen;	 /* selected by the filters */
};

struct offcpu_source;
struct offcpu_sources;

/* Finds the captures with context switches. Returns NULL and *err if there is
 * none. */
struct offcpu_sources *offcpu_sources_load(struct store *db, const char *path,
					   struct err *err);
void offcpu_sources_free(struct offcpu_sources *s);
/* Returns the number of captures to read: for each kernel one with switches,
 * and behind all of these those with waits. */
size_t offcpu_sources_count(const struct offcpu_sources *s);
/* Opens capture i, and adds to *sums what it has and what it lost. */
struct offcpu_source *offcpu_source_open(struct offcpu_sources *s, size_t i,
					 struct offcpu_sums *sums,
					 struct err *err);
void offcpu_source_close(struct offcpu_source *s);
/* Returns 1 and *e, 0 at the end, or -1 and *err. */
int offcpu_source_next(struct offcpu_source *s, struct offcpu_event *e,
		       struct err *err);
/* Returns the capture if it has sched_switch, of all occurrences or not; NULL:
 * no. Valid until offcpu_sources_free(). */
const struct capture_events *
offcpu_source_switches(const struct offcpu_source *s);
/* Returns whether a switch between from and to may have been lost. */
bool offcpu_source_lost(const struct offcpu_source *s, int64_t from,
			int64_t to);
/* Returns whether a thread that came to a CPU was there until the capture
 * ended, if nothing says that it left: where only some tasks are recorded, or
 * may be, as a switch that does not fit (torn) shows, it may have left unseen.
 */
bool offcpu_source_stays(const struct offcpu_source *s, bool torn);
/* Returns when the thread that had this id at a time exited; INT64_MAX: no
 * record says that it did. */
int64_t offcpu_source_exit(const struct offcpu_source *s, int64_t tid,
			   int64_t time);
/* Returns the time at which the capture ended. */
int64_t offcpu_source_end(const struct offcpu_source *s);
/* Returns the state as a letter: "S", "D", "R", "R+" (preempted), "?", ... */
const char *offcpu_state(int64_t state);
/* Returns the stack as a group for stacks_get(). */
struct stacks_group offcpu_group(const struct offcpu_stack *s);
/* Returns the bits of field prev_state, -1 if it is not known: text of ftrace
 * has a letter where binary forms have the number. */
int64_t offcpu_state_bits(const struct value *v);
#endif
