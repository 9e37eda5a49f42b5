/* sframe.c - the command that shows and judges SFrame unwind tables. */

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/tables/sframe.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind_compare.h"

static bool check, unwind, readiness, json;

static const struct opt opts[] = {
	OPT_FLAG(0, "check", &check,
		 "compare the section with the code and with .eh_frame; status "
		 "4 if there are errors"),
	OPT_FLAG(0, "unwind", &unwind,
		 "compare unwinding of stack dumps by SFrame alone with "
		 "unwinding by all tables"),
	OPT_FLAG(
		0, "readiness", &readiness,
		"print which share of the samples of a database or capture can "
		"be unwound by frame pointer, by SFrame, by neither"),
	OPT_FLAG(0, "json", &json, "print JSON"),
	OPT_GROUP(name_place_opts),
	{ .kind = OPT_END }
};

/* Runs --unwind or --readiness. Returns a status, or -1 and *err. */
static int sframe_of_stacks(const char *path, struct err *err)
{
	struct unwind_compare_count c RELEASED_BY(
		unwind_compare_release) = { 0 };
	struct open_ask ask = open_chosen();
	int status = STATUS_OK;
	bool is_db = false;
	int rc = -1;

	if (name_check(&ask.load.name, err) ||
	    (unwind && load_check(path, &is_db, err)))
		return -1;
	if (is_db)
		return err_set(err, ERR_USAGE,
			       "%s: a database; stack dumps are only in the "
			       "capture it was made from",
			       path);
	ask.load.unnamed = true;
	ask.load.pair = unwind ? &c : NULL;
	struct store *db OWNED_STORE = database_open(&ask, path, &status, err);
	if (db && unwind) {
		rc = sframe_unwind(path, &c, json, err);
	} else if (db) {
		struct symbolizer *sy =
			name_symbolizer(&ask.load.name, db, NULL, NULL);

		rc = sframe_readiness(db, sy, ask.load.name.symfs, json, err);
		symbolize_free(sy);
	}
	return rc ? -1 : status;
}

static int sframe_run(int argc, char **argv, struct err *err)
{
	struct sframe_file f;

	if (argc != 1)
		return err_set(err, ERR_USAGE,
			       argc ? "one file at a time" : "which file?");
	if (check + unwind + readiness > 1)
		return err_set(err, ERR_USAGE,
			       "--check, --unwind and --readiness are "
			       "questions of their own; one at a time");
	if (unwind || readiness)
		return sframe_of_stacks(argv[0], err);
	struct elf_file *ef = elf_file_open(argv[0], err);
	if (!ef)
		return -1;
	int status = sframe_file_open(ef, &f, err);
	if (status == 1) {
		status = check ? sframe_check_print(ef, &f, json, err)
			       : sframe_dump(argv[0], &f, json);
		sframe_file_release(&f);
	} else if (!status) {
		status = err_set(err, ERR_FORMAT,
				 "%s: has no SFrame section; 'gcc "
				 "-Wa,--gsframe' makes one",
				 argv[0]);
	}
	elf_file_close(ef);
	return status;
}

const struct command cmd_sframe = {
	.name = "sframe",
	.args = "[options] FILE | CAPTURE | DB",
	.summary = "show and judge SFrame unwind tables",
	.examples = { "backstitch sframe --json libx.so",
		      "backstitch sframe --check libx.so",
		      "backstitch sframe --unwind perf.data",
		      "backstitch sframe --readiness perf.db" },
	.opts = opts,
	.pages = true,
	.run = sframe_run,
};
