/* database_set.h - merges databases into a file, or into a temporary database
 * that a command reads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct merge_choice;
struct merge_counts;
struct store;

/* Which of several databases are read: the values of the options of these
 * names; all zeros: all databases. */
struct database_choice {
	const char *from, *to, *since;
	long last;
};

/* Returns whether an option chooses some of the databases. */
bool database_set_chosen(const struct database_choice *o);

/* Parses the options. Returns 0, or -1 and *err if one is malformed. */
int database_set_choice(const struct database_choice *o, struct merge_choice *c,
			struct err *err);

/* A list of databases; all zeros is empty. */
struct database_set {
	char **path;
	size_t n, cap;
};
void database_set_release(struct database_set *list);
/* Adds what an argument names: a database, the databases of a folder, or those
 * that a pattern with * and ? matches. Returns 1, 0 if it names no database
 * (then nothing is added), or -1 and *err. */
int database_set_expand(struct database_set *list, const char *arg,
			struct err *err);

/* Merges the databases that were chosen. out NULL: into a temporary
 * database, or, of a single database, opens that one. Databases that are
 * removed before they were read, as by 'follow --keep', leave the list, and
 * stderr says so; with none left that is an error. Returns 0 and *db, which the
 * caller closes, or -1 and *err. */
int database_set_make(struct database_set *list,
		      const struct database_choice *o, const char *out,
		      bool force, struct store **db,
		      struct merge_counts *counts, struct err *err);
