/* script_calls.h - records of ftrace's own tracers as the kernel prints them:
 * calls of function_graph with their durations, those without another call
 * inside on one line, and functions with their arguments. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct event_row;
struct payloads;
struct script_calls;
struct store;

/* Looks for calls of which the end follows the begin on a CPU. ps: borrowed.
 * Stores NULL if the database has no records of these tracers. Returns 0, or -1
 * and *err. */
int script_calls_load(struct store *db, struct payloads *ps,
		      struct script_calls **out, struct err *err);
void script_calls_free(struct script_calls *c); /* NULL is fine */
/* Stores the text of a record, valid until the next call. Returns 1; 0: it is
 * none of a tracer, or a text already; 2: the line of its begin has said it; -1
 * and *err. */
int script_calls_text(struct script_calls *c, const struct event_row *e,
		      const char **text, size_t *len, struct err *err);
