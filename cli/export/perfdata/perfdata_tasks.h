/* perfdata_tasks.h - who runs, what is mapped and what was lost: the records
 * of a perf.data file that are no samples, in time order.
 *
 * pd_tasks_new, pd_tasks_seen for every event that will be there, then
 * pd_tasks_start, and before each event pd_tasks_until and pd_tasks_sample. */
#ifndef CLI_EXPORT_PERFDATA_PERFDATA_TASKS_H
#define CLI_EXPORT_PERFDATA_PERFDATA_TASKS_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct event_comm;
struct pd_maps;
struct pd_places;
struct pd_tasks;
struct pd_who;
struct perfdata;

/* NULL and *err. */
struct pd_tasks *pd_tasks_new(struct perfdata *pd, struct pd_places *places,
			      struct err *err);
void pd_tasks_free(struct pd_tasks *t);
struct pd_maps *pd_tasks_maps(struct pd_tasks *t);
void pd_tasks_seen(struct pd_tasks *t, const struct event_comm *comm,
		   int64_t time);
/* all: write also about processes that no event is of. */
void pd_tasks_start(struct pd_tasks *t, bool all);
/* Writes what happened until then; INT64_MAX: the rest. */
void pd_tasks_until(struct pd_tasks *t, int64_t time);
/* Makes a reader know the thread by the name that it had, which must live as
 * long; fills *who. */
void pd_tasks_sample(struct pd_tasks *t, const struct event_comm *comm,
		     int64_t time, struct pd_who *who);
#endif
