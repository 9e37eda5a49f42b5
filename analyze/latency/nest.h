/* nest.h - calls inside of calls, of records that say how deep they are: kinds
 * of PAIR_NEST.
 *
 * An end has its own times by the clock of the recorder: with a thread, a
 * function and a depth it is a call, whose length is proved whatever else is
 * lost. A begin belongs to it if no other end and begin of that depth can be
 * missing between them. A call is inside of another of its thread that is less
 * deep by one if it returned in the time of that one, or if so few records are
 * missing that no other can have been there.
 *
 * Calls are given when they end, those inside before what they are inside of;
 * without an end, when another record of the thread shows that they ended, or
 * at last. Memory grows with what is open and with the calls whose caller has
 * not ended. */
#pragma once
#include <stdint.h>

struct interval;
struct lost_times;
struct nest;
struct pairing_record;

/* What is reported. arg: that of nest_new(). */
struct nest_tell {
	/* Gives a call, and returns its number. */
	uint64_t (*call)(void *arg, const struct interval *i);
	/* A call, by its number, is inside of another one. */
	void (*inside)(void *arg, uint64_t call, uint64_t of);
};

/* lost and tell: borrowed. */
struct nest *nest_new(const struct lost_times *lost,
		      const struct nest_tell *tell, void *arg);
void nest_free(struct nest *n); /* NULL is fine */
void nest_take(struct nest *n, const struct pairing_record *r);
/* Tells of all that is open. */
void nest_end(struct nest *n);
