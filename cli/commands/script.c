/* script.c - the command that prints samples as text, in the format of perf
 * script.
 *
 * With -F the output is what perf script prints with the same -F, so that a
 * diff of both shows differences of contents only. Without -F, each missing
 * user stack is noted. */

#include "cli/open/input.h"
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "analyze/samples/events.h"
#include "cli/output/out.h"
#include "cli/output/term.h"
#include "cli/tables/script.h"
#include "cli/process/signals.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *fields;
static bool show_lost, json, marks;
static bool inlined = true;

static const struct opt opts[] = {
	OPT_HEADING("How to show it"),
	OPT_STRING('F', "fields", "FIELDS", &fields,
		   "print as perf script does, with these fields: comm, pid, "
		   "tid, cpu, time, period, event, addr, phys_addr, weight, "
		   "data_page_size, trace, ip, sym, symoff, dso, dsoff, "
		   "srcline"),
	OPT_NO(0, "no-inline", &inlined, "leave out inlined functions"),
	OPT_FLAG(0, "show-lost", &show_lost,
		 "print between the samples where records were lost"),
	OPT_FLAG(
		0, "marks", &marks,
		"mark frames that are fabricated, inferred or guessed, also "
		"in a pipe, where scripts for perf's text would take a mark for "
		"the image"),
	OPT_GROUP(wall_clock_opts),
	OPT_FLAG(0, "wall", &wall_clock_given, "the same as --wall-clock"),
	OPT_FLAG(0, "json", &json, "one JSON object a line for each sample"),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* Prints samples, and losses between them. Returns 0, or -1 and *err. */
static int script_print_rows(struct script *s, struct events *ev,
			     struct script_losses *l, struct err *err)
{
	struct event_row e;
	int ret;

	while ((ret = events_next(ev, &e, err)) > 0) {
		if (!script_is_sample(s, e.type))
			continue;
		if (l->more && e.timed &&
		    script_losses_until(l, s, e.time, err))
			return -1;
		ret = json ? script_json(s, &e, err) : script_text(s, &e, err);
		if (ret)
			return -1;
		if (out_failed() || stop_requested())
			return 0;
	}
	return ret < 0 ? -1 : script_losses_until(l, s, INT64_MAX, err);
}

/* Prints the samples of db. Returns 0, or -1 and *err. */
static int script_print_all(struct store *db, const struct script_fields *f,
			    struct err *err)
{
	struct script_losses l = { .f = f, .filter = &filter };
	struct script *s = script_new(db, f, err);
	struct events *ev =
		s ? events_open(db, &filter, EVENTS_ALL, err) : NULL;
	int ret = -1;

	if (ev && (!show_lost || !script_losses_open(&l, db, err))) {
		ret = script_print_rows(s, ev, &l, err);
		script_flush(s);
	}
	rows_close(l.rows);
	events_close(ev);
	script_free(s);
	return ret;
}

static int script_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct script_fields f;
	int status = STATUS_OK;
	int64_t offset;
	const char *path;
	struct store *db OWNED_STORE = NULL;

	if (fields && json)
		return err_set(err, ERR_USAGE,
			       "-F is for text; --json always has all fields");
	if (script_parse(fields, marks || term_is_terminal(stdout), &f, err))
		return -1;
	f.frame.json = json;
	f.frame.inlined = inlined && (f.frame.sym || json);
	/* texts are made of payloads: the columns would not be read */
	ask.load.fields = "";
	db = database_from_args(&ask, argc, argv, NULL, &path, &status, err);
	if (!db)
		return -1;
	int ret = wall_clock_take(db, path, &offset, &f.wall, err);
	if (!ret)
		ret = script_print_all(db, &f, err);
	return ret ? -1 : status;
}

const struct command cmd_script = {
	.name = "script",
	.args = "[options] [DB | CAPTURE]",
	.summary = "print samples as text, in perf script's shape",
	.examples = { "backstitch script perf.db | less",
		      "backstitch script --comm nginx --time 10%-20% perf.db",
		      "backstitch script -F comm,pid,tid,cpu,time,event,ip perf.db" },
	.opts = opts,
	.common =
		"fields time comm pid tid cpu event marks wall-clock show-lost no-inline json symfs",
	.pages = true,
	.run = script_run,
};
