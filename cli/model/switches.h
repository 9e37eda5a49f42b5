/* switches.h - the context switches among the events of a database: which
 * thread left a CPU, and which one came.
 *
 * They are from sched_switch of any tracer, if its fields are in the database,
 * or from perf's switch records, which name one of the two threads; for each
 * kernel from one event type. Events must be asked for in the order of their
 * ids. */
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
	const char *in_comm; /* NULL: not known; valid until the next call */
	int64_t state;	     /* prev_state of sched_switch; -1: not known */
	bool preempt;	     /* a switch record says so */
};

/* Returns NULL and *err on failure. */
struct switches *switches_open(struct store *db, struct err *err);
void switches_close(struct switches *s);
/* Returns 1 and *out if the event is a switch, 0 if not, or -1 and *err. */
int switches_get(struct switches *s, const struct event_row *e,
		 struct context_switch *out, struct err *err);
/* Returns how many samples of sched_switch are left out, as they were sampled,
 * and stores how many switches there were: what a thread did between two of
 * them is not known. 0: none, or switch records tell. */
uint64_t switches_sampled(const struct switches *s, uint64_t *happened);
/* Returns whether there are events that may be switches. */
bool switches_any(const struct switches *s);
/* Returns the number of samples of sched_switch without fields in the database.
 */
uint64_t switches_without_fields(const struct switches *s);
/* Fails: nothing tells of context switches. advice: what to record; path is for
 * the message. */
int switches_missing(struct store *db, const char *path, const char *advice,
		     struct err *err);
#endif
