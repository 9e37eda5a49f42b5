/* info.c - the command that prints the contents and the losses of a
 * database. */

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/ingest/name.h"
#include "cli/open/input.h"
#include "cli/tables/summary.h"
#include "schema/store.h"

static bool json;

static const struct opt opts[] = { OPT_FLAG(0, "json", &json, "print JSON"),
				   OPT_GROUP(ingest_opts),
				   { .kind = OPT_END } };

static int info_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct summary_more more;
	char options[NAME_NOT_GIVEN];
	int status = STATUS_OK;
	const char *path;
	struct store *db OWNED_STORE =
		database_from_args(&ask, argc, argv, NULL, &path, &status, err);

	if (!db)
		return -1;
	more.command = input_is_capture() ? "ingest" : "symbolize";
	more.options = name_not_given(&ask.load.name, options);
	int ret = json ? summary_json(stdout, db, err)
		       : summary_print(stdout, db, path, false, more, err);
	return ret ? -1 : status;
}

const struct command cmd_info = {
	.name = "info",
	.args = "[options] [DB | CAPTURE]",
	.summary = "tell what is in a capture or database",
	.examples = { "backstitch info perf.db",
		      "backstitch info --json perf.db" },
	.opts = opts,
	.common = "json input last since",
	.pages = true,
	.run = info_run,
};
