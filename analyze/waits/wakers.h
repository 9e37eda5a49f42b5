/* wakers.h - who ended a wait, as analyze/causes proves it: for tables and
 * pictures of many waits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"

struct causes;
struct wakers;

/* Bytes of an interrupt's name, with its 0; longer ones are cut. */
#define WAKER_IRQ 32

struct waker {
	bool asleep;	  /* it needed one; else it was ready all the time */
	enum proof proof; /* that this one woke it; unknown: none is named */
	/* what it waited for most of the time that it was runnable: WAIT_READY,
	 * WAIT_THROTTLED, WAIT_HELD; WAIT_UNKNOWN: it was not */
	enum wait_cause runnable;
	bool premise; /* see causes_wake_has_premise() */
	/* CHAIN_STATES: a thread; else the interrupt, CHAIN_TIMER and so on */
	enum chain_state what;
	char irq[WAKER_IRQ]; /* "irq:NAME", "softirq:VECTOR", "timer"; "": not
			      * known */
	int64_t tid;	     /* 0: no thread */
	int64_t ready;	     /* since when it was ready; INT64_MAX: not
			      * known */
	struct offcpu_stack at; /* that of an interrupt has no user half; comm
				 * is the name of the thread */
};

/* Returns whether something is known of who woke the thread. */
static inline bool waker_is_known(const struct waker *w)
{
	return w->asleep && w->proof != PROOF_UNKNOWN;
}

/* The same in few bytes, as long as there are many. */
struct woken {
	int64_t ready;
	uint32_t stack; /* in causes.stack */
	int32_t tid;
	uint16_t irq;	   /* 1 + its number; 0: it has no name */
	uint8_t what;	   /* enum chain_state */
	uint8_t proof : 2; /* enum proof */
	uint8_t asleep : 1;
	uint8_t premise : 1;
	uint8_t runnable; /* enum wait_cause */
};

/* c, s: borrowed, s for names. */
struct wakers *wakers_new(const struct causes *c, const struct stacks *s);
void wakers_free(struct wakers *w);
/* Returns who ended the wait of a thread of p between two times. */
struct woken wakers_find(struct wakers *w, struct proofs *p, uint32_t thread,
			 int64_t from, int64_t to);
/* Returns a waker of which nothing is known. */
struct woken wakers_none(void);
/* Returns it with names; of wakers_none() w may be NULL. */
struct waker wakers_tell(const struct wakers *w, const struct woken *x);
/* Returns "NAME" of a thread, or the name or word of an interrupt; "" if none
 * woke it, or it is not known. */
const char *waker_name(const struct stacks *s, const struct waker *w);
