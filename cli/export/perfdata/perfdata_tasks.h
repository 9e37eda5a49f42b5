/* perfdata_tasks.h - writes records of tasks, mappings and losses of a
 * perf.data file, in time order.
 *
 * Order of calls: pd_tasks_new(), pd_tasks_seen() for every event to be
 * written, pd_tasks_start(), then before each event pd_tasks_until() and
 * pd_tasks_sample(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct event_comm;
struct pd_maps;
struct pd_tasks;
struct pd_who;
struct perfdata;

/* Borrows maps. Returns NULL and *err on failure. */
struct pd_tasks *pd_tasks_new(struct perfdata *pd, struct pd_maps *maps,
			      struct err *err);
void pd_tasks_free(struct pd_tasks *t);
void pd_tasks_seen(struct pd_tasks *t, const struct event_comm *comm,
		   int64_t time);
/* all: also write records of processes without events. */
void pd_tasks_start(struct pd_tasks *t, bool all);
/* Writes the records up to that time; INT64_MAX: the rest. */
void pd_tasks_until(struct pd_tasks *t, int64_t time);
/* Makes the thread and its name, which is borrowed, known to a reader; fills
 * *who. */
void pd_tasks_sample(struct pd_tasks *t, const struct event_comm *comm,
		     int64_t time, struct pd_who *who);
