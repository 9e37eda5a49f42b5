/* recorder.c - notes about a database, and how to record what it lacks. */
#include "analyze/samples/recorder.h"

#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/text_out.h"
#include "stitch/text/safe_text.h"

#define LINE_SIZE 4096

/* The line that is being written. */
struct notes {
	note_fn *fn;
	void *arg;
	struct text_out line;
};

/* Appends `what`, and the text made printable, unless that is empty. */
static void add_text(struct notes *n, const char *what, const char *text)
{
	char clean[1024];

	if (!text[0])
		return;
	safe_text_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	text_out_add(&n->line, "%s%s", what, clean);
}

static void notes_end(struct notes *n)
{
	if (n->line.len)
		n->fn(n->arg, n->line.buf);
	n->line.len = 0;
}

int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err)
{
	char line[LINE_SIZE];
	struct notes n = { fn, arg, { .buf = line, .size = sizeof(line) } };

	struct rows *c = rows_of(db, "info_captures", err);

	while (rows_step(c)) {
		add_text(&n, "capture ", rows_text(c, INFO_CAPTURES_PATH));
		add_text(&n, ", format ", rows_text(c, INFO_CAPTURES_FORMAT));
		add_text(&n, ", host ", rows_text(c, INFO_CAPTURES_HOST));
		add_text(&n, ", kernel ", rows_text(c, INFO_CAPTURES_RELEASE));
		add_text(&n, ", made by ", rows_text(c, INFO_CAPTURES_VERSION));
		add_text(&n, ", command ", rows_text(c, INFO_CAPTURES_CMDLINE));
		if (rows_value(c, INFO_CAPTURES_COMPLETE).kind == VALUE_INT &&
		    !rows_int(c, INFO_CAPTURES_COMPLETE))
			text_out_add(&n.line, ", truncated or damaged");
		notes_end(&n);
	}
	if (rows_end(c, err))
		return -1;
	struct rows *rows = rows_of(db, "check_losses", err);

	while (rows_step(rows)) {
		int64_t unknown = rows_int(rows, CHECK_LOSSES_UNKNOWN);

		add_text(&n,
			 rows_int(rows, CHECK_LOSSES_COUNTS)
				 ? "lost: "
				 : "loss, not counted: ",
			 rows_text(rows, CHECK_LOSSES_WHAT));
		text_out_add(&n.line, ", %lld records in %lld intervals",
			     (long long)rows_int(rows, CHECK_LOSSES_RECORDS),
			     (long long)rows_int(rows, CHECK_LOSSES_INTERVALS));
		if (unknown)
			text_out_add(&n.line,
				     ", of %lld it is not known how many",
				     (long long)unknown);
		notes_end(&n);
	}
	if (rows_end(rows, err))
		return -1;
	struct rows *r = rows_of(db, "info_verdicts", err);

	while (rows_step(r)) {
		const char *confidence = rows_text(r, INFO_VERDICTS_CONFIDENCE);

		add_text(&n, "", rows_text(r, INFO_VERDICTS_KIND));
		add_text(&n, " ", rows_text(r, INFO_VERDICTS_VERDICT));
		add_text(&n, " (", confidence);
		text_out_add(&n.line, "%s: %lld", confidence[0] ? ")" : "",
			     (long long)rows_int(r, INFO_VERDICTS_N));
		notes_end(&n);
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "export_damage", err);

	while (rows_step(r)) {
		add_text(&n, "", rows_text(r, EXPORT_DAMAGE_KIND));
		add_text(&n, ": ", rows_text(r, EXPORT_DAMAGE_WHAT));
		text_out_add(&n.line, ", %lld times",
			     (long long)rows_int(r, EXPORT_DAMAGE_N));
		notes_end(&n);
	}
	return rows_end(r, err);
}

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
	/* ftrace's function tracers have no events to enable */
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
