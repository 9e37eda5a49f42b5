/* switches.h - the context switches among the events of a database: which
 * thread left a CPU, and which one came.
 *
 * From sched_switch of any tracer, as far as its fields are in the database, or
 * from perf's switch records, which say one half each; from one event type of
 * each kernel. Ask for events in the order of their ids. */
#ifndef CLI_MODEL_SWITCHES_H
#define CLI_MODEL_SWITCHES_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct event_row;
struct store;
struct switches;

struct context_switch {
	bool has_out, has_in;
	int64_t out_tid, in_tid; /* -1: the thread of the event */
	const char *in_comm;	 /* NULL: not said; until the next call */
	int64_t state;		 /* sched_switch's prev_state; -1: not said */
	bool preempt;		 /* said so by a switch record */
};

/* NULL and *err. */
struct switches *switches_open(struct store *db, struct err *err);
void switches_close(struct switches *s);
/* 1 and *out: the event is one; 0: it is none; -1 and *err. */
int switches_get(struct switches *s, const struct event_row *e,
		 struct context_switch *out, struct err *err);
/* Are there events that may be switches? */
bool switches_any(const struct switches *s);
/* Samples of sched_switch whose fields are not in the database. */
uint64_t switches_without_fields(const struct switches *s);
#endif
