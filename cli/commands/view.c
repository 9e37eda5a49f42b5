/* view.c - the command that shows everything in the terminal. */
#include <limits.h>
#include <stdio.h>

#include "cli/beside.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/model/filter.h"
#include "cli/view/view.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const struct opt opts[] = { OPT_GROUP(filter_opts),
				   OPT_GROUP(ingest_opts),
				   { .kind = OPT_END } };

/* Several databases are read as one. */
static struct store *view_database(const char *path, char *out, int *status,
				   struct err *err)
{
	char *argv[] = { (char *)path };
	struct store *db;

	if (!input_is_several(path) && !input_is_server(path)) {
		db = beside_open(1, argv, false, out, status, err);
	} else {
		snprintf(out, PATH_MAX, "%s", path);
		db = database_open(path, status, err);
	}
	/* the commands that are run read the capture then */
	if (db && !*out)
		snprintf(out, PATH_MAX, "%s", path);
	return db;
}

static int view_command_run(int argc, char **argv, struct err *err)
{
	const char *path = input_path(argc, argv, err);
	int status = STATUS_OK;
	char out[PATH_MAX];
	struct store *db;
	int rc;

	if (!path)
		return -1;
	db = view_database(path, out, &status, err);
	if (!db)
		return -1;
	rc = view_run(db, out, opts, err);
	store_close(db);
	return rc ? -1 : status;
}

static const char *const examples[] = { "backstitch view perf.db",
					"backstitch view --comm server perf.db",
					NULL };

extern const struct command cmd_view;
const struct command cmd_view = {
	.name = "view",
	.args = "[options] [DB | CAPTURE]",
	.summary = "look at functions, trees, code, waits and losses in the "
		   "terminal",
	.examples = examples,
	.opts = opts,
	.common = "comm time event pid cpu symfs last since input",
	.run = view_command_run,
};
