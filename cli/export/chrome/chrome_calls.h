/* chrome_calls.h - calls of function_graph and slices of programs as slices of
 * their threads, each with what is proved of it. About 48 bytes each. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct chrome_calls;
struct err;
struct event_row;
struct json;
struct stacks;
struct store;
struct tracks;

/* Returns NULL and *err on failure; there may be none. s: for the events that
 * there are. path, t, j: borrowed. */
struct chrome_calls *chrome_calls_load(struct store *db, const char *path,
				       struct tracks *t, struct json *j,
				       struct err *err);
void chrome_calls_free(struct chrome_calls *c); /* NULL is fine */
/* Writes the slice that an event begins or, if its begin is not known, ends.
 * Events come by increasing ids. Returns whether the event is a record of a
 * call, which slices tell. */
bool chrome_calls_put(struct chrome_calls *c, const struct event_row *e);
bool chrome_calls_any(const struct chrome_calls *c);
