/* wakers.h - who ended each wait of a capture, as cli/causes proves it: for
 * tables and pictures of many waits. A wait is the time of a thread between two
 * times on a CPU. */
#ifndef CLI_MODEL_WAKERS_H
#define CLI_MODEL_WAKERS_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/causes/chain.h"
#include "cli/model/offcpu_source.h"

struct capture_events;
struct causes;
struct err;
struct stacks;
struct store;
struct wait_causes;
struct wakers;

/* Bytes of an interrupt's name, with its 0; longer ones are cut. */
#define WAKER_IRQ 32

struct waker {
	bool asleep;	  /* it needed one; else it was ready all the time */
	enum proof proof; /* that this one woke it; unknown: nobody is named */
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

/* Reads the events of a capture, with memory as in causes.h, and 40 bytes for
 * each wait. s: borrowed, for names; w: likewise, for what stacks tell. */
struct wakers *wakers_load(struct store *db, const char *path,
			   const struct capture_events *of,
			   const struct stacks *s, struct wait_causes *w,
			   struct err *err);
void wakers_free(struct wakers *w);
/* Returns what it was made of. */
const struct causes *wakers_causes(const struct wakers *w);
/* Returns whether wake-ups were recorded. */
bool wakers_recorded(const struct wakers *w);
/* Returns who ended the wait of a thread between two times; without w, nothing
 * is known. */
struct waker wakers_find(const struct wakers *w, int64_t tid, int64_t from,
			 int64_t to);
/* Returns "NAME" of a thread, or the name or word of an interrupt; "" if nobody
 * woke it, or nobody knows. */
const char *waker_name(const struct stacks *s, const struct waker *w);
#endif
