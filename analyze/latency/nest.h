/* nest.h - calls inside of calls: the kinds of PAIR_NEST, whose records may
 * have their depth.
 *
 * An end has its own times by the clock of the recorder: with a thread, a
 * function and a depth it is a call, whose length is proved whatever else is
 * lost. A begin belongs to it if no other end and begin of that depth can be
 * missing between them. A call is inside another one of its thread that is less
 * deep by one if it returned while that one ran, or if so few records are
 * missing that no other can have been there.
 *
 * Calls are reported when they end, inner calls before their callers; without
 * an end, when another record of the thread shows that they ended, or in
 * nest_end(). Memory grows with the open calls and with the calls whose caller
 * is still open. */
#pragma once
#include <stdint.h>

struct interval;
struct lost_times;
struct nest;
struct pairing_record;

/* Called with results. arg: that of nest_new(). */
struct nest_tell {
	/* Takes a call, and returns its number. */
	uint64_t (*call)(void *arg, const struct interval *i);
	/* Takes the number of a call, and that of the call around it. */
	void (*inside)(void *arg, uint64_t call, uint64_t of);
};

/* lost, tell: borrowed. The caller frees the result by nest_free(). */
struct nest *nest_new(const struct lost_times *lost,
		      const struct nest_tell *tell, void *arg);
void nest_free(struct nest *n); /* NULL is fine */
/* Takes the next record, in time order. */
void nest_take(struct nest *n, const struct pairing_record *r);
/* Reports all calls that are still open. */
void nest_end(struct nest *n);
