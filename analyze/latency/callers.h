/* callers.h - which functions led to events, by the stacks of the events. Each
 * pair of halves is looked up once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct callers;
struct err;
struct event_row;
struct intern;
struct label;
struct label_list;
struct store;

/* names: receives the names, borrowed; id 0 must be "". The result is freed by
 * callers_close(). Returns NULL and *err on failure. */
struct callers *callers_open(struct store *db, struct intern *names,
			     struct err *err);
void callers_close(struct callers *c); /* NULL is fine */
/* Stores in *name the function that wait_causes_caller() finds for an event,
 * whose uraw is that of its own sample; "[caller missing] < NAME" if the caller
 * of that function is missing; 0 if it is not known. Events must come by
 * increasing ids, here and below. Returns 0, or -1 and *err. */
int callers_of(struct callers *c, const struct event_row *e, bool kernel,
	       uint32_t *name, struct err *err);
/* Appends the frames of an event's stack, outermost first; none if it has no
 * stack. Without kernel, only those of its user half. Returns 0, or -1 and
 * *err. */
int callers_stack(struct callers *c, int64_t event, bool kernel,
		  struct label_list *out, struct err *err);
/* Returns a label of the list that callers_stack() has filled, borrowed. */
const struct label *callers_label(const struct callers *c, uint32_t label);
