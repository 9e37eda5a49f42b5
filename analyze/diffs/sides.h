/* sides.h - the recordings that a comparison is of: A and B, each one or
 * several runs. */
#pragma once
#include <stddef.h>

struct err;
struct intern;
struct store;

struct side {
	char **path; /* of the runs */
	size_t n, cap;
	char name[200]; /* what to call them */
};

struct sides {
	struct side side[2];
};

/* Takes the arguments of a comparison, of which the first `before` were before
 * "--"; 0 or less: there was none, and the arguments are two recordings. With
 * "--" each argument is a run, and each file that a pattern matches. *s is all
 * zeros; the caller releases it, also on failure. Returns 0, or -1 and *err. */
int sides_take(struct sides *s, int argc, char **argv, int before,
	       struct err *err);
void sides_release(struct sides *s);
/* Notes the captures that a run has. held: those of the earlier runs of its
 * side, all zeros at first; the caller releases it. Returns 0, or -1 and *err
 * if one of them was there, as in a capture and its database, which one pattern
 * may match: a run counts once. */
int sides_hold(struct intern *held, struct store *db, const char *path,
	       struct err *err);
