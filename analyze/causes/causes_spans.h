/* causes_spans.h - which captures report the context switches of each kernel,
 * by which of their events, and which of them is taken for which time.
 *
 * In a capture that is sched_switch, or records of switches where sched_switch
 * is missing, sampled, or of some tasks only: it is hit when a thread leaves a
 * CPU, the records when it comes back, too.
 *
 * Of several captures of one kernel the one with the most switches is taken for
 * all its time. The others, those with more switches first, are taken for times
 * of which none before them does, less what the clocks may be off by: so
 * whatever a later span tells happened after all that an earlier one tells. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"

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
/* Returns the capture of that id; NULL: none of its spans. */
const struct causes_capture *
causes_kernel_capture(const struct causes_kernel *k, int64_t id);
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
