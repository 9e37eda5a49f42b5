/* view.c - the command that shows everything in the terminal. */
#include <limits.h>
#include <stdio.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/view/view.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *live;

static const struct opt opts[] = { OPT_STRING(0, "live", "DIR", &live,
					      "the newest segment in a folder "
					      "that 'follow' fills"),
				   OPT_GROUP(filter_opts),
				   OPT_GROUP(source_opts),
				   OPT_GROUP(ingest_opts),
				   { .kind = OPT_END } };

/* Several databases are read as one. */
static struct store *view_database(const struct open_ask *ask, const char *path,
				   char *out, int *status, struct err *err)
{
	char *argv[] = { (char *)path };
	struct store *db;

	if (!input_is_several(path) && !input_is_server(path)) {
		db = capture_db_open(ask, 1, argv, false, out, status, err);
	} else {
		snprintf(out, PATH_MAX, "%s", path);
		db = database_open(ask, path, status, err);
	}
	/* the commands that are run read the capture then */
	if (db && !*out)
		snprintf(out, PATH_MAX, "%s", path);
	return db;
}

static int view_command_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct view_what what = { .live = live,
				  .filter = &filter,
				  .opts = opts };
	int status = STATUS_OK;
	char out[PATH_MAX];

	if (live && argc)
		return err_set(err, ERR_USAGE,
			       "--live names what to read; leave out '%s'",
			       argv[0]);
	if (live)
		return view_run(&what, err);
	const char *path = input_path(&ask, argc, argv, err);
	if (!path)
		return -1;
	what.db = view_database(&ask, path, out, &status, err);
	what.path = out;
	if (!what.db)
		return -1;
	int rc = view_run(&what, err);
	store_close(what.db);
	return rc ? -1 : status;
}

const struct command cmd_view = {
	.name = "view",
	.args = "[options] [DB | CAPTURE]",
	.summary = "look at functions, trees, code, waits and losses in the "
		   "terminal",
	.examples = { "backstitch view perf.db",
		      "backstitch view --comm server perf.db" },
	.opts = opts,
	.common = "live comm time event pid cpu symfs last since input",
	.run = view_command_run,
};
