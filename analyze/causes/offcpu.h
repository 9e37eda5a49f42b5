/* offcpu.h - words of the time that threads were off the CPU: where it began,
 * and the states of tasks. The waits themselves are in waits.h. */
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

/* Stores the stack of an event as event_rows_ask() has it. Returns 0, or -1 and
 * *err. */
int offcpu_stack_of(struct event_rows *r, const struct event_row *e,
		    struct offcpu_stack *s, struct err *err);
/* Returns the stack as a group for stacks_get(). */
struct stacks_group offcpu_group(const struct offcpu_stack *s);
/* Returns the state as a letter: "S", "D", "R", "R+" (preempted), "?", ... */
const char *offcpu_state(int64_t state);
/* Returns what the thread did: "sleeping", "preempted", "waiting" if it is not
 * known, ... */
const char *offcpu_state_word(int64_t state);
/* Returns the bits of field prev_state, -1 if it is not known: text of ftrace
 * has a letter where binary forms have the number. */
int64_t offcpu_state_bits(const struct value *v);
/* Returns whether a list, as filter.state, has the state; "R" in it means "R"
 * and "R+". */
bool offcpu_takes_state(const char *list, int64_t state);
