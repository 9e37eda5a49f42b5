/* perfdata_switch.h - writes context switches and throttling as records of a
 * perf.data file. */
#ifndef CLI_EXPORT_PERFDATA_PERFDATA_SWITCH_H
#define CLI_EXPORT_PERFDATA_PERFDATA_SWITCH_H

struct err;
struct event_row;
struct pd_switches;
struct pd_when;
struct perfdata;

/* Returns NULL and *err on failure. */
struct pd_switches *pd_switches_new(struct perfdata *pd, struct err *err);
void pd_switches_free(struct pd_switches *s);
/* Writes the record of an event if it is a switch or throttling. To be called
 * in the order of events. Returns 0, or -1 and *err. */
int pd_switches_put(struct pd_switches *s, const struct event_row *e,
		    const struct pd_when *when, struct err *err);
#endif
