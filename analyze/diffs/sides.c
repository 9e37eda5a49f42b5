/* sides.c - the recordings of a comparison. */
#include "analyze/diffs/sides.h"

#include <glob.h>
#include <sys/stat.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

void sides_release(struct sides *s)
{
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < s->side[i].n; k++)
			free(s->side[i].path[k]);
		free(s->side[i].path);
	}
	*s = (struct sides){ 0 };
}

/* Adds a file, or all files that match a pattern. */
static int sides_put_pattern(struct side *s, const char *arg, struct err *err)
{
	struct stat st;
	glob_t g;

	/* a server's URL may have these characters in a condition */
	if (!strpbrk(arg, "*?[") || strstr(arg, "://") || !stat(arg, &st)) {
		*mem_add(s->path, s->n, s->cap) = mem_strdup(arg);
		return 0;
	}
	if (glob(arg, 0, NULL, &g))
		return err_set(err, ERR_IO, "%s: no file matches", arg);
	for (size_t i = 0; i < g.gl_pathc; i++)
		*mem_add(s->path, s->n, s->cap) = mem_strdup(g.gl_pathv[i]);
	globfree(&g);
	return 0;
}

/* Takes the arguments of one side, and names it. A run must be given once. */
static int sides_take_one(struct side *s, int argc, char **argv,
			  struct err *err)
{
	for (int i = 0; i < argc; i++)
		if (sides_put_pattern(s, argv[i], err))
			return -1;
	if (s->n == 1)
		snprintf(s->name, sizeof(s->name), "%s", s->path[0]);
	else if (argc == 1)
		snprintf(s->name, sizeof(s->name), "%.150s (%zu runs)", argv[0],
			 s->n);
	else
		snprintf(s->name, sizeof(s->name), "%.150s and %zu other run%s",
			 s->path[0], s->n - 1, s->n == 2 ? "" : "s");
	/* the same run twice is not two measurements */
	struct stat a, b;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < i; k++)
			if (!stat(s->path[i], &a) && !stat(s->path[k], &b) &&
			    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				return err_set(err, ERR_USAGE,
					       "%s: given twice; a run counts "
					       "once",
					       s->path[i]);
	return 0;
}

int sides_take(struct sides *s, int argc, char **argv, int before,
	       struct err *err)
{
	if (before > 0 && before < argc)
		return sides_take_one(&s->side[0], before, argv, err) ||
				       sides_take_one(&s->side[1],
						      argc - before,
						      argv + before, err)
			       ? -1
			       : 0;
	if (argc != 2)
		return err_set(err, ERR_USAGE,
			       "two databases or captures are compared: "
			       "'BEFORE AFTER'; or several runs: "
			       "'BEFORE... -- AFTER...'");
	for (int i = 0; i < 2; i++) {
		*mem_add(s->side[i].path, s->side[i].n, s->side[i].cap) =
			mem_strdup(argv[i]);
		snprintf(s->side[i].name, sizeof(s->side[i].name), "%s",
			 argv[i]);
	}
	return 0;
}

int sides_hold(struct intern *held, struct store *db, const char *path,
	       struct err *err)
{
	struct rows *r = rows_of(db, "merge_known", err);
	const size_t before = held->n;
	bool again = false;

	while (rows_step(r))
		/* captures without events may be alike */
		if (rows_value(r, MERGE_KNOWN_FIRST_NS).kind == VALUE_INT)
			again |= intern_add(held,
					    rows_text(r, MERGE_KNOWN_CONTENT)) <
				 before;
	if (rows_end(r, err))
		return -1;
	return again ? err_set(err, ERR_USAGE,
			       "%s: an earlier run of this side has its "
			       "capture, too, and a run counts once; leave out "
			       "the captures, or their databases",
			       path)
		     : 0;
}
