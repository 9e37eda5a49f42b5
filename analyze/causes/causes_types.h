/* causes_types.h - which captures report the context switches of each
 * kernel, what the types of its events are read for, their fields, and the
 * names of its threads. */
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

/* A row of event_type. */
struct causes_type {
	enum causes_role role;
	uint8_t kind;	      /* enum timeline_kind */
	uint8_t shows, ended; /* as in struct timeline_record */
	size_t table;	      /* of its fields: index + 1; 0: none */
	int64_t capture;
	bool no_packets; /* softirqs of packets are not recorded, all others are
			  */
	bool sampled;	 /* not every occurrence is recorded: */
	int64_t recorded, happened;
	uint8_t irq; /* enum irq_kind */
	bool leaves; /* that interrupt */
	bool timers; /* of timers, which a switch may set and cancel */
	bool stacks; /* its samples have those of records after them */
};

/* Fields of the tracepoints that are read. */
enum causes_field {
	FIELDS_NONE,
	FIELDS_PREV,	/* tid that leaves */
	FIELDS_NEXT,	/* tid that comes */
	FIELDS_WOKEN,	/* tid */
	FIELDS_STATE,	/* of the thread that leaves */
	FIELDS_TARGET,	/* CPU */
	FIELDS_CURRENT, /* tid; not of switches, which tell it by PREV */
	FIELDS_FLAGS,	/* common_flags */
	FIELDS_DEVICE,	/* text: that of an interrupt */
	FIELDS_VECTOR,	/* of a softirq */
	FIELDS_DISK,	/* dev_t */
	FIELDS_OLD,	/* tid before an exec, of that in WOKEN */
	FIELDS
};

/* An ev_ table, its rows, and that of the event at hand. */
struct causes_fields {
	char *name;
	struct rows *rows;
	struct int_row row;
	uint8_t column[FIELDS]; /* of a field in the row; 0: it has none */
};

/* All zeros: none so far. */
struct causes_types {
	struct causes_type *type; /* by event_type.id */
	size_t n, cap;
	struct causes_fields *table; /* one for each ev_ table that is read */
	size_t n_table, cap_table;
};

/* Reads the types of the captures that report the kernel. why: wakers and
 * interrupts are read, too, not only switches. db is borrowed until
 * causes_types_release(), which is to be called also after a failure. Returns
 * 0, or -1 and *err. */
int causes_types_load(struct causes_types *ts, struct store *db,
		      const struct causes_kernel *k, bool why, struct err *err);
void causes_types_release(struct causes_types *ts);
/* Returns a type of a capture that proofs need and that was sampled, that of
 * the switches if it was; NULL: none was. */
const struct causes_type *causes_types_sampled(const struct causes_types *ts,
					       int64_t capture);

/* Returns a number of a thread or a CPU; -1: it is none. */
static inline int32_t causes_id(int64_t v)
{
	return v >= 0 && v < INT32_MAX ? (int32_t)v : -1;
}

/* These are about the event whose row is at hand. */
bool causes_fields_has(const struct causes_fields *f, enum causes_field field);
/* Returns -1 if the event does not have it. */
int64_t causes_fields_int(const struct causes_fields *f,
			  enum causes_field field);
/* Returns NULL if the event does not have it, or if it is no text; valid until
 * the next event is read. */
const char *causes_fields_text(const struct causes_fields *f,
			       enum causes_field field);
/* ---- names of threads by their ids, the last one of each
 *
 * causes_names_load(), then causes_names_add() where a thread has none. */

/* Returns NULL and *err on failure. */
struct causes_names *causes_names_load(struct store *db, struct err *err);
void causes_names_free(struct causes_names *n);
/* Adds the names in the fields of the ev_ table, of threads that nothing else
 * names: where only some tasks are recorded, those to which these switched.
 * Returns 0, or -1 and *err. */
int causes_names_add(struct causes_names *n, struct store *db,
		     const char *table, struct err *err);
/* Returns "swapper" for 0, "" if it has no name. */
const char *causes_names_comm(const struct causes_names *n, int64_t tid);
/* Returns the process of a thread; -1: not known. */
int64_t causes_names_pid(const struct causes_names *n, int64_t tid);
/* Returns the names of silent tasks, "swapper/1 and NAME", which the caller
 * frees; NULL: there are none. told: of the timeline's threads. */
char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names);
/* Returns the premise that only records of these names are missing, likewise.
 */
