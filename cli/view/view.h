/* view.h - the answers of the other commands as screens on a terminal. */
#pragma once

struct err;
struct filter;
struct opt;
struct store;

#define VIEW_SIDES 64

/* The database or comparison to show. */
struct view_what {
	struct store *db; /* NULL: the newest database in the folder `live` */
	const char *path; /* of db, an argument of commands that are run */
	const char *live; /* used if db is NULL */
	struct filter *filter; /* samples that are shown; the user changes it */
	const struct opt *opts; /* those given are passed on to commands */
	/* The arguments of 'diff', whose comparison is shown first: fewer than
	 * VIEW_SIDES, the last is NULL. NULL: no comparison. */
	const char *const *sides;
};

/* Shows `what` until the user leaves. Returns 0, or -1 and *err. */
int view_run(const struct view_what *what, struct err *err);
