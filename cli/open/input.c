/* input.c - the database a command works on: given, or made from a capture. */
#include "cli/open/input.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/stacks/stacks.h"
#include "cli/args/status.h"
#include "cli/ingest/align.h"
#include "cli/ingest/unpacked.h"
#include "cli/output/folder.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/server/server.h"
#include "cli/process/signals.h"
#include "formats/archive.h"
#include "schema/columns.h"
#include "schema/merge/merge.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"

static bool input_is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec
				      : a->tv_nsec > b->tv_nsec;
}

/* Removes the suffix from name unless nothing is left. */
static void input_strip_suffix(char *name, const char *ending)
{
	size_t n = strlen(name);
	size_t len = strlen(ending);

	if (n > len && !strcmp(name + n - len, ending))
		name[n - len] = 0;
}

/* Returns whether files can be made in the folder of `name`. */
static bool input_can_make(const char *name)
{
	char dir[PATH_MAX];
	size_t n = (size_t)(path_base(name) - name);

	if (n >= sizeof(dir))
		return false;
	memcpy(dir, name, n);
	dir[n] = '\0';
	return !access(n ? dir : ".", W_OK);
}

const char *input_database_name(const char *path, char *buf, size_t size)
{
	size_t len = strlen(path);
	size_t dir = len;

	snprintf(buf, size, "backstitch.db");
	if (!strcmp(path, "-"))
		return buf;
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (dir = len; dir && path[dir - 1] != '/'; dir--)
		;
	if (len > size - 4)
		return buf;
	memcpy(buf, path, len);
	buf[len] = 0;
	static const char *const ends[] = { ".gz",  ".zst",  ".xz",
					    ".bz2", ".tgz",  ".tar",
					    ".zip", ".data", ".dat" };
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		input_strip_suffix(buf + dir, ends[i]);
	if (!buf[dir] || !strcmp(buf + dir, ".") || !strcmp(buf + dir, "..")) {
		snprintf(buf, size, "backstitch.db");
		return buf;
	}
	len = strlen(buf);
	memcpy(buf + len, ".db", 4);
	if (dir && !input_can_make(buf) && access(buf, F_OK))
		memmove(buf, buf + dir, len + 4 - dir);
	return buf;
}

/* Databases that a command reads as one, and their name in messages, which is
 * their path for database_open(). They live until the program ends. */
static struct database_set several_paths;
static char several_name[256];

/* Returns whether 'follow' runs, or ran, with this folder. */
static bool input_is_followed(const char *path)
{
	char lock[PATH_MAX];

	return snprintf(lock, sizeof(lock), "%s/.lock", path) <
		       (int)sizeof(lock) &&
	       !access(lock, F_OK);
}

static int input_wants_segment(const char *path, struct err *err)
{
	return err_set(err, ERR_IO,
		       "%s: 'backstitch follow' has not ended a segment so "
		       "far; --segment says when it does",
		       path);
}

/* Returns several_name if the arguments are several databases, else NULL, and
 * sets *err if they cannot be read as one. */
static const char *input_several(const struct open_ask *ask, int argc,
				 char **argv, struct err *err)
{
	database_set_release(&several_paths);
	if (argc == 1 && clickhouse_is_url(argv[0]))
		return NULL;
	for (int i = 0; i < argc; i++) {
		int ret = database_set_expand(&several_paths, argv[i], err);

		if (ret < 0)
			return NULL;
		if (ret || (argc == 1 && !database_set_chosen(&ask->choice)))
			continue;
		if (input_is_followed(argv[i]))
			input_wants_segment(argv[i], err);
		else
			err_set(err, ERR_USAGE,
				"%s: not a database; several databases are "
				"read as one, captures are put into one with "
				"'backstitch ingest'",
				argv[i]);
		return NULL;
	}
	if (several_paths.n < 2)
		return NULL;
	if (argc > 1)
		snprintf(several_name, sizeof(several_name),
			 "%.200s and %zu more", several_paths.path[0],
			 several_paths.n - 1);
	else
		snprintf(several_name, sizeof(several_name), "%.200s", argv[0]);
	return several_name;
}

