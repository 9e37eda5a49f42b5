/* causes_types.h - finds which captures report the context switches of each
 * kernel, what each type of event is read for, the fields of events, and the
 * names of threads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"
#include "schema/db/rows.h"

struct causes_kernel;
struct causes_names;
struct thread_names;
struct timeline;

enum causes_role {
	CAUSES_IGNORED,
	CAUSES_EVENT,
	CAUSES_SWITCH, /* one thread leaves, one comes */
	CAUSES_RECORD, /* one leaves or comes */
};

/* How events of a type are read: a row of event_type. */
struct causes_type {
	enum causes_role role;
	uint8_t kind;	      /* enum timeline_kind */
	uint8_t shows, ended; /* as in struct timeline_record */
	size_t table; /* index in causes_types.table + 1, where its fields are;
		       * 0: none */
	int64_t capture;
	bool no_packets; /* softirqs of packets are not recorded, all others are
			  */
	bool sampled;	 /* not every occurrence is recorded, but `recorded` of
			  * `happened` */
	int64_t recorded, happened;
	uint8_t irq; /* enum irq_kind */
	bool leaves; /* the event is the end of that interrupt, not its start */
	bool timers; /* an event of timers, which a switch may set and cancel */
	bool stacks; /* samples have the stacks of next switch records */
};

/* Fields of the tracepoints that are read. */
enum causes_field {
	FIELDS_NONE,
	FIELDS_PREV,	/* tid that leaves */
	FIELDS_NEXT,	/* tid that comes */
	FIELDS_WOKEN,	/* tid that is woken */
	FIELDS_STATE,	/* of the thread that leaves */
	FIELDS_TARGET,	/* CPU of the woken thread */
	FIELDS_CURRENT, /* tid that is current; unused for switches, which have
			 * PREV */
	FIELDS_FLAGS,	/* common_flags */
	FIELDS_DEVICE,	/* text: name of an interrupt's device */
	FIELDS_VECTOR,	/* number of a softirq */
	FIELDS_DISK,	/* dev_t */
	FIELDS_OLD,	/* tid that the thread in WOKEN had before its exec */
	FIELDS
};

/* An ev_ table, its rows, and the row of the current event. */
struct causes_fields {
	char *name;
	struct rows *rows;
	struct int_row row;
	uint8_t column[FIELDS]; /* column of each field; 0: none */
};

/* All zeros: empty. */
struct causes_types {
	struct causes_type *type; /* by event_type.id */
	size_t n, cap;
	struct causes_fields *table; /* one for each ev_ table that is read */
	size_t n_table, cap_table;
};

/* Reads the types of the kernel's captures. why: read wakers and interrupts
 * too, not only switches. db is borrowed until causes_types_release(), which
 * must be called also after a failure. Returns 0, or -1 and *err. */
int causes_types_load(struct causes_types *ts, struct store *db,
		      const struct causes_kernel *k, bool why, struct err *err);
void causes_types_release(struct causes_types *ts);
/* Returns a type of the capture that proofs need but that was sampled,
 * preferably that of the switches; NULL: none was sampled. */
const struct causes_type *causes_types_sampled(const struct causes_types *ts,
					       int64_t capture);

/* Returns v as a thread or CPU number; -1: out of range. */
static inline int32_t causes_id(int64_t v)
{
	return v >= 0 && v < INT32_MAX ? (int32_t)v : -1;
}

/* Returns whether the current event has the field. */
bool causes_fields_has(const struct causes_fields *f, enum causes_field field);
/* Returns the field of the current event; -1: the event lacks it. */
int64_t causes_fields_int(const struct causes_fields *f,
			  enum causes_field field);
/* Returns the text of a field, valid until the next event is read; NULL if the
 * event lacks it or it is not text. */
const char *causes_fields_text(const struct causes_fields *f,
			       enum causes_field field);
/* ---- the last name of each thread, by its id
 *
 * Call causes_names_load(), then causes_names_add() for threads without a
 * name. */

/* Returns the names of a kernel's threads, to be freed by causes_names_free();
 * NULL and *err on failure. */
struct causes_names *causes_names_load(struct store *db,
				       const struct causes_kernel *k,
				       struct err *err);
void causes_names_free(struct causes_names *n);
/* Adds names from the fields of the ev_ table for threads without another name:
 * where only some tasks are recorded, the ones that they switched to. Returns
 * 0, or -1 and *err. */
int causes_names_add(struct causes_names *n, struct store *db,
		     const char *table, struct err *err);
/* Returns the name of a thread; "swapper" for tid 0, "" if it has none. */
const char *causes_names_comm(const struct causes_names *n, int64_t tid);
/* Returns the process of a thread; -1: not known. */
int64_t causes_names_pid(const struct causes_names *n, int64_t tid);
/* Returns the names of silent tasks, "swapper/1 and NAME", which the caller
 * frees; NULL: there are none. told: names of the timeline's threads. */
char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names);
/* Returns the premise that only records of these tasks are missing, which the
 * caller frees. */
