/* perfdata_trace.h - the payloads of a perf.data file's tracepoints, and the
 * formats of their fields, which perf wants to know before anything else. */
#ifndef CLI_EXPORT_PERFDATA_PERFDATA_TRACE_H
#define CLI_EXPORT_PERFDATA_PERFDATA_TRACE_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct event_row;
struct pd_trace;
struct perfdata;

/* Before perfdata_open(): says which events of pd are tracepoints. NULL and
 * *err. */
struct pd_trace *pd_trace_new(struct perfdata *pd, struct err *err);
void pd_trace_free(struct pd_trace *t);
/* The payload of a tracepoint's event, of all in their order; borrowed until
 * the next call. 0, or -1 and *err. */
int pd_trace_get(struct pd_trace *t, const struct event_row *e, int64_t tid,
		 const void **data, size_t *len, struct err *err);
#endif
