/* traced.h - calls as events of stacks: those of ftrace's tracer
 * function_graph, of instrumented programs, of probes and of markers by the
 * time that they were in no other call, and functions of the tracer function by
 * how often they were called. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct filter;
struct stacks;
struct store;

/* What calls were recorded with, each an event of stacks. */
enum traced_kind {
	TRACED_GRAPH,	 /* function_graph */
	TRACED_USER,	 /* cyg_profile of LTTng */
	TRACED_PROBES,	 /* probes on functions and on their returns */
	TRACED_SLICES,	 /* texts of trace_marker */
	TRACED_FUNCTION, /* function: hits, without times */
	TRACED_KINDS,
};

/* Sums over all calls of a function, by its label. */
struct traced_function {
	uint64_t calls; /* calls whose time is known */
	uint64_t ns;
	uint64_t waited; /* ns of these while the thread was off the CPU */
	int64_t longest;
};

struct traced_sums {
	uint64_t calls;
	uint64_t functions; /* functions that were called, or names of slices */
	uint64_t open;	    /* calls without an end, whose time is not known */
	uint64_t callerless;   /* calls whose caller nothing proves */
	uint64_t perhaps_less; /* calls in which others may be missing, whose
				* time they then include */
};

struct traced {
	struct traced_sums of[TRACED_KINDS];
	bool waits; /* switches were recorded, so that .waited is known, from
		     * all waits that are certain */
	char premise[160]; /* of what is proved, "if ..."; "": none */
	struct traced_function *function; /* by label; NULL: there is none */
	size_t n, cap;
};

/* Adds an event of each kind that was recorded to stacks, unless the filter
 * names events. A call whose caller is not known is nested in STACK_NAMES_GAP,
 * one that is in no other in its system call; a function of the tracer function
 * in the stack that was taken with it, without the frames of the tracer, or
 * else in the function that called it. The records are no samples any more.
 * path: for messages. *t is all zeros if nothing of the kind was recorded.
 * Returns 0, or -1 and *err; the caller always calls traced_release(). */
int traced_load(struct store *db, const char *path, const struct filter *filter,
		struct stacks *s, struct traced *t, struct err *err);
void traced_release(struct traced *t);
/* Does the same for callers that need no sums. */
int traced_add_to(struct store *db, const char *path,
		  const struct filter *filter, struct stacks *s,
		  struct err *err);
/* Returns the name of the event of a kind. */
const char *traced_name(enum traced_kind kind);
/* Returns the kind of an event by its name; TRACED_KINDS: none. */
enum traced_kind traced_kind_of(const char *event);
