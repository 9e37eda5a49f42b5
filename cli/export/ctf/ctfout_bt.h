/* ctfout_bt.h - declarations shared by the files that call libbabeltrace2. */
#pragma once
#include <babeltrace2/babeltrace.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/export/ctf/ctfout.h"
#include "cli/export/ctf/ctfout_calls.h"

struct event_row;
struct events;
struct known_code;
struct loss_rows;
struct payloads;

/* Larger numbers of CPUs, from a damaged database, count as not known. */
#define CTFOUT_CPUS 65536

/* ---- ctfout_class.c: what a trace is made of, and the fields of events */

/* An event type and its event class. */
struct ctfout_type {
	bt_event_class *ec; /* NULL: no event of the type came yet */
	struct ctfout_member *member;
	size_t n;
};

struct ctfout_class {
	struct store *db;
	bt_self_component *self;
	const struct events *events;
	struct known_code *code;
	struct payloads *payloads;
	bt_trace_class *tc;
	bt_clock_class *clock; /* NULL: nothing in the database has a time */
	bt_stream_class *sc;
	bt_trace *trace;
	struct ctfout_type *type; /* by id - 1 */
	size_t n_type;
	bool clock_wanted;
	int64_t zero; /* the time at which the trace's clock has the value 0 */
	uint64_t *ip; /* addresses of one stack */
};

/* Makes trace and stream class. c has db, self, events, clock_wanted and zero.
 * Returns 0, or -1 and *err; release it in either case. */
int ctfout_class_make(struct ctfout_class *c, struct err *err);
/* Events come from the first one again. Returns 0, or -1 and *err. */
int ctfout_class_rewind(struct ctfout_class *c, struct err *err);
void ctfout_class_release(struct ctfout_class *c);
/* Returns the class of an event, which is made for the first one of its type;
 * NULL if there is no memory. */
const bt_event_class *ctfout_class_of(struct ctfout_class *c, int64_t type);
/* Fills contexts and payload. Returns the number of stack frames, or -1 and
 * *err. */
int ctfout_class_fill(struct ctfout_class *c, const struct event_row *e,
		      int64_t weight, bt_event *event, struct err *err);

/* ---- ctfout_loss.c: when records were lost */

/* The start or the end of a loss on a CPU. Losses of one CPU are apart: those
 * that overlap are added up, because a packet has only one counter. */
struct ctfout_edge {
	int64_t cpu;	  /* -1: not known */
	int64_t time, to; /* ns; to: when the loss ends */
	uint64_t n;	  /* records; 0: not known */
	bool end;
};

/* Returns the edges in time order, for free(). A loss without a time is at
 * `start`; so are all if not `timed`. */
struct ctfout_edge *ctfout_loss_edges(const struct loss_rows *l, int64_t start,
				      bool timed, size_t *n);

/* ---- ctfout_source.c */

/* The methods of the component class and its iterators. A component takes a
 * struct ctfout_input as its data; without one, its parameter 'inputs' is an
 * array with the path of a database. */
bt_component_class_initialize_method_status
ctfout_source_start(bt_self_component_source *self,
		    bt_self_component_source_configuration *config,
		    const bt_value *params, void *data);
void ctfout_source_end(bt_self_component_source *self);
bt_message_iterator_class_initialize_method_status
ctfout_source_iterate(bt_self_message_iterator *self,
		      bt_self_message_iterator_configuration *config,
		      bt_self_component_port_output *port);
bt_message_iterator_class_next_method_status
ctfout_source_next(bt_self_message_iterator *self, bt_message_array_const list,
		   uint64_t capacity, uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
ctfout_source_rewind(bt_self_message_iterator *self);
void ctfout_source_stop(bt_self_message_iterator *self);
