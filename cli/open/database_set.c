/* database_set.c - merges databases into a file, or into a temporary database
 * that a command reads. */
#include "cli/open/database_set.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "analyze/callsites/callsites.h"
#include "cli/ingest/load.h"
#include "cli/output/folder.h"
#include "cli/output/say.h"
#include "stitch/text/parse_number.h"
#include "cli/version.h"
#include "schema/merge/merge.h"
#include "schema/maker.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/owned.h"

bool database_set_chosen(const struct database_choice *o)
{
	return o->from || o->to || o->since || o->last;
}

/* ---- the options */

#define NS 1000000000

static int database_set_time(const char *opt, const char *text, int64_t *out,
			     struct err *err)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *p = text;
	const char *rest = strptime(text, "%Y-%m-%d", &tm);

	if (rest && (*rest == ' ' || *rest == 'T')) {
		const char *clock = strptime(rest + 1, "%H:%M:%S", &tm);

		rest = clock ? clock : strptime(rest + 1, "%H:%M", &tm);
	}
	if (rest && !*rest &&
	    !__builtin_mul_overflow((int64_t)mktime(&tm), NS, out))
		return 0;
	if (parse_decimal(&p, 9, out) || *p)
		return err_set(err, ERR_USAGE,
			       "--%s needs seconds, or a time such as "
			       "'2026-11-21 10:00', not '%s'",
			       opt, text);
	return 0;
}

static int database_set_span(const char *text, int64_t *out, struct err *err)
{
	const char *p = text;

	/* a number without a unit is in seconds */
	if ((parse_duration(text, out) && (parse_decimal(&p, 9, out) || *p)) ||
	    !*out)
		return err_set(err, ERR_USAGE,
			       "--since needs a time such as 90s, 5m or 2h, "
			       "not '%s'",
			       text);
	return 0;
}

int database_set_choice(const struct database_choice *o, struct merge_choice *c,
			struct err *err)
{
	*c = (struct merge_choice){ .has_from = o->from,
				    .has_to = o->to,
				    .last = (size_t)o->last };
	if (o->from && database_set_time("from", o->from, &c->from, err))
		return -1;
	if (o->to && database_set_time("to", o->to, &c->to, err))
		return -1;
	return o->since ? database_set_span(o->since, &c->since, err) : 0;
}

/* ---- the databases */

void database_set_release(struct database_set *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->path[i]);
	free(list->path);
	*list = (struct database_set){ NULL, 0, 0 };
}

static void database_set_put(struct database_set *list, const char *path)
{
	*mem_add(list->path, list->n, list->cap) = mem_strdup(path);
}

/* Returns 1 if path is a database, 0 if not, or -1 and *err if the file cannot
 * be read, as its content would be missing from the answer. If the user named
 * the file, other errors, such as that it is empty, return -1, too. */
static int database_set_is_database(const char *path, bool named,
				    struct err *err)
{
	bool is_db = false;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (!load_check(path, &is_db, err))
		return is_db;
	/* 'follow --keep' may have removed it */
	return (named || err->code == ERR_IO) && !stat(path, &st) ? -1 : 0;
}

static int database_set_expand_folder(struct database_set *list,
				      const char *dir, struct err *err)
{
	DIR *d OWNED_DIR = opendir(dir);
	size_t before = list->n;
	size_t len = strlen(dir);
	struct dirent *e;
	int is_db = 0;

	if (!d)
		return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
	while (len > 1 && dir[len - 1] == '/')
		len--;
	while (is_db >= 0 && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);
		char *path OWNED = NULL;

		if (n < 4 || strcmp(e->d_name + n - 3, ".db") != 0)
			continue;
		path = mem_printf("%.*s/%s", (int)len, dir, e->d_name);
		is_db = database_set_is_database(path, false, err);
		if (is_db > 0)
			database_set_put(list, path);
	}
	if (is_db < 0)
		return -1;
	if (list->n == before)
		return 0;
	sort_items(list->path + before, list->n - before, compare_texts);
	return 1;
}

