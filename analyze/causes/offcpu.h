/* offcpu.h - words for the time that threads were off the CPU: the stack at
 * which it began, and the states of tasks. The waits themselves are in
 * waits.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct event_row;
struct event_rows;
struct stacks_group;
struct value;

/* A thread's name and stack at an event, as in struct stacks_group. */
struct offcpu_stack {
	uint32_t type; /* event_type.id; 0: not known */
	uint32_t comm, kraw, uraw;
	uint8_t verdict, flags;
};

/* Stores the thread name and stack of an event; event_rows_ask() finds its user
 * half. Returns 0, or -1 and *err. */
int offcpu_stack_of(struct event_rows *r, const struct event_row *e,
		    struct offcpu_stack *s, struct err *err);
/* Returns the stack as a group for stacks_get(). */
struct stacks_group offcpu_group(const struct offcpu_stack *s);
/* Returns the state as a letter: "S", "D", "R", "R+" (preempted), "?", ... */
const char *offcpu_state(int64_t state);
/* Returns the state as a word: "sleeping", "preempted", "waiting" if it is not
 * known, ... */
const char *offcpu_state_word(int64_t state);
/* Returns the bits of field prev_state; -1: not known. ftrace text has a letter
 * where binary formats have a number. */
int64_t offcpu_state_bits(const struct value *v);
/* Returns whether a list of states such as filter.state contains the state; "R"
 * in the list means "R" and "R+". */
bool offcpu_takes_state(const char *list, int64_t state);
