/* problem.c - errors of SQLite as messages. */
#include "schema/guard/problem.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "stitch/base/err.h"

int problem_set(sqlite3 *db, const char *path, int rc, struct err *err)
{
	int sys = db ? sqlite3_system_errno(db) : 0;
	const char *name = path && *path ? path : "temporary database";

	/* only who may write can roll back */
	if (rc == SQLITE_READONLY_ROLLBACK)
		return err_set(err, ERR_IO,
			       "%s: the last change was interrupted; "
			       "'backstitch symbolize' undoes it, with the "
			       "file '%s-journal'",
			       name, name);
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return err_set(err, ERR_FULL, "%s: no space left on device",
			       name);
	case SQLITE_IOERR:
		if (sys == ENOSPC || sys == EDQUOT || sys == EFBIG)
			return err_set(err, ERR_FULL, "%s: %s", name,
				       strerror(sys));
		return err_set(err, ERR_IO, "%s: %s%s%s", name,
			       sqlite3_errstr(rc), sys ? ": " : "",
			       sys ? strerror(sys) : "");
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return err_set(err, ERR_IO, "%s: cannot open: %s", name,
			       sys ? strerror(sys) : sqlite3_errstr(rc));
	case SQLITE_NOTADB:
		return err_set(err, ERR_FORMAT, "%s: not a backstitch database",
			       name);
	case SQLITE_CORRUPT:
		return err_set(err, ERR_FORMAT,
			       "%s: the database is damaged; ingest the "
			       "capture again",
			       name);
	case SQLITE_INTERRUPT:
		return err_set(err, ERR_STOPPED, "%s: interrupted", name);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, ERR_DB,
			       "%s: another program is writing to it", name);
	default:
		return err_set(err, ERR_DB, "%s: %s", name,
			       db && sqlite3_errcode(db) != SQLITE_OK
				       ? sqlite3_errmsg(db)
				       : sqlite3_errstr(rc));
	}
}