const char *input_path(const struct open_ask *ask, int argc, char **argv,
		       struct err *err)
{
	const char *input = ask->input;
	const char *path;

	err->code = ERR_NONE;
	if (argc && input) {
		err_set(err, ERR_USAGE,
			"-i names what is read in place of the argument; leave "
			"one of them out");
		return NULL;
	}
	path = argc    ? input_several(ask, argc, argv, err)
	       : input ? input_several(ask, 1, (char **)&input, err)
		       : NULL;
	if (path || err->code)
		return path;
	if (argc)
		return argv[0];
	if (input)
		return input;
	/* The name lives until the program ends. */
	static char name[NAME_MAX + 1];
	struct stat best, st;
	struct err ignored = { 0 };
	struct dirent *e;
	DIR *dir OWNED_DIR = opendir(".");
	bool is_db;

	if (stat("perf.data", &best) == 0)
		snprintf(name, sizeof(name), "perf.data");
	while (dir && (e = readdir(dir)) != NULL) {
		size_t n = strlen(e->d_name);

		if (n < 4 || strcmp(e->d_name + n - 3, ".db") != 0 ||
		    stat(e->d_name, &st) || !S_ISREG(st.st_mode) ||
		    (name[0] && input_is_after(&best.st_mtim, &st.st_mtim)) ||
		    load_check(e->d_name, &is_db, &ignored) || !is_db)
			continue;
		best = st;
		snprintf(name, sizeof(name), "%s", e->d_name);
	}
	path = name[0] ? name : NULL;
	if (path)
		say("reading %s\n", path);
	else
		err_set(err, ERR_USAGE,
			"which database or capture? there is no database "
			"and no perf.data here; 'backstitch record ./prog' "
			"makes both");
	return path;
}

