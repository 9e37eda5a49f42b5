/* dump.c - the command that prints the records of a capture in file order, with
 * their offsets. */
#include <stdio.h>
#include <string.h>

#include "cli/args/command.h"
#include "cli/ingest/load.h"
#include "cli/ingest/unpacked.h"
#include "cli/output/folder.h"
#include "cli/output/out.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"

static const struct opt opts[] = { { .kind = OPT_END } };

/* Prints the lines of text. Returns 0, or -1 and *err after Ctrl-C, or if
 * output has failed: *arg, a bool, is true then. */
static int dump_put_line(void *arg, const char *text, struct err *err)
{
	bool *quit = arg;

	for (size_t n; text; text = text[n] ? text + n + 1 : NULL) {
		n = strcspn(text, "\n");
		safe_text_clean(stdout, text, n);
		putc('\n', stdout);
	}
	if (!out_failed() && !stop_requested())
		return 0;
	*quit = true;
	return err_set(err, ERR_STOPPED, "stopped");
}

/* Prints the records of the only capture of u. Returns 0, or -1 and *err. */
static int dump_source(struct unpacked *u, struct ledger *lg, struct err *err)
{
	struct source_opts o = { .temp_dir = folder_for_temp() };
	const char *path = u->path[0];
	struct source *src = formats_open(path, &o, lg, err);
	bool quit = false;
	int ret = -1;

	if (!src)
		return -1;
	if (!src->ops->dump)
		err_set(err, ERR_USAGE, "%s: dump cannot show %s captures",
			path, src->ops->name);
	else if (!src->ops->scan || !src->ops->scan(src, err))
		ret = src->ops->dump(src, dump_put_line, &quit, err);
	if (quit && !stop_requested())
		ret = 0;
	source_close(src);
	return ret;
}

/* Prints a capture, which may be in an archive. Returns 0, or -1 and *err. */
static int dump_capture(char *path, struct ledger *lg, struct err *err)
{
	struct unpacked u RELEASED_BY(unpacked_release);
	int ret = unpacked_find(&u, &path, 1, err);

	ledger_reword(lg, unpacked_show, &u);
	if (!ret && u.n > 1)
		ret = unpacked_which(&u, err);
	if (!ret)
		ret = dump_source(&u, lg, err);
	if (ret)
		unpacked_say(&u, err);
	ledger_reword(lg, NULL, NULL);
	return ret;
}

static int dump_run(int argc, char **argv, struct err *err)
{
	bool is_db = false;
	uint64_t damage = 0;

	if (argc != 1)
		return err_set(err, ERR_USAGE, "dump takes one capture");
	if (load_check(argv[0], &is_db, err))
		return -1;
	if (is_db)
		return err_set(err, ERR_USAGE,
			       "%s: this is a database; dump shows captures, "
			       "'backstitch info' databases",
			       argv[0]);
	struct ledger *lg = ledger_new();
	int ret = dump_capture(argv[0], lg, err);
	if (!ret) {
		/* Print the first damaged places. */
		struct ledger_entry e;

		ledger_end(lg);
		while (ledger_take(lg, &e) > 0) {
			if (e.kind != LEDGER_DAMAGE)
				continue;
			if (damage++ < 5)
				say("damage: %s\n",
				    e.detail ? e.detail : e.what);
		}
		if (damage > 5)
			say("damage: %lu more\n", (unsigned long)damage - 5);
	}
	ledger_free(lg);
	if (ret)
		return -1;
	return damage ? STATUS_DAMAGED : STATUS_OK;
}

const struct command cmd_dump = {
	.name = "dump",
	.args = "CAPTURE",
	.summary = "print the raw records of a capture",
	.examples = { "backstitch dump perf.data | less" },
	.opts = opts,
	.pages = true,
	.run = dump_run,
};
