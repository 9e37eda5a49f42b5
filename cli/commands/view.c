/* view.c - the command that shows everything in the terminal. */
#include <limits.h>

#include "analyze/diffs/sides.h"
#include "cli/args/command.h"
#include "cli/args/options.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/view/view.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static const char *live;
static bool diff;

static const struct opt opts[] = { OPT_STRING(0, "live", "DIR", &live,
					      "the newest segment in a folder "
					      "that 'follow' fills"),
				   OPT_FLAG(0, "diff", &diff,
					    "what changed, above the screens "
					    "of the second: 'view --diff "
					    "BEFORE AFTER'"),
				   OPT_GROUP(filter_opts),
				   OPT_GROUP(source_opts),
				   OPT_GROUP(ingest_opts),
				   { .kind = OPT_END } };

/* Opens a database, or several as one, and sets out to its path. Returns NULL
 * and *err on failure. */
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
	/* without a database, the commands that are run read the capture */
	if (db && !*out)
		snprintf(out, PATH_MAX, "%s", path);
	return db;
}

/* Shows a comparison above the screens of its second side. Returns a status, or
 * -1 and *err. */
static int view_comparison(const struct open_ask *ask, int argc, char **argv,
			   struct view_what *what, struct err *err)
{
	static char path[VIEW_SIDES][PATH_MAX];
	const char *names[VIEW_SIDES + 1] = { NULL };
	struct sides s RELEASED_BY(sides_release) = { 0 };
	int status = STATUS_OK;
	size_t n = 0, between;

	if (sides_take(&s, argc, argv, options_before, err))
		return -1;
	if (s.side[0].n + s.side[1].n + 1 >= VIEW_SIDES)
		return err_set(err, ERR_USAGE,
			       "view compares fewer than %d recordings; ask "
			       "'backstitch diff'",
			       VIEW_SIDES - 1);
	/* two recordings need no "--" */
	between = s.side[0].n + s.side[1].n > 2 ? s.side[0].n : 0;
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < s.side[i].n; k++, n++) {
			if (n == between)
				names[n++] = "--";
			store_close(what->db);
			what->db = view_database(ask, s.side[i].path[k],
						 path[n], &status, err);
			if (!what->db)
				return -1;
			names[n] = what->path = path[n];
		}
	}
	what->sides = names;
	int rc = view_run(what, err);
	store_close(what->db);
	return rc ? -1 : status;
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
	if (live && diff)
		return err_set(err, ERR_USAGE,
			       "--live shows a recording that is under way; "
			       "leave out --diff");
	if (live)
		return view_run(&what, err);
	if (diff)
		return view_comparison(&ask, argc, argv, &what, err);
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
	.args = "[options] [DB | CAPTURE] | --diff A... [--] B...",
	.summary = "look at functions, trees, code, waits and losses in the "
		   "terminal",
	.examples = { "backstitch view perf.db",
		      "backstitch view --comm server perf.db",
		      "backstitch view --diff before.db after.db" },
	.opts = opts,
	.common = "live diff comm time event pid cpu symfs last since input",
	.run = view_command_run,
};
