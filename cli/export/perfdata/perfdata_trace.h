/* perfdata_trace.h - payloads of tracepoints in a perf.data file, and the
 * formats of their fields, which perf needs before the records. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct event_row;
struct pd_trace;
struct perfdata;

/* Marks the events of pd that are tracepoints; to be called before
 * perfdata_open(). Returns NULL and *err on failure. */
struct pd_trace *pd_trace_new(struct perfdata *pd, struct err *err);
void pd_trace_free(struct pd_trace *t);
/* Stores the payload of an event, valid until the next call. To be called for
 * all events in their order. Returns 0, or -1 and *err. */
int pd_trace_get(struct pd_trace *t, const struct event_row *e, int64_t tid,
		 const void **data, size_t *len, struct err *err);
