/* symbolize.c - the command that names what has no name yet, when debug files
 * turned up after ingest. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/callsites.h"
#include "cli/command.h"
#include "cli/filter.h"
#include "cli/load.h"
#include "cli/name.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "symbolize/symbolize.h"

static const struct opt opts[] = {
	{ .kind = OPT_GROUP, .value = (void *)name_opts }, { .kind = OPT_END }
};

static int check_calls(struct store *db, struct err *err)
{
	struct symbolizer *sy = name_symbolizer(db, NULL);
	int ret = callsites_check(db, sy, err);

	symbolize_free(sy);
	return ret;
}

static int run(int argc, char **argv, struct err *err)
{
	struct name_counts c = { 0 };
	const char *path = input_path(argc, argv, err);
	bool is_db = false;
	struct store *db;
	int ret;

	if (!path || name_check(err) || load_check(path, &is_db, err))
		return -1;
	if (!is_db)
		return err_set(err, ERR_USAGE,
			       "%s: symbolize needs a database; make one with "
			       "'backstitch ingest %s'",
			       path, path);
	db = store_open(path, true, err);
	if (!db)
		return -1;
	ret = name_images(db, NULL, &c, err);
	if (!ret)
		ret = check_calls(db, err);
	if (!ret)
		ret = store_finish(db, NULL, err);
	store_close(db);
	if (ret)
		return -1;
	fprintf(stderr,
		"%s: %" PRIu64 " of %" PRIu64 " addresses without a "
		"name got one, in %" PRIu64 " of %" PRIu64 " images\n",
		path, c.found, c.offsets, c.named, c.images);
	if (c.offsets && !c.found)
		fprintf(stderr,
			"'backstitch info %s' says what is missing; --symfs, "
			"--kallsyms and --debug-dir say where it is\n",
			path);
	return STATUS_OK;
}

static const char *const examples[] = {
	"backstitch symbolize --symfs /mnt/target perf.db",
	"backstitch symbolize --kallsyms kallsyms.txt perf.db", NULL
};

extern const struct command cmd_symbolize;
const struct command cmd_symbolize = {
	.name = "symbolize",
	.args = "[options] DB",
	.summary = "name again, when debug files turned up",
	.examples = examples,
	.opts = opts,
	.run = run,
};
