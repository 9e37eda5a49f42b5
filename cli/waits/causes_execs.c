/* causes_execs.c - when threads called exec, which may change their tids. */
#include "cli/waits/causes_execs.h"

#include "cli/causes/timeline.h"
#include "cli/waits/causes_names.h"
#include "cli/waits/causes_types.h"
#include "schema/columns.h"
#include "schema/store.h"

static void execs_take(void *arg, int64_t time, int64_t old, int64_t tid)
{
	timeline_rename(arg, time, causes_id(old), causes_id(tid));
}

static int32_t execs_process(void *arg, int32_t tid)
{
	return causes_id(causes_names_pid(arg, tid));
}

/* Of those of the first thread of a process, perf does not tell which thread
 * went on as the first; the tracepoint does. */
int causes_execs_load(struct timeline *t, struct store *db,
		      const struct causes_types *ts, struct causes_names *names,
		      struct err *err)
{
	struct rows *r = rows_of(db, "causes_execs", err);

	while (rows_step(r))
		execs_take(t, rows_int(r, CAUSES_EXECS_TIME_NS), -1,
			   rows_int(r, CAUSES_EXECS_TID));
	timeline_know_processes(t, execs_process, names);
	if (rows_end(r, err))
		return -1;
	return causes_types_each_exec(ts, db, execs_take, t, err);
}
