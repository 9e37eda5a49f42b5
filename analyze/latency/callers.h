/* callers.h - which functions called what events are of, by their stacks. Each
 * pair of halves is looked at once. */
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

/* names: borrowed; 0 is "". Returns NULL and *err on failure. */
struct callers *callers_open(struct store *db, struct intern *names,
			     struct err *err);
void callers_close(struct callers *c); /* NULL is fine */
/* Stores the name of the function that wait_causes_caller() finds for an event,
 * whose uraw is that of its own sample; of one that called a missing caller
 * "[caller missing] < NAME"; 0: it is not known. Events come by increasing ids,
 * here and below. Returns 0, or -1 and *err. */
int callers_of(struct callers *c, const struct event_row *e, bool kernel,
	       uint32_t *name, struct err *err);
/* Appends the frames of an event's stack, outermost first; none: it has no
 * stack. Without kernel, those of its user half alone. Returns 0, or -1 and
 * *err. */
int callers_stack(struct callers *c, int64_t event, bool kernel,
		  struct label_list *out, struct err *err);
const struct label *callers_label(const struct callers *c, uint32_t label);
