/* sides.h - the recordings of a comparison: A and B, each of one or more runs.
 */
#pragma once
#include <stddef.h>

struct err;
struct intern;
struct store;

struct side {
	char **path; /* of each run */
	size_t n, cap;
	char name[200]; /* name of the side in messages */
};

struct sides {
	struct side side[2];
};

/* Takes the arguments of a comparison, the first `before` of which were before
 * "--"; 0 or less: there was none, and the arguments are two recordings. With
 * "--" each argument is a run, or a pattern whose files are runs. *s must be
 * all zeros; the caller releases it, also on failure. Returns 0, or -1 and
 * *err. */
int sides_take(struct sides *s, int argc, char **argv, int before,
	       struct err *err);
void sides_release(struct sides *s);
/* Notes the captures of a run. held: those of the earlier runs of its side, all
 * zeros at first; the caller releases it. Returns 0, or -1 and *err if it has
 * one of them already, as when a pattern matches a capture and its database: a
 * run counts once. */
int sides_hold(struct intern *held, struct store *db, const char *path,
	       struct err *err);
