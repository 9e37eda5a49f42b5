/* perfdata_switch.h - the records of a perf.data file that say when a thread
 * went off its CPU and came back, and when the kernel held events back. */
#ifndef CLI_EXPORT_PERFDATA_PERFDATA_SWITCH_H
#define CLI_EXPORT_PERFDATA_PERFDATA_SWITCH_H

struct err;
struct event_row;
struct pd_switches;
struct pd_when;
struct perfdata;

/* NULL and *err. */
struct pd_switches *pd_switches_new(struct perfdata *pd, struct err *err);
void pd_switches_free(struct pd_switches *s);
/* Writes the record of an event that is no sample, if it is one of these; in
 * the order of events. 0, or -1 and *err. */
int pd_switches_put(struct pd_switches *s, const struct event_row *e,
		    const struct pd_when *when, struct err *err);
#endif
