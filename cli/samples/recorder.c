/* recorder.c - how to record what a database lacks, with the recorder that made
 * its captures. */
#include "cli/samples/recorder.h"

#include <stdint.h>

#include "schema/columns.h"
#include "schema/store.h"

static const char *const cure[][RECORDER_LACKS] = {
	{ "perf record -g",
	  "perf record -a -e sched:sched_switch, or with "
	  "--switch-events",
	  "perf record -a -g -e sched:sched_switch -e sched:sched_waking "
	  "-e sched:sched_wakeup -e sched:sched_wakeup_new" },
	{ "trace-cmd record -T -O userstacktrace",
	  "trace-cmd record -e sched_switch", "trace-cmd record -e sched" },
	{ "lttng add-context --kernel --type=callstack-kernel "
	  "--type=callstack-user",
	  "lttng enable-event --kernel sched_switch",
	  "lttng enable-event --kernel sched_switch,sched_waking,sched_wakeup,"
	  "sched_wakeup_new" },
};

const char *recorder_cure(struct store *db, enum recorder_lack lack,
			  struct err *err)
{
	struct rows *r = rows_of(db, "recorded_by", err);
	int64_t row = 0;

	if (rows_step(r))
		row = rows_int(r, RECORDED_BY_RECORDER);
	return rows_end(r, err) ? NULL : cure[row][lack];
}
