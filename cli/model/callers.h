/* callers.h - which functions called what events are of, by their stacks. Each
 * pair of halves is looked at once. */
#ifndef CLI_MODEL_CALLERS_H
#define CLI_MODEL_CALLERS_H
#include <stdbool.h>
#include <stdint.h>

struct callers;
struct err;
struct event_row;
struct intern;
struct store;

/* names: borrowed; 0 is "". Returns NULL and *err on failure. */
struct callers *callers_open(struct store *db, struct intern *names,
			     struct err *err);
void callers_close(struct callers *c); /* NULL is fine */
/* Returns the name of the function that wait_causes_caller() finds for an
 * event, whose uraw is that of its own sample; of one that called a missing
 * caller "[caller missing] < NAME"; 0: it is not known. */
uint32_t callers_of(struct callers *c, const struct event_row *e, bool kernel);
#endif
