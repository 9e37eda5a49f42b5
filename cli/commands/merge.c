/* merge.c - the command that makes one database of several. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/open/database_set.h"
#include "stitch/text/human.h"
#include "cli/output/say.h"
#include "schema/merge/merge.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *output;
static bool force, quiet;

static const struct opt opts[] = {
	OPT_STRING('o', "output", "DB", &output, "the database to make"),
	OPT_FLAG('f', "force", &force, "replace an existing database"),
	OPT_FLAG('q', "quiet", &quiet, "no summary"),
	OPT_GROUP(database_set_opts),
	{ .kind = OPT_END }
};

/* Takes the output off the list: a folder that is read may have the result of
 * an earlier merge. Returns -1 and *err if another database would be lost. */
static int merge_drop_output(struct database_set *list, struct err *err)
{
	struct stat a, b;
	bool is_result = true;
	size_t n = 0;
	int rc = 0;

	if (stat(output, &a))
		return 0;
	for (size_t i = 0; i < list->n; i++) {
		if (stat(list->path[i], &b) || a.st_dev != b.st_dev ||
		    a.st_ino != b.st_ino) {
			list->path[n++] = list->path[i];
			continue;
		}
		rc = merge_is_result(output, &is_result, err);
		free(list->path[i]);
	}
	list->n = n;
	if (rc || (is_result && n))
		return rc;
	if (is_result)
		return err_set(err, ERR_USAGE,
			       "'%s' is the only database here, and the result "
			       "of an earlier merge",
			       output);
	return err_set(err, ERR_USAGE,
		       "'%s' is one of the databases that are read, and would "
		       "be lost; name another file after -o",
		       output);
}

/* Lists the databases that argv names. Returns 0, or -1 and *err. */
static int merge_take_args(struct database_set *list, int argc, char **argv,
			   struct err *err)
{
	struct stat st;

	for (int i = 0; i < argc; i++) {
		int ret = database_set_expand(list, argv[i], err);
		bool there = !stat(argv[i], &st);
		bool is_folder = there && S_ISDIR(st.st_mode);

		if (ret < 0)
			return -1;
		if (!ret && !there)
			return err_set(err, ERR_IO, "%s: no such file",
				       argv[i]);
		if (!ret && is_folder)
			return err_set(err, ERR_USAGE,
				       "%s: no database in this folder: none "
				       "of its files is one whose name ends in "
				       ".db",
				       argv[i]);
		if (!ret)
			return err_set(
				err, ERR_USAGE,
				"%s: not a backstitch database; 'ingest' "
				"makes one of a capture",
				argv[i]);
		if (!is_folder && input_apart(argv[i], output, err))
			return -1;
	}
	return 0;
}

static int merge_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct database_set list RELEASED_BY(database_set_release) = { NULL, 0,
								       0 };
	struct merge_counts n;
	struct store *db OWNED_STORE = NULL;

	if (!argc)
		return err_set(err, ERR_USAGE,
			       "which databases? 'ingest' makes one of a "
			       "capture; a folder stands for those in it");
	if (!output || !*output || !strcmp(output, "-"))
		return err_set(err, ERR_USAGE,
			       "-o is the database to make; it needs a name");
	if (merge_take_args(&list, argc, argv, err) ||
	    merge_drop_output(&list, err) ||
	    database_set_make(&list, &ask.choice, output, force, &db, &n, err))
		return -1;
	if (!quiet) {
		say("%s: %zu capture%s of %zu database%s, %s events", output,
		    n.captures, n.captures == 1 ? "" : "s", n.databases,
		    n.databases == 1 ? "" : "s", HUMAN_GROUPED(n.events));
		if (n.twice)
			say("; %zu left out as given twice", n.twice);
		if (n.joined)
			say("; %s found in another capture",
			    HUMAN_NOUN(n.joined, "user stack"));
		say("\n");
	}
	return STATUS_OK;
}

const struct command cmd_merge = {
	.name = "merge",
	.args = "[options] -o DB DB|FOLDER...",
	.summary = "make one database of several",
	.examples = { "backstitch merge -o all.db monday.db tuesday.db",
		      "backstitch merge -o last.db --since 5m segments/",
		      "backstitch report segments/ --since 1m" },
	.opts = opts,
	.run = merge_run,
};
