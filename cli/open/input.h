/* input.h - the database a command works on: given, or made from a capture. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/clickhouse/clickhouse.h"
#include "cli/ingest/load.h"
#include "cli/open/database_set.h"

struct err;
struct store;
struct filter;
struct symbolizer;

/* How the input of a command is found, opened or made. All pointers are
 * borrowed. All zeros: the defaults. */
struct open_ask {
	const char *input;    /* in place of the argument; NULL: none */
	struct load_ask load; /* how a capture is read */
	struct database_choice choice; /* which of several databases */
	/* For a command that reads only sums, and may get a server's URL: which
	 * samples, and enum server_detail, what sums distinguish. filter NULL:
	 * a URL is refused. */
	const struct filter *filter;
	unsigned int detail;
	const char *where; /* which runs of a server; NULL: all */
	struct clickhouse_options server;
};

/* Returns whether a path is several databases: a folder of them (also one that
 * 'follow' will fill), a pattern, or those that input_path() has found. */
bool input_is_several(const char *path);
/* Returns whether database_open() has ingested a capture, instead of opening
 * databases or a bundle. */
bool input_is_capture(void);
/* Returns whether a path is the URL of a server. */
bool input_is_server(const char *path);
/* Returns the path to read: the argument, else ask->input, else the newest of
 * perf.data and the databases in the current folder, which it prints on stderr.
 * Returns NULL and *err if there is none, or more than one argument. */
const char *input_path(const struct open_ask *ask, int argc, char **argv,
		       struct err *err);
/* Writes the name of a capture's database to buf and returns it: "dir/perf.db"
 * for "dir/perf.data.zst", but "perf.db" if it is not there and nothing can be
 * made in dir. */
const char *input_database_name(const char *path, char *buf, size_t size);
/* Returns -1 and *err if `out` (NULL, "-": no file) is the file that is read:
 * '-o perf.data' is an easy mistake. */
int input_apart(const char *in, const char *out, struct err *err);
/* Opens a database, or that in a bundle, or ingests a capture into a temporary
 * database. The caller closes it. Returns NULL and *err on failure. *status
 * becomes STATUS_DAMAGED if the capture is damaged. */
struct store *database_open(const struct open_ask *ask, const char *path,
			    int *status, struct err *err);
/* Does so for a side of a comparison: a compare_open_fn, whose ask is a struct
 * open_ask. */
int database_open_side(const void *ask, const char *path, struct store **db,
		       struct symbolizer **files, int *status, struct err *err);
/* Does input_path(), input_apart() and database_open(), and stores the path in
 * *path. Returns NULL and *err if one of them fails. */
struct store *database_from_args(const struct open_ask *ask, int argc,
				 char **argv, const char *out,
				 const char **path, int *status,
				 struct err *err);
/* The inputs that a command reads one by one. */
struct inputs {
	const struct open_ask *ask; /* borrowed */
	struct database_set list;
	size_t at;
	int status; /* STATUS_DAMAGED once a capture was damaged */
};
/* Finds the databases and captures that the arguments name: files, folders of
 * databases, patterns; or, without arguments, what input_path() finds. out is
 * as for input_apart(). Returns 0, or -1 and *err; to be released in either
 * case. */
int inputs_find(struct inputs *in, const struct open_ask *ask, int argc,
		char **argv, const char *out, struct err *err);
/* Opens the next input as database_open() does. Returns 1 and *db, 0 at the
 * end, or -1 and *err. */
int inputs_next(struct inputs *in, struct store **db, struct err *err);
void inputs_release(struct inputs *in);

/* ---- the database of captures, in a file next to them.
 *
 * The file is made if it is not there, is older than a capture, or is wanted
 * with other options; no -f is needed for that. */

/* Opens the database that is the only argument, those of a folder as one, or
 * the database of the captures that are the arguments: the file made before,
 * unless `again` is set, or a new one. Sets out, of PATH_MAX bytes, to its
 * path, or "" for a temporary database, if a file cannot be made or is not
 * wanted. Returns NULL and *err on failure. *status becomes STATUS_DAMAGED if a
 * capture is damaged. */
struct store *capture_db_open(const struct open_ask *ask, int argc, char **argv,
			      bool again, char *out, int *status,
			      struct err *err);
