/* db.c - the connection to a database. */
#include "schema/db/db.h"

#include "schema/guard/guard.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct store *db_new(const char *path)
{
	struct store *db = mem_new(1, sizeof(*db));

	db->path = mem_strdup(path);
	db->taking = mem_new(1, sizeof(*db->taking));
	return db;
}

bool db_refuses(const struct store *db, struct err *err)
{
	if (!db)
		return true;
	return db->filling &&
	       err_set(err, ERR_DB,
		       "%s: asked while rows are on their way into it; please "
		       "report this",
		       db->path);
}

int db_error(const struct store *db, int rc, struct err *err)
{
	const struct err *why = guard_refused(db->guard);

	if (!why)
		return problem_set(db->db, db->path, rc, err);
	if (err)
		*err = *why;
	return -1;
}

int db_unordered(const struct store *db, struct err *err)
{
	return err_set(err, ERR_DB,
		       "%s: the database is damaged: the ids of its rows are "
		       "not in order",
		       db->path);
}

int db_exec(const struct store *db, const char *sql, struct err *err)
{
	if (db_refuses(db, err))
		return -1;
	int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);

	return rc ? db_error(db, rc, err) : 0;
}

sqlite3_stmt *db_prepare(const struct store *db, const char *sql,
			 struct err *err)
{
	sqlite3_stmt *st = NULL;

	if (db_refuses(db, err))
		return NULL;
	int rc = sqlite3_prepare_v2(db->db, sql, -1, &st, NULL);

	if (rc)
		db_error(db, rc, err);
	return st;
}

int db_step(const struct store *db, sqlite3_stmt *st, struct err *err)
{
	if (db_refuses(db, err))
		return -1;
	int rc = sqlite3_step(st);

	if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
		db_error(db, rc, err);
		sqlite3_reset(st);
		return -1;
	}
	sqlite3_reset(st);
	return 0;
}

int db_number(const struct store *db, const char *sql, int64_t *out,
	      struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, sql, err);

	*out = 0;
	if (!st)
		return -1;
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	else if (rc != SQLITE_DONE)
		db_error(db, rc, err);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}
