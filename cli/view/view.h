/* view.h - the answers of the other commands as screens on a terminal. */
#pragma once

struct err;
struct filter;
struct opt;
struct store;

#define VIEW_SIDES 64

/* What to show. */
struct view_what {
	struct store *db; /* NULL: the newest one in the folder live */
	const char *path; /* of db, for the commands that are run and named */
	const char *live;
	struct filter *filter;	/* which samples; the user changes it */
	const struct opt *opts; /* commands get those that were given */
	/* The recordings of a comparison, which is shown first, as 'diff' takes
	 * them; of fewer than VIEW_SIDES arguments, ends with NULL. NULL: none.
	 */
	const char *const *sides;
};

/* Shows it until the user leaves. Returns 0, or -1 and *err. */
int view_run(const struct view_what *what, struct err *err);