int input_apart(const char *in, const char *out, struct err *err)
{
	struct stat a, b;

	if (!out || stat(in, &a) || stat(out, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return 0;
	return err_set(err, ERR_USAGE,
		       "'%s' is what is read; name another file after -o", out);
}

/* Prints on stderr that a capture is damaged. Returns STATUS_DAMAGED. */
static int input_damaged(const char *path)
{
	char *word OWNED = safe_text_word(path);

	say("%s: part of the input could not be read, the rest is used; "
	    "'backstitch info %s' says more\n",
	    path, word);
	return STATUS_DAMAGED;
}

bool input_is_server(const char *path)
{
	return clickhouse_is_url(path);
}

/* Reads the databases that input_path() has found as one. */
static struct store *database_open_several(const struct open_ask *ask,
					   struct database_set *list,
					   struct err *err)
{
	struct merge_counts counts;
	struct store *db;

	return database_set_make(list, &ask->choice, NULL, false, &db, &counts,
				 err)
		       ? NULL
		       : db;
}

/* Reads the databases of a folder or a pattern as one. Returns 1 and *db, 0 if
 * there are none, or -1 and *err. */
static int database_open_folder(const struct open_ask *ask, const char *path,
				struct store **db, struct err *err)
{
	struct database_set list RELEASED_BY(database_set_release) = { 0 };
	int ret = database_set_expand(&list, path, err);

	if (ret > 0) {
		*db = database_open_several(ask, &list, err);
		ret = *db ? 1 : -1;
	} else if (!ret && input_is_followed(path)) {
		ret = input_wants_segment(path, err);
	}
	return ret;
}

/* Opens a copy of the database in a bundle, in a file that is unlinked. */
static struct store *database_open_bundle(const char *path, struct err *err)
{
	char near[PATH_MAX];
	struct store *db = NULL;
	char *copy;
	int fd OWNED_FD = -1;

	snprintf(near, sizeof(near), "%s/backstitch-bundle.db",
		 folder_for_temp());
	copy = new_file_temp(near, 0600);
	fd = copy ? open(copy, O_WRONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		err_set(err, ERR_IO,
			"%s: cannot make a temporary file (%m); set TMPDIR to "
			"a folder with space",
			folder_for_temp());
	else if (!archive_take_database(path, fd, err))
		db = store_open_as(copy, path, false, err);
	new_file_drop(copy);
	return db;
}

bool input_is_several(const char *path)
{
	struct database_set list RELEASED_BY(database_set_release) = { 0 };
	struct err ignored = { 0 };

	return path == several_name || input_is_followed(path) ||
	       ((access(path, F_OK) || path_is_folder(path)) &&
		database_set_expand(&list, path, &ignored) > 0);
}

/* Copies a path to buf, without the member of an archive at its end. */
static void input_cut_member(char buf[PATH_MAX], const char *path)
{
	snprintf(buf, PATH_MAX, "%.*s", (int)archive_in_path(path), path);
}

/* Returns whether a capture of a database has the name of a path, or is in the
 * archive of that name. */
static bool input_has_name(const char *capture, const char *path)
{
	char a[PATH_MAX];
	char b[PATH_MAX];

	input_cut_member(a, capture);
	input_cut_member(b, path);
	return !strcmp(path_name(a), path_name(b)) &&
	       (!path[strlen(b)] ||
		!strcmp(capture + strlen(a), path + strlen(b)));
}

/* Returns whether a capture, or a file of it if it is a folder, was modified
 * after a time, or is not there. */
static bool input_is_newer(const char *path, const struct timespec *than)
{
	char file[PATH_MAX];
	struct stat st;
	struct dirent *e;
	bool newer;
	DIR *dir OWNED_DIR = NULL;

	input_cut_member(file, path);
	path = file;
	if (stat(path, &st))
		return true;
	newer = input_is_after(&st.st_mtim, than);
	dir = newer || !S_ISDIR(st.st_mode) ? NULL : opendir(path);
	while (dir && !newer && (e = readdir(dir)) != NULL)
		newer = !fstatat(dirfd(dir), e->d_name, &st, 0) &&
			S_ISREG(st.st_mode) &&
			input_is_after(&st.st_mtim, than);
	return newer;
}

/* Prints a note for each capture that is newer than its database. A capture is
 * at its absolute path, if that is known, or next to the database. */
static void input_tell_newer(const char *path, struct store *db,
			     const struct stat *st)
{
	struct err ignored = { 0 };
	struct rows *r = rows_of(db, "report_captures", &ignored);
	char beside[PATH_MAX];

	while (rows_step(r)) {
		char capture[PATH_MAX];

		input_cut_member(capture, rows_text(r, REPORT_CAPTURES_PATH));
		int n = snprintf(beside, sizeof(beside), "%.*s%s",
				 (int)(path_base(path) - path), path,
				 path_name(capture));
		const char *at = capture[0] == '/' && !access(capture, F_OK)
					 ? capture
					 : beside;

		if (n < 0 || n >= (int)sizeof(beside) ||
		    !strcmp(capture, "-") || access(at, R_OK) ||
		    !input_is_newer(at, &st->st_mtim))
			continue;
		char *db_word OWNED = safe_text_word(path);
		char *word OWNED = safe_text_word(at);

		say_note(
			"%s: %s is newer; 'backstitch ingest -f -o %s %s' reads it "
			"again\n",
			path, at, db_word, word);
	}
	rows_end(r, &ignored);
}

/* The last database_open() ingested a capture. */
static bool input_made;

bool input_is_capture(void)
{
	return input_made;
}

struct store *database_open(const struct open_ask *ask, const char *path,
			    int *status, struct err *err)
{
	struct store *db = NULL;
	bool is_db = false;
	bool damaged = false;
	char *paths[] = { (char *)path };
	struct stat st;
	int ret = 0;

	input_made = false;
	if (path == several_name)
		return database_open_several(ask, &several_paths, err);
	if (clickhouse_is_url(path)) {
		/* Fetches the sums of a server. */
		struct merge_choice choice;
		const struct server_ask what = { .filter = ask->filter,
						 .detail = ask->detail,
						 .where = ask->where,
						 .choice = &choice,
						 .how = &ask->server };

		if (ask->filter)
			return database_set_choice(&ask->choice, &choice, err)
				       ? NULL
				       : server_open(path, &what, err);
		err_set(err, ERR_USAGE,
			"%.200s: this needs every event, and a server gives sums: "
			"report, flame, check, and export --format folded or pprof; "
			"for all else read the database that was pushed",
			path);
		return NULL;
	}
	if (access(path, F_OK) || path_is_folder(path))
		ret = database_open_folder(ask, path, &db, err);
	if (ret)
		return db;
	if (load_check(path, &is_db, err))
		return NULL;
	if (!is_db &&
	    !load_captures(paths, 1, &ask->load, &db, &damaged, err)) {
		input_made = true;
		if (damaged)
			*status = input_damaged(path);
		return db;
	}
	if (!is_db && err->code != ERR_BUNDLE)
		return NULL;
	db = is_db ? store_open(path, err) : database_open_bundle(path, err);
	if (db)
		store_on_stop(db, stop_requested);
	if (db && is_db && !stat(path, &st))
		input_tell_newer(path, db, &st);
	return db;
}

int database_open_side(const void *arg, const char *path, struct store **db,
		       struct symbolizer **files, int *status, struct err *err)
{
	const struct open_ask *ask = arg;

	*db = database_open(ask, path, status, err);
	if (*db && !stacks_served(*db, err))
		*files = name_symbolizer(&ask->load.name, *db, NULL, NULL);
	return *db ? 0 : -1;
}

struct store *database_from_args(const struct open_ask *ask, int argc,
				 char **argv, const char *out,
				 const char **path, int *status,
				 struct err *err)
{
	*path = input_path(ask, argc, argv, err);
	if (!*path || input_apart(*path, out, err))
		return NULL;
	for (size_t i = 0; *path == several_name && i < several_paths.n; i++)
		if (input_apart(several_paths.path[i], out, err))
			return NULL;
	return database_open(ask, *path, status, err);
}

/* Adds the databases that an argument names or, if there are none, the argument
 * itself as a capture. Returns 0, or -1 and *err. */
static int inputs_add(struct inputs *in, const char *path, struct err *err)
{
	int ret = database_set_expand(&in->list, path, err);

	if (!ret)
		*mem_add(in->list.path, in->list.n, in->list.cap) =
			mem_strdup(path);
	return ret < 0 ? -1 : 0;
}

int inputs_find(struct inputs *in, const struct open_ask *ask, int argc,
		char **argv, const char *out, struct err *err)
{
	const char *path;

	*in = (struct inputs){ .ask = ask, .status = STATUS_OK };
	if (database_set_chosen(&ask->choice))
		return err_set(err, ERR_USAGE,
			       "--from, --to, --since and --last choose from "
			       "databases that are read as one; these are read "
			       "one by one: use --time");
	if (!argc) {
		path = ask->input ? ask->input : input_path(ask, 0, NULL, err);
		if (!path || inputs_add(in, path, err))
			return -1;
	}
	for (int i = 0; i < argc; i++)
		if (inputs_add(in, argv[i], err))
			return -1;
	for (size_t i = 0; i < in->list.n; i++)
		if (input_apart(in->list.path[i], out, err))
			return -1;
	return 0;
}

int inputs_next(struct inputs *in, struct store **db, struct err *err)
{
	if (in->at == in->list.n)
		return 0;
	*db = database_open(in->ask, in->list.path[in->at++], &in->status, err);
	return *db ? 1 : -1;
}

void inputs_release(struct inputs *in)
{
	database_set_release(&in->list);
}

/* ---- the database of captures, in a file next to them */

/* Sets *db to the database in file `out` if it is that of the captures and not
 * older, or to NULL if it must be made. Returns 0, or -1 and *err if the file
 * is anything else. */
static int capture_db_reuse(const struct open_ask *ask, const char *out,
			    int argc, char **argv, bool again,
			    struct store **db, struct err *err)
{
	struct err ignored = { 0 };
	struct err why = { 0 };
	struct stat st;
	bool is_db = false;
	size_t same = 0;  /* arguments that the database has */
	size_t known = 0; /* its captures that are arguments */
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
			/* such as one cut off, whose captures are not known */
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
	/* a database with only some of the captures is made again with all */
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
	/* a bundle's database may be next to it */
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
