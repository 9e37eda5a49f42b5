/* capture_db.c - the database of captures, in a file next to them. */
#include "cli/open/capture_db.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ingest/align.h"
#include "cli/ingest/session_folders.h"
#include "cli/ingest/load.h"
#include "cli/open/input.h"
#include "stitch/base/mem.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "formats/archive.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/files/path.h"

/* Decides on the file `out`. Stores the opened database in *db if it is that of
 * the captures and not older; NULL if it must be made. Returns 0, or -1 and
 * *err if the file is something else. */
static int capture_db_reuse(const struct open_ask *ask, const char *out,
			    int argc, char **argv, bool again,
			    struct store **db, struct err *err)
{
	struct err ignored = { 0 };
	struct err why = { 0 };
	struct stat st;
	bool is_db = false;
	size_t same = 0;  /* given ones that are there */
	size_t known = 0; /* captures that were given */
	size_t n = 0;
	struct session_folders c;
	struct rows *r;

	*db = NULL;
	if (stat(out, &st))
		return 0;
	*db = store_open(out, &why);
	if (!*db) {
		char *db_word OWNED = safe_text_word(out);
		char *word OWNED = safe_text_word(argv[0]);

		if (load_check(out, &is_db, &ignored) || !is_db)
			err_set(err, ERR_IO,
				"%s, and that of %s would be there; try "
				"'backstitch ingest -o NAME.db %s'",
				why.msg, argv[0], word);
		else
			/* as one that is cut off: nothing tells whose it is */
			err_set(err, why.code,
				"%s; if it was that of %s, 'backstitch ingest "
				"-f -o %s %s' replaces it",
				why.msg, argv[0], db_word, word);
		return -1;
	}
	session_folders_join(&c, argv, (size_t)argc,
			     align_keeps_apart(&ask->load.align));
	bool *seen OWNED = mem_new(c.n + 1, sizeof(*seen));

	r = rows_of(*db, "report_captures", err);
	while (rows_step(r)) {
		const char *name = rows_text(r, REPORT_CAPTURES_PATH);
		size_t i = 0;

		while (i < c.n && !input_has_name(name, c.path[i]))
			i++;
		known += i < c.n;
		if (i < c.n && !seen[i]) {
			seen[i] = true;
			same++;
		}
		n++;
	}
	/* one that has some of them, and no other, is made again with all */
	const bool others = same != c.n && (!n || known != n);

	again |= same != c.n;

	session_folders_release(&c);
	if (rows_end(r, err))
		goto fail;
	if (others) {
		char *db_word OWNED = safe_text_word(out);
		char *word OWNED = safe_text_word(argv[0]);

		err_set(err, ERR_IO,
			"%s: has other captures; 'backstitch info %s' says "
			"which, 'backstitch ingest -o NAME.db %s' makes another",
			out, db_word, word);
		goto fail;
	}
	for (int i = 0; i < argc && !again; i++)
		again = !strcmp(argv[i], "-") ||
			input_is_newer(argv[i], &st.st_mtim);
	if (again) {
		store_close(*db);
		*db = NULL;
	}
	return 0;
fail:
	store_close(*db);
	*db = NULL;
	return -1;
}

struct store *capture_db_open(const struct open_ask *ask, int argc, char **argv,
			      bool again, char *out, int *status,
			      struct err *err)
{
	struct load_ask load = ask->load;
	bool damaged = false;
	bool is_db = false;
	struct store *db;

	if (argc == 1 && input_is_several(argv[0])) {
		*out = '\0';
		return database_open(ask, argv[0], status, err);
	}
	if (argc == 1 && load_check(argv[0], &is_db, err))
		return NULL;
	input_database_name(argv[0], out, PATH_MAX);
	/* a bundle may lie next to its database */
	if (is_db || (!access(out, F_OK) && archive_is_bundle(argv[0]))) {
		snprintf(out, PATH_MAX, "%s", argv[0]);
		return database_open(ask, out, status, err);
	}
	for (int i = 0; i < argc; i++)
		if (load_check(argv[i], NULL, err))
			return NULL;
	if (capture_db_reuse(ask, out, argc, argv, again, &db, err))
		return NULL;
	if (db) {
		say("reading %s\n", out);
		return db;
	}
	load.out = input_can_make(out) ? out : NULL;
	load.force = true;
	if (load_captures(argv, (size_t)argc, &load, &db, &damaged, err)) {
		if (argc > 1 || err->code != ERR_BUNDLE)
			return NULL;
		snprintf(out, PATH_MAX, "%s", argv[0]);
		return database_open(ask, out, status, err);
	}
	if (!load.out) {
		say_note("%s: cannot be written, and is not kept\n", out);
		*out = '\0';
	}
	if (damaged)
		*status = input_damaged(argv[0]);
	return *out ? store_open(out, err) : db;
}
