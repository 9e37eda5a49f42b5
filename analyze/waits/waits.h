/* waits.h - iterates over the times that threads were off the CPU, and over
 * those that they ran: how long, where, and who woke them.
 *
 * A wait goes from a thread's switch out of a CPU to its next switch in on any
 * CPU. It has the stack of the switch out, with its user half if that was
 * recorded. A wait during which switches may have been lost is uncertain, and
 * one without an end is open; both are counted separately.
 *
 * The switches are those that causes.h reads, kernel after kernel; after them
 * come the waits that kernels themselves measured (perf record --off-cpu).
 * Items come in the order of the records that end them. Memory is bounded by
 * the number of threads; with wakers it grows as in causes.h, and by 64 bytes
 * for each wait. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"

struct causes;

/* Bytes of an interrupt's name, with its 0; longer ones are cut. */
#define WAKER_IRQ 32

struct waker {
	bool asleep;	  /* it had to be woken; else it was always ready */
	enum proof proof; /* that this one woke it; or unknown: none is named */
	/* its longest state while it was runnable: WAIT_READY, WAIT_THROTTLED,
	 * WAIT_HELD; WAIT_UNKNOWN: it was not runnable */
	enum wait_cause runnable;
	bool premise; /* see causes_wake_has_premise() */
	/* CHAIN_STATES: a thread woke it; else the interrupt, CHAIN_TIMER and
	 * so on */
	enum chain_state what;
	char irq[WAKER_IRQ]; /* "irq:NAME", "softirq:VECTOR", "timer"; "": not
			      * known */
	int64_t tid;	     /* 0: no thread */
	int64_t ready; /* time since which it was ready; INT64_MAX: not known */
	struct offcpu_stack at; /* that of an interrupt has no user half; comm
				 * is the name of the thread */
};

/* Returns whether it is known, or likely, who woke the thread. */
static inline bool waker_is_known(const struct waker *w)
{
	return w->asleep && w->proof != PROOF_UNKNOWN;
}

/* A waker in few bytes, for many of them. */
struct woken {
	int64_t ready;
	uint32_t stack; /* index in causes.stack */
	int32_t tid;
	uint16_t irq;	   /* 1 + its number; 0: it has no name */
	uint8_t what;	   /* enum chain_state */
	uint8_t proof : 2; /* enum proof */
	uint8_t asleep : 1;
	uint8_t premise : 1;
	uint8_t runnable; /* enum wait_cause */
};

/* Returns the name of the thread, or the name or word of an interrupt; "" if
 * none woke it, or it is not known. */
const char *waker_name(const struct stacks *s, const struct waker *w);

struct filter;
struct waits;

enum offcpu_end {
	OFFCPU_BACK,	  /* the thread came back */
	OFFCPU_UNCERTAIN, /* it may have come back in between */
	OFFCPU_OPEN,	  /* it was off the CPU when the capture ended */
};

struct offcpu_wait {
	int64_t event; /* the switch out */
	int64_t from, to;
	bool sum;     /* several waits, by perf record --off-cpu; from is 0 */
	bool sampled; /* its switches were sampled: it may be several waits */
	enum offcpu_end end;
	int64_t tid;
	int64_t state; /* task state bits of the kernel; -1: not known */
	int32_t cpu;   /* which it left; -1: not known */
	struct offcpu_stack at;
	struct waker waker; /* if ask.causes is set */
};

/* A thread on a CPU, from its switch in to its switch out. */
struct offcpu_run {
	int64_t tid;
	uint32_t comm; /* comm.id; 0: not known */
	int32_t cpu;   /* -1: not known */
	int64_t from, to;
	int64_t came, left; /* events of the switches; left 0: the capture
			     * ended */
	int64_t state;	    /* in which it left; -1: not known */
	int64_t capture;
	bool record; /* by PERF_RECORD_SWITCH, not sched_switch */
};

struct offcpu_sums {
	uint64_t waits[3], ns[3]; /* by enum offcpu_end */
	uint64_t cut;		  /* runs without a known end, if asked for */
	int32_t cpus;		  /* of the machine; 0: not known */
	uint64_t bare;		  /* sched_switch events without their fields */
	uint64_t lost;		  /* lost records of these captures */
	bool lost_unknown;	  /* some losses have no number */
	/* sched_switch: if fewer were recorded than happened, perf record
	 * sampled it, and it is not known what a thread did between two */
	uint64_t recorded, happened;
	bool wakes; /* who woke is known, as far as analyze/causes proves it */
	bool partial; /* not all CPUs were recorded: switches in are missing */
	bool records; /* from PERF_RECORD_SWITCH, not sched_switch */
	bool whole;   /* from perf record --off-cpu */
	/* sums of perf record --off-cpu that other captures report in part:
	 * they cannot be divided, and do not count */
	uint64_t mixed, mixed_ns;
};

/* What the caller wants. */
struct waits_ask {
	const struct filter *filter; /* which waits; never NULL, and borrowed
				      * until waits_close() */
	bool runs;		     /* times on a CPU, too */
	bool maybe;		     /* and WAITS_MAYBE */
	/* It is no error if there are no switches, or no wait is certain, or
	 * their times have no sum. */
	bool any;
	/* to find who woke a thread; both are NULL if that is not wanted */
	const struct stacks *stacks;
	struct wait_causes *causes;
};

enum waits_kind {
	WAITS_WAIT, /* a wait that the filter selects */
	/* A time on a CPU in which no switch can have been lost; the last ones
	 * end with the capture, if all switches were recorded. */
	WAITS_RUN,
	/* A time (run.from, to) in which the thread run.tid may have been on a
	 * CPU, because a switch may be lost. If these are wanted, the certain
	 * part of a run with losses is a WAITS_RUN, and so is a run that began
	 * before the capture or ended with the thread. */
	WAITS_MAYBE,
	/* All waits of a kernel came: waits_causes() has its records. */
	WAITS_ALL,
};

struct waits_item {
	enum waits_kind kind;
	struct offcpu_wait wait;
	struct offcpu_run run;
};

/* Opens the waits of a database. path is for messages, and borrowed. Returns
 * NULL and *err on failure. */
struct waits *waits_open(struct store *db, const char *path,
			 const struct waits_ask *a, struct err *err);
/* Frees w; NULL is fine. Stores the sums so far, unless sums is NULL. */
void waits_close(struct waits *w, struct offcpu_sums *sums);
/* Returns 1 and *out; 0 at the end; or -1 and *err, also at the end if there
 * are no switches, or no wait is certain, and if w is NULL, because
 * waits_open() failed. */
int waits_next(struct waits *w, struct waits_item *out, struct err *err);
/* Returns the records of the kernel that is being read; NULL: it was not asked
 * who woke, or they do not show it. */
const struct causes *waits_causes(const struct waits *w);

/* Returns whether switches were sampled, so that no wait is certain. */
bool offcpu_sampled(const struct offcpu_sums *s);
/* Returns the cause of a wait: by wait_causes_get() or, for a runnable thread,
 * by its longest state. */
enum wait_cause offcpu_cause(struct wait_causes *c,
			     const struct offcpu_wait *w);
/* Returns why waits are uncertain, as the end of a sentence. */
const char *offcpu_reason(const struct offcpu_sums *s);
