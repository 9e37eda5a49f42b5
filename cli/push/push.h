/* push.h - sends the runs of databases to a server, each row exactly once.
 *
 * Any error but Ctrl-C leaves blocks that are whole behind; pushing again sends
 * the others. The row of table run is the last one: a run without it is not
 * there yet. */
#pragma once
#include "cli/push/push_known.h"

struct err;
struct push;
struct push_server;
struct store;

/* s and o are borrowed. */
struct push *push_new(struct push_server *s, const struct push_options *o);
void push_free(struct push *p); /* NULL is fine */
/* Pushes the runs of a database, stacks and names. path is for messages on
 * stderr. Returns 0, or -1 and *err. */
int push_database(struct push *p, struct store *db, const char *path,
		  struct err *err);
/* Pushes the names of a database only. */
int push_database_names(struct push *p, struct store *db, struct err *err);
struct push_counts push_counts(const struct push *p);
