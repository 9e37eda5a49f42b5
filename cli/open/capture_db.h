/* capture_db.h - the database of captures, in a file next to them.
 *
 * The file is made if it is not there, is older than a capture, or is wanted
 * with other options; no -f is needed for that. */
#pragma once
#include <stdbool.h>

struct err;
struct open_ask;
struct store;

/* Opens the database that is the only argument, or those of a folder as one, or
 * that of the captures that are the arguments: the one made before, unless
 * `again` says to read them again, or a new one. Writes its path to out, which
 * has PATH_MAX bytes: "" where no file can be made or is wanted, and the
 * database is a temporary one. Returns NULL and *err on failure. *status
 * becomes STATUS_DAMAGED if a capture is damaged.
 */
struct store *capture_db_open(const struct open_ask *ask, int argc, char **argv,
			      bool again, char *out, int *status,
			      struct err *err);
