/* recorder.c - how to record what a database lacks, with the recorder that made
 * its captures. */
#include "analyze/samples/recorder.h"

#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/text_out.h"

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

/* Returns a row of cure[]; -1 and *err on failure. */
static int recorder_of(struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "recorded_by", err);
	int row = 0;

	if (rows_step(r))
		row = (int)rows_int(r, RECORDED_BY_RECORDER);
	return rows_end(r, err) ? -1 : row;
}

const char *recorder_cure(struct store *db, enum recorder_lack lack,
			  struct err *err)
{
	int row = recorder_of(db, err);

	return row < 0 ? NULL : cure[row][lack];
}

int recorder_put_events(struct store *db, const char *const *event, size_t n,
			struct text_out *out, struct err *err)
{
	static const char *const command[] = { "perf record -a -c 1",
					       "trace-cmd record",
					       "lttng enable-event --kernel" };
	int row = recorder_of(db, err);

	if (row < 0)
		return -1;
	/* its tracers have no events that can be asked for */
	if (n && !strncmp(event[0], "ftrace:funcgraph", 16)) {
		text_out_add(out, "trace-cmd record -p function_graph");
		return 0;
	}
	text_out_add(out, "%s", command[row]);
	for (size_t i = 0; i < n; i++) {
		const char *colon = strchr(event[i], ':');

		if (row < 2)
			text_out_add(out, " -e %s", event[i]);
		else
			text_out_add(out, "%c%s", i ? ',' : ' ',
				     colon ? colon + 1 : event[i]);
	}
	return 0;
}