char *causes_silent_premise(const struct timeline *t, const char *names);
/* Tells the timeline, which has no records so far, when threads called exec,
 * which may change their tids. names: borrowed as long as it takes records.
 * Returns 0, or -1 and *err. */
int causes_types_execs(const struct causes_types *ts, struct store *db,
		       struct causes_names *names, struct timeline *t,
		       struct err *err);

/* In a capture that is sched_switch, or records of switches where sched_switch
 * is missing, sampled, or of some tasks only: it is hit when a thread leaves a
 * CPU, the records when it comes back, too.
 *
 * Of several captures of one kernel the one with the most switches is taken for
 * all its time. The others, those with more switches first, are taken for times
 * of which none before them does, less what the clocks may be off by: so
 * whatever a later span tells happened after all that an earlier one tells. */

struct err;
struct store;

struct causes_capture {
	int64_t id;
	int64_t together;  /* the same for captures of one kernel and time */
	int64_t line;	   /* the same for pieces of one stream, of which the */
	int64_t place;	   /* next place has what follows without a gap */
	int64_t type;	   /* event_type.id of the switches */
	int64_t switches;  /* how many of these were recorded, */
	int64_t happened;  /* more if they were sampled */
	bool records;	   /* PERF_RECORD_SWITCH, not sched_switch */
	bool threads;	   /* records of threads, which name no CPU's next one:
			    * nothing reports the others */
	int64_t sample[2]; /* types of samples with the stacks of records; 0 */
	struct timeline_rules rules;
	bool tracks; /* the reader knows threads by their switches only */
	bool whole;  /* all CPUs, for certain */
	bool some;   /* some tasks or CPUs only */
	bool filtered;
	bool text; /* of ftrace */
	bool x86_64;
	const char *larger; /* buffers: what to record where they were full */
	const char *ring;   /* the same where records are missing; or NULL */
	int64_t begin, end; /* as the reader says; 0: not known */
	/* times of its events, and by how much they may be off; first > last:
	 * its clock is not known */
	int64_t first, last, error;
	int64_t first_event, last_event; /* ids; all, if it is the only one */
};

struct causes_span {
	int64_t from, to; /* both count; the first of a kernel begins at
			   * TIMELINE_START, the last ends at TIMELINE_END */
	const struct causes_capture *capture;
	size_t line; /* number of the first span of those up to this one of
		      * which each goes on without a gap: no other capture is
		      * between them */
};

/* A kernel with context switches. */
struct causes_kernel {
	const struct causes_capture *capture; /* the main one */
	struct causes_span *span;	      /* in time order */
	size_t n, cap;
	size_t *of; /* by capture.id: the number of a span of it, + 1; 0 */
	size_t n_of, cap_of;
	int64_t first_event, last_event; /* ids, of all these captures */
};

struct causes_spans {
	struct causes_kernel *kernel; /* by the ids of their captures */
	size_t n, cap;
	/* the one whose main capture has the most switches; NULL: none */
	const struct causes_kernel *most;
	/* captures with waits that the kernel measured: `type` are those */
	struct causes_capture *measured;
	size_t n_measured, cap_measured;
	uint64_t bare; /* events of sched_switch without fields */
	bool records;  /* there are records of switches, of whatever kind */
	struct causes_capture *capture; /* main captures and others */
	size_t n_capture, cap_capture;
};

/* threads: captures that report single threads count, too. Returns NULL and
 * *err on failure; the caller calls causes_spans_free(). */
struct causes_spans *causes_spans_load(struct store *db, bool threads,
				       struct err *err);
void causes_spans_free(struct causes_spans *s);
/* Returns whether sched_switch was sampled. */
bool causes_capture_sampled(const struct causes_capture *c);
/* Returns what holds in all captures of a kernel. */
struct timeline_rules causes_kernel_rules(const struct causes_kernel *k);
/* Returns the span in which this capture is taken for a time, or, where another
 * piece of its stream does, its own one; NULL: it does not. */
const struct causes_span *causes_kernel_find(const struct causes_kernel *k,
					     int64_t capture, int64_t time);
/* Calls fn for each span, and then for each loss of its capture by its start,
 * as far as it is in spans that go on: of one that is cut, n is not known.
 * query: its rows have the columns of causes_losses. l: NULL for the span
 * itself. */
typedef void causes_loss_fn(void *arg, const struct causes_span *span,
			    const struct timeline_loss *l);
int causes_kernel_losses(const struct causes_kernel *k, struct store *db,
			 const char *query, causes_loss_fn *fn, void *arg,
			 struct err *err);
