/* bundle.c - the command that packs a database for someone else: with the files
 * that hold its symbols, or redacted. */

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/export/pack.h"
#include "cli/open/input.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *out_path;
static bool force, redact, no_debug;
static struct opt_list keep;

static const struct opt opts[] = {
	OPT_HEADING("Output"),
	OPT_STRING(
		'o', "output", "FILE", &out_path,
		"an archive (.tar, .tar.gz, .tar.xz, .tar.zst), or any other "
		"name for the database alone"),
	OPT_FLAG('f', "force", &force, "replace FILE"),
	OPT_FLAG(0, "redact", &redact,
		 "replace paths, names and arguments by made-up words; adds no "
		 "files"),
	OPT_LIST(0, "keep", "GLOB", &keep,
		 "with --redact: leave images with such a path unchanged; may "
		 "be repeated"),
	OPT_FLAG(0, "no-debug-files", &no_debug,
		 "the programs themselves, but no debug files"),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

static int bundle_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	const struct pack_opts o = {
		.out = out_path,
		.force = force,
		.redact = redact,
		.no_debug = no_debug,
		.keep = keep.item,
		.n_keep = keep.n,
		.names = &ask.load.name,
	};
	int status = STATUS_OK;
	const char *path;

	if (keep.n && !redact)
		return err_set(err, ERR_USAGE, "--keep is for --redact");
	struct store *db OWNED_STORE = database_from_args(
		&ask, argc, argv, out_path, &path, &status, err);
	if (!db)
		return -1;
	return pack_write(db, path, &o, err) ? -1 : status;
}

static const char *const examples[] = {
	"backstitch bundle perf.db",
	"backstitch bundle --redact --keep '/usr/lib/*' -o public.db perf.db",
	NULL
};

const struct command cmd_bundle = {
	.name = "bundle",
	.args = "[options] [DB | CAPTURE]",
	.summary = "pack a database for somebody else",
	.examples = examples,
	.opts = opts,
	.common = "output force redact keep no-debug-files symfs input",
	.run = bundle_run,
};
