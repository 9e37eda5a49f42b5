/* side_files.h - the files beside a database that SQLite reads with it:
 * -journal, -wal and -shm.
 *
 * A rollback journal changes the database, and deletes what it names as its
 * super-journal, as soon as somebody who may write opens the database. So who
 * packs one beside a database acts as whoever opens it. The layout is in
 * "Database File Format" of SQLite, "The Rollback Journal". */
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct err;

#define SIDE_HEAD 100 /* bytes of a database's header */

/* The database that they are beside. */
struct side_db {
	const char *name; /* without links */
	uid_t owner;
	uint64_t size; /* of the file */
	unsigned char head[SIDE_HEAD];
};

/* Returns 0 if SQLite may be told to open the database: what is beside it are
 * regular files of one name, of the user or of the database's owner, and a
 * rollback with the journal would bring back a database of this size. Returns
 * -1 and *err, which names the file, for anything else. Opens no file that is
 * not regular, and reads the journal once. */
int side_files_check(const struct side_db *db, struct err *err);
/* The same of the journal alone, whose name SQLite says. */
int side_journal_check(const struct side_db *db, const char *name,
		       struct err *err);
