/* input.c - the database a command works on: given, or made from a capture. */
#include "cli/input.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/ingest/load.h"
#include "cli/stop.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *input;

const struct opt ingest_opts[] = {
	OPT_STRING('i', "input", "FILE", &input,
		   "the database or capture to read, in place of the argument"),
	OPT_GROUP_TOLD(load_common_opts,
		       "and for a capture, those of 'backstitch ingest -h': "
		       "--symfs, --kallsyms, --debuginfod, --maps, ..."),
	{ .kind = OPT_END }
};

/* Returns whether a was modified after b, or at the same time. */
static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

/* Returns the newest of perf.data and the databases of the current folder, or
 * NULL. The name lives until the program ends. */
static const char *input_guess(void)
{
	static char name[NAME_MAX + 1];
	struct stat best, st;
	struct err ignored = { 0 };
	struct dirent *e;
	DIR *dir = opendir(".");
	bool is_db;

	if (stat("perf.data", &best) == 0)
		snprintf(name, sizeof(name), "perf.data");
	while (dir && (e = readdir(dir)) != NULL) {
		size_t n = strlen(e->d_name);

		if (n < 4 || strcmp(e->d_name + n - 3, ".db") != 0 ||
		    stat(e->d_name, &st) || !S_ISREG(st.st_mode) ||
		    (name[0] && !is_newer(&st, &best)) ||
		    load_check(e->d_name, &is_db, &ignored) || !is_db)
			continue;
		best = st;
		snprintf(name, sizeof(name), "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	return name[0] ? name : NULL;
}

/* Removes the suffix from name unless nothing is left. */
static void input_strip_suffix(char *name, const char *ending)
{
	size_t n = strlen(name);
	size_t len = strlen(ending);

	if (n > len && !strcmp(name + n - len, ending))
		name[n - len] = 0;
}

const char *input_database_name(const char *path, bool beside, char *buf,
				size_t size)
{
	size_t len = strlen(path);
	size_t start;
	size_t dir;

	snprintf(buf, size, "backstitch.db");
	if (!strcmp(path, "-"))
		return buf;
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (start = len; start && path[start - 1] != '/'; start--)
		;
	dir = beside ? start : 0;
	if (dir + len - start > size - 4)
		return buf;
	memcpy(buf, path + start - dir, dir + len - start);
	buf[dir + len - start] = 0;
	input_strip_suffix(buf + dir, ".gz");
	input_strip_suffix(buf + dir, ".zst");
	input_strip_suffix(buf + dir, ".data");
	input_strip_suffix(buf + dir, ".dat");
	if (!buf[dir] || !strcmp(buf + dir, ".") || !strcmp(buf + dir, "..")) {
		snprintf(buf, size, "backstitch.db");
		return buf;
	}
	len = strlen(buf);
	memcpy(buf + len, ".db", 4);
	return buf;
}

const char *input_path(int argc, char **argv, struct err *err)
{
	const char *path;

	if (argc + (input != NULL) > 1) {
		err_set(err, ERR_USAGE,
			"one database or capture at a time; put several "
			"captures into one with 'backstitch ingest'");
		return NULL;
	}
	if (argc)
		return argv[0];
	if (input)
		return input;
	path = input_guess();
	if (path)
		fprintf(stderr, "reading %s\n", path);
	else
		err_set(err, ERR_USAGE,
			"which database or capture? there is no database "
			"and no perf.data here; 'perf record -g -- ./prog' "
			"makes one");
	return path;
}

int input_apart(const char *in, const char *out, struct err *err)
{
	struct stat a, b;

	if (!out || stat(in, &a) || stat(out, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return 0;
	return err_set(err, ERR_USAGE,
		       "'%s' is what is read; name another file behind -o",
		       out);
}

int input_damaged(const char *path)
{
	fprintf(stderr,
		"%s: damaged, what could be read is used; 'backstitch info "
		"%s' says more\n",
		path, path);
	return STATUS_DAMAGED;
}

struct store *database_open(const char *path, int *status, struct err *err)
{
	struct store *db = NULL;
	bool is_db = false;
	bool damaged = false;
	char *paths[] = { (char *)path };

	if (load_check(path, &is_db, err))
		return NULL;
	if (is_db) {
		db = store_open(path, false, err);
		if (db)
			store_on_stop(db, stop_requested);
		return db;
	}
	if (load_captures(paths, 1, NULL, false, &db, &damaged, err))
		return NULL;
	if (damaged)
		*status = input_damaged(path);
	return db;
}

struct store *database_from_args(int argc, char **argv, const char *out,
				 const char **path, int *status,
				 struct err *err)
{
	*path = input_path(argc, argv, err);
	if (!*path || input_apart(*path, out, err))
		return NULL;
	return database_open(*path, status, err);
}