char *causes_silent_premise(const struct timeline *t, const char *names);
/* Adds to the timeline, which must have no records yet, when threads called
 * exec, which may change their tids. names: borrowed until the last record is
 * added. Returns 0, or -1 and *err. */
int causes_types_execs(const struct causes_types *ts, struct store *db,
		       const struct causes_kernel *k,
		       struct causes_names *names, struct timeline *t,
		       struct err *err);

/* Switches of a capture come from sched_switch, or from switch records if
 * sched_switch is missing, sampled, or limited to some tasks: it is hit only
 * when a thread leaves a CPU, the records are also written when it returns.
 *
 * Of several captures of one kernel, the one with the most switches is used for
 * all its time. The others, in order of their number of switches, are used for
 * times that no earlier one covers, less the possible error of their clocks: so
 * all that a later span reports happened after all that an earlier one
 * reports. */

struct err;
struct store;

struct causes_capture {
	int64_t id;
	int64_t together; /* equal for captures of one kernel and time */
	int64_t line;	  /* equal for the pieces of one stream */
	int64_t place; /* the piece of the next place goes on without a gap */
	int64_t type;  /* event_type.id of the switches */
	int64_t switches; /* number of recorded switches */
	int64_t happened; /* number of all switches: more if sampled */
	bool records;	  /* PERF_RECORD_SWITCH, not sched_switch */
	bool threads; /* records of single threads: they do not name the next
		       * thread of a CPU, and the others have no records */
	int64_t sample[2]; /* types of samples that hold the stacks of switch
			    * records; 0: none */
	struct timeline_rules rules;
	bool tracks; /* the reader knows threads only by switches */
	bool whole;  /* certainly all CPUs were recorded */
	bool some;   /* only some tasks or CPUs were recorded */
	bool filtered;
	bool text; /* ftrace text */
	bool x86_64;
	const char *larger; /* advice if buffers were full */
	const char *ring;   /* advice if records are missing; NULL: none */
	int64_t begin, end; /* times of the capture by its reader; 0: not
			     * known */
	/* times of its events, and their possible error, ns; first > last: its
	 * clock is not known */
	int64_t first, last, error;
	int64_t first_event, last_event; /* ids of its events; of all events if
					  * it is the only capture */
};

struct causes_span {
	int64_t from, to; /* inclusive; the first span of a kernel begins at
			   * TIMELINE_START, the last ends at TIMELINE_END */
	const struct causes_capture *capture;
	size_t line; /* index of the first span of the row that ends with this
		      * one, in which each span continues the previous one
		      * without another capture between them */
};

/* A kernel with context switches. */
struct causes_kernel {
	const struct causes_capture *capture; /* the main one */
	struct causes_span *span;	      /* in time order */
	size_t n, cap;
	size_t *of; /* by capture.id: index of one of its spans + 1; 0: none */
	size_t n_of, cap_of;
	bool *same; /* by capture.id: of this kernel, though not in span[] */
	size_t n_same, cap_same;
	int64_t first_event, last_event; /* ids, over all these captures */
};

struct causes_spans {
	struct causes_kernel *kernel; /* by the ids of their captures */
	size_t n, cap;
	/* the kernel whose main capture has the most switches; NULL: none */
	const struct causes_kernel *most;
	/* captures with waits that the kernel measured; `type`: of the waits */
	struct causes_capture *measured;
	size_t n_measured, cap_measured;
	uint64_t bare; /* events of sched_switch without fields */
	bool records;  /* there are switch records of some kind */
	struct causes_capture *capture; /* main captures and others */
	size_t n_capture, cap_capture;
};

/* Returns all kernels with context switches, to be freed by
 * causes_spans_free(); NULL and *err on failure. threads: include captures that
 * report single threads. */
struct causes_spans *causes_spans_load(struct store *db, bool threads,
				       struct err *err);
void causes_spans_free(struct causes_spans *s);
/* Returns whether sched_switch was sampled. */
bool causes_capture_sampled(const struct causes_capture *c);
/* Returns the rules that hold for all captures of a kernel together. */
struct timeline_rules causes_kernel_rules(const struct causes_kernel *k);
/* Returns whether a capture is, or may be, of this kernel; others have other
 * threads with the same ids. */
bool causes_kernel_has(const struct causes_kernel *k, int64_t capture);
/* Returns the span at a time if the capture is used there; the capture's own
 * span if another piece of its stream is; else NULL. */
const struct causes_span *causes_kernel_find(const struct causes_kernel *k,
					     int64_t capture, int64_t time);
/* Calls fn for each span with l NULL, and then for each loss of its capture, in
 * order of their starts, cut to the spans of its line: the number of a cut loss
 * is unknown. query: its rows have the columns of causes_losses. Returns 0, or
 * -1 and *err. */
typedef void causes_loss_fn(void *arg, const struct causes_span *span,
			    const struct timeline_loss *l);
int causes_kernel_losses(const struct causes_kernel *k, struct store *db,
			 const char *query, causes_loss_fn *fn, void *arg,
			 struct err *err);
