/* symbolize.c - the command that resolves symbols again after debug files were
 * added. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/clickhouse/clickhouse.h"
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/ingest/load.h"
#include "cli/ingest/lock_names.h"
#include "cli/ingest/name.h"
#include "analyze/samples/filter.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/push/push.h"
#include "cli/push/push_server.h"
#include "cli/server/server.h"
#include "cli/process/signals.h"
#include "formats/archive.h"
#include "schema/columns.h"
#include "cli/version.h"
#include "schema/maker.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "symbolize/symbolize.h"

static bool json;

static const struct opt opts[] = { OPT_FLAG(0, "json", &json,
					    "print the counts as JSON"),
				   OPT_GROUP(name_opts),
				   OPT_GROUP(clickhouse_opts),
				   { .kind = OPT_END } };

struct done {
	int64_t unnamed, lines; /* code addresses without a symbol, and with a
				 * source line */
	int64_t doubted; /* with the symbol of a file that nothing proves */
};

static int symbolize_count_named(struct store *db, struct done *d,
				 struct err *err)
{
	struct rows *r = rows_of(db, "named_counts", err);

	if (rows_step(r)) {
		d->unnamed = rows_int(r, NAMED_COUNTS_UNNAMED);
		d->lines = rows_int(r, NAMED_COUNTS_WITH_LINE);
		d->doubted = rows_int(r, NAMED_COUNTS_DOUBTED);
	}
	return rows_end(r, err);
}

static void symbolize_put_word(FILE *f, const char *option, const char *text)
{
	char *word OWNED = text ? safe_text_word(text) : NULL;

	if (word)
		fprintf(f, "%s %s", option, word);
}

/* If stacks end where a file was missing, prints the command that reads their
 * captures again: a database has no stack dumps. Returns 0, or -1 and *err. */
static int symbolize_say_cut(const struct name_ask *names, const char *path,
			     struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "cut_stacks", err);
	int64_t n = 0;
	char *text OWNED = NULL;
	FILE *f = mem_stream(&text, NULL);

	fputs(names->debuginfod ? " --debuginfod" : "", f);
	symbolize_put_word(f, " --symfs", names->symfs);
	symbolize_put_word(f, " --kallsyms", names->kallsyms);
	symbolize_put_word(f, " --vmlinux", names->vmlinux);
	for (size_t i = 0; names->debug_dirs && names->debug_dirs[i]; i++)
		symbolize_put_word(f, " --debug-dir", names->debug_dirs[i]);
	symbolize_put_word(f, " -o", path);
	for (; rows_step(r); n = rows_int(r, CUT_STACKS_N))
		symbolize_put_word(f, "", rows_text(r, CUT_STACKS_PATH));
	mem_stream_end(f);
	if (n)
		say("%" PRId64 " stack%s end%s where a file was not found when "
		    "the capture was read; 'backstitch ingest -f%s' reads it "
		    "again, which mends those whose file is here now\n",
		    n, n == 1 ? "" : "s", n == 1 ? "s" : "", text);
	return rows_end(r, err);
}

/* Sends the names of db to a server, and sets *sent to how many. */
static int symbolize_push(const struct open_ask *ask, struct store *db,
			  const char *url, uint64_t *sent, struct err *err)
{
	const struct push_options how = { .rows = { .filter = &filter_none,
						    .version = VERSION },
					  .connections = 1,
					  .retry = 60 };
	struct push_server s RELEASED_BY(push_server_close);
	struct push *p = NULL;
	int rc = push_server_open(&s, url, NULL, 0, &ask->server, err);

	if (!rc)
		rc = push_server_check(&s, err);
	if (!rc) {
		p = push_new(&s, &how);
		rc = push_database_names(p, db, err);
		*sent = push_counts(p).names_sent;
	}
	push_free(p);
	return rc;
}

/* Finds names for code in a server. Returns a status, or -1 and *err. */
static int symbolize_server(const struct open_ask *ask, const char *url,
			    struct err *err)
{
	const struct name_ask *names = &ask->load.name;
	struct done was = { 0 };
	struct done is = { 0 };
	struct store *db OWNED_STORE = NULL;
	char more[NAME_NOT_GIVEN];
	uint64_t sent = 0;
	struct json j;

	if (name_check(names, err))
		return -1;
	struct maker *mk = server_open_unnamed(url, &ask->server, err);
	if (!mk)
		return -1;
	int ret = symbolize_count_named(maker_read(mk, err), &was, err);
	if (!ret)
		ret = name_images(names, mk, NULL, NULL, true, err);
	if (ret)
		maker_free(mk);
	else
		db = maker_finish(mk, NULL, err);
	ret = db ? symbolize_count_named(db, &is, err) : -1;
	if (!ret && is.unnamed < was.unnamed)
		ret = symbolize_push(ask, db, url, &sent, err);
	if (ret)
		return -1;
	int64_t found = was.unnamed - is.unnamed;
	if (!json) {
		say("%s: %" PRId64 " of %" PRId64 " places without a name "
		    "got one; sent %" PRIu64 " names\n",
		    url, found, was.unnamed, sent);
		if (was.unnamed && !found && *name_not_given(names, more))
			say("the files are known by build-id; options that say "
			    "where they are: %s\n",
			    more);
		return STATUS_OK;
	}
	json_answer(&j, stdout, JSON_COMPACT);
	json_text(&j, "server", url);
	json_int(&j, "unnamed_before", was.unnamed);
	json_int(&j, "unnamed", is.unnamed);
	json_uint(&j, "names_sent", sent);
	json_finish(&j);
	return STATUS_OK;
}

