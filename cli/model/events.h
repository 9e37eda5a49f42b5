/* events.h - the events of a database one after the other, in time order, as
 * the filter options choose; and who and what they are about.
 *
 * Memory is bounded by the number of names and event types. */
#ifndef CLI_MODEL_EVENTS_H
#define CLI_MODEL_EVENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* comm, kraw, uraw, verdict: 0 is none. time is ns on the timeline. */
struct event_row {
	int64_t id, time, cpu, comm, type, weight;
	int64_t kraw, uraw; /* raw chains: kernel half, user half (joined) */
	int64_t verdict, flags; /* of the request: enum request_verdict */
	int64_t ip;	 /* where a request hit user mode; 0: not known */
	uint32_t thread; /* thread.id; 0: none */
	bool timed, on_cpu;
};

/* One name of one thread. */
struct event_comm {
	const char *name; /* bytes of a capture: may be anything */
	int64_t pid, tid; /* -1: not known */
	uint32_t thread;  /* thread.id; 0: none */
	uint32_t process; /* process.id; 0: none */
};

struct event_type {
	const char *name;
	uint32_t capture; /* capture.id */
	bool sample;	  /* false: a record such as a switch */
	bool has_chain;	  /* takes callchains */
	bool defer;	  /* asks for deferred user stacks */
};

struct events;

struct events *events_open(struct store *db, struct err *err);
/* The same one event type and thread after the other; in time order each. */
struct events *events_open_by_thread(struct store *db, struct err *err);
/* 1 one more, 0 the end, -1 an error. */
int events_next(struct events *ev, struct event_row *e, struct err *err);
void events_close(struct events *ev);

/* Never NULL: what is not known has the name "", "[no name]". Ids of types and
 * comms are 1 ... count. */
const struct event_type *events_type(const struct events *ev, int64_t id);
const struct event_comm *events_comm(const struct events *ev, int64_t id);
size_t events_types(const struct events *ev);
size_t events_comms(const struct events *ev);
#endif