int database_set_expand(struct database_set *list, const char *arg,
			struct err *err)
{
	struct stat st;

	if (!strcmp(arg, "-"))
		return 0;
	if (stat(arg, &st)) {
		size_t before = list->n;
		int is_db = 0;
		glob_t g;

		if (!strpbrk(arg, "*?[") || glob(arg, 0, NULL, &g))
			return 0;
		for (size_t i = 0; is_db >= 0 && i < g.gl_pathc; i++) {
			is_db = database_set_is_database(g.gl_pathv[i], false,
							 err);
			if (is_db > 0)
				database_set_put(list, g.gl_pathv[i]);
		}
		globfree(&g);
		return is_db < 0 ? -1 : list->n > before;
	}
	if (S_ISDIR(st.st_mode))
		return database_set_expand_folder(list, arg, err);
	int is_db = database_set_is_database(arg, true, err);

	if (is_db > 0)
		database_set_put(list, arg);
	return is_db;
}

/* ---- merging */

/* Raises the limit of open files: databases that overlap are open together. */
static void database_set_allow_files(size_t n)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= n + 64)
		return;
	r.rlim_cur = r.rlim_max < n + 64 ? r.rlim_max : n + 64;
	setrlimit(RLIMIT_NOFILE, &r);
}

#define LARGE ((uint64_t)32 << 20)

static int database_set_read(struct merge *m, const struct database_set *list,
			     const struct database_choice *o, struct err *err)
{
	struct merge_choice choice;

	if (database_set_choice(o, &choice, err))
		return -1;
	for (size_t i = 0; i < list->n; i++)
		if (database_set_chosen(o)
			    ? merge_add_later(m, list->path[i], err)
			    : merge_add(m, list->path[i], err))
			return -1;
	return merge_choose(m, &choice, err) ? -1 : merge_load_chosen(m, err);
}

static int database_set_try(const struct database_set *list,
			    const struct database_choice *o, const char *out,
			    bool force, struct store **db,
			    struct merge_counts *counts, struct err *err)
{
	struct maker_opts so = { .temp_dir = folder_for_temp(),
				 .force = force };
	struct merge *m = merge_new();
	struct maker *mk;
	int rc = -1;

	*db = NULL;
	database_set_allow_files(list->n);
	if (database_set_read(m, list, o, err))
		goto out;
	if (!out && merge_only(m)) {
		*db = store_open(merge_only(m), err);
		rc = *db ? 0 : -1;
		goto out;
	}
	so.large = merge_bytes(m) >= LARGE;
	mk = out ? maker_create(out, &so, NULL, err)
		 : maker_create_temp(&so, NULL, err);
	if (!mk)
		goto out;
	progress_start("merging");
	if (merge_write(m, mk, counts, err) || callsites_judge_again(mk, err) ||
	    store_meta(mk, -1, "backstitch", VERSION, err))
		maker_free(mk);
	else
		*db = maker_finish(mk, NULL, err);
	rc = *db ? 0 : -1;
	progress_clear();
out:
	merge_free(m);
	return rc;
}

/* Drops databases from the list whose files were removed after they were found,
 * as by 'follow --keep', and prints a note. Returns whether there were any. */
static bool database_set_leave_removed(struct database_set *list)
{
	struct stat st;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (!stat(list->path[i], &st) || errno != ENOENT) {
			list->path[n++] = list->path[i];
			continue;
		}
		progress_clear();
		say_note("%s: was removed meanwhile, and is left out\n",
			 list->path[i]);
		free(list->path[i]);
	}
	bool some = n < list->n;

	list->n = n;
	return some;
}

int database_set_make(struct database_set *list,
		      const struct database_choice *o, const char *out,
		      bool force, struct store **db,
		      struct merge_counts *counts, struct err *err)
{
	int rc;

	/* it ends, as the list gets shorter each time */
	while ((rc = database_set_try(list, o, out, force, db, counts, err)) &&
	       database_set_leave_removed(list) && list->n)
		;
	return rc;
}