static int symbolize_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	const struct name_ask *names = &ask.load.name;
	struct name_counts c = { 0 };
	struct done was = { 0 };
	struct done is = { 0 };
	bool is_db = false;
	struct store *db OWNED_STORE = NULL;

	if (argc > 1)
		return err_set(err, ERR_USAGE,
			       "names are added to one database at a time");
	const char *path = input_path(&ask, argc, argv, err);
	if (path && input_is_server(path))
		return symbolize_server(&ask, path, err);
	if (!path || name_check(names, err) || load_check(path, &is_db, err))
		return -1;
	if (!is_db) {
		char *word OWNED = safe_text_word(path);

		return err_set(
			err, ERR_USAGE,
			archive_is_bundle(path)
				? "%s: symbolize changes a database, which has "
				  "to be taken out for that: 'backstitch "
				  "bundle -o FILE.db %s'"
				: "%s: symbolize needs a database; 'backstitch "
				  "ingest %s' makes one, with the same options",
			path, word);
	}
	struct maker *mk = maker_open(path, path, err);
	if (!mk)
		return -1;
	/* only maker_free() undoes the changes */
	signals_patiently(true);
	store_on_stop(maker_read(mk, err), stop_requested);
	int ret = symbolize_count_named(maker_read(mk, err), &was, err);
	if (!ret)
		ret = name_again(names, mk, &c, err);
	if (!ret) {
		struct symbolizer *sy =
			name_symbolizer(names, maker_read(mk, err), NULL, NULL);

		ret = name_check_calls(mk, NULL, sy, err);
		symbolize_free(sy);
	}
	if (!ret) {
		struct lock_names *l = lock_names_new();
		ret = lock_names_read(l, maker_read(mk, err), err) ||
				      lock_names_store(l, names, mk, NULL, err)
			      ? -1
			      : 0;

		lock_names_free(l);
	}
	/* an interrupted statement may have looked like one without rows */
	if (!ret && stop_requested())
		ret = err_set(err, ERR_STOPPED, "stopped");
	if (ret)
		maker_free(mk);
	else
		db = maker_finish(mk, NULL, err);
	ret = db ? symbolize_count_named(db, &is, err) : -1;
	signals_patiently(false);
	if (!ret && json) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "database", path);
		json_int(&j, "unnamed_before", was.unnamed);
		json_int(&j, "unnamed", is.unnamed);
		json_int(&j, "lines_before", was.lines);
		json_int(&j, "lines", is.lines);
		json_uint(&j, "images", c.images);
		json_uint(&j, "images_named", c.named);
		json_uint(&j, "files_fetched", c.fetched);
		json_finish(&j);
	} else if (!ret) {
		int64_t found = was.unnamed - is.unnamed;
		char *word OWNED = safe_text_word(path);
		char more[NAME_NOT_GIVEN];

		say("%s: %" PRId64 " of %" PRId64
		    " addresses without a name got "
		    "one, %" PRId64 " a source line; looked at %" PRIu64
		    " image%s\n",
		    path, found, was.unnamed,
		    is.lines > was.lines ? is.lines - was.lines : 0, c.images,
		    c.images == 1 ? "" : "s");
		if (is.doubted < was.doubted)
			say("%" PRId64 " address%s had the name of a file that "
			    "nothing proves; the file that ran names them now\n",
			    was.doubted - is.doubted,
			    was.doubted - is.doubted == 1 ? "" : "es");
		if (was.unnamed && !found)
			say("'backstitch info %s' says what is missing%s%s\n",
			    word,
			    *name_not_given(names, more)
				    ? "; options that say where it is: "
				    : "",
			    more);
	}
	if (!ret && !json)
		ret = symbolize_say_cut(names, path, db, err);
	return ret ? -1 : STATUS_OK;
}

const struct command cmd_symbolize = {
	.name = "symbolize",
	.args = "[options] DB | URL",
	.summary = "resolve symbols again after adding debug files",
	.examples = { "backstitch symbolize --symfs /mnt/target perf.db",
		      "backstitch symbolize --kallsyms kallsyms.txt perf.db",
		      "backstitch symbolize --symfs /mnt/target clickhouse://host/fleet" },
	.opts = opts,
	.common =
		"symfs kallsyms vmlinux debug-dir debuginfod no-demangle no-lines jobs json",
	.run = symbolize_run,
};
