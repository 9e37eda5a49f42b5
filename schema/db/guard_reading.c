/* guard_reading.c - restricts a connection to reading.
 *
 * A database may come from anywhere. Nothing in its schema may call a function
 * with side effects, and no statement may write, attach or load. */
#include "schema/db/db.h"

#include <string.h>

#include "schema/guard/guard.h"

/* Returns true for pragmas that change nothing. */
static bool guard_is_telling(const char *pragma, const char *arg)
{
	static const char *const with_arg[] = {
		"table_info",  "table_xinfo",	   "index_info", "index_list",
		"index_xinfo", "foreign_key_list", NULL,
	};
	static const char *const bare[] = {
		"table_list",
		"database_list",
		"collation_list",
		"compile_options",
		"function_list",
		"user_version",
		"application_id",
		"page_size",
		"page_count",
		"encoding",
		"schema_version",
		"freelist_count",
		NULL,
	};

	for (size_t i = 0; with_arg[i]; i++)
		if (!sqlite3_stricmp(pragma, with_arg[i]))
			return true;
	for (size_t i = 0; !arg && bare[i]; i++)
		if (!sqlite3_stricmp(pragma, bare[i]))
			return true;
	return false;
}

static int guard_authorize(void *arg, int what, const char *a, const char *b,
			   const char *db, const char *trigger)
{
	(void)arg;
	(void)db;
	(void)trigger;
	switch (what) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return !b || (sqlite3_stricmp(b, "load_extension") &&
			      sqlite3_stricmp(b, "fts3_tokenizer"))
			       ? SQLITE_OK
			       : SQLITE_DENY;
	case SQLITE_UPDATE:
		/* SQLite makes this check when it declares json_each() and the
		 * like; query_only and "defensive" refuse a real UPDATE */
		return a && !strcmp(a, "sqlite_master") ? SQLITE_OK
							: SQLITE_DENY;
	case SQLITE_PRAGMA:
		return guard_is_telling(a, b) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

int guard_reading(const struct store *db, struct err *err)
{
	if (db_exec(db,
		    "PRAGMA query_only=ON;"
		    "PRAGMA temp_store=FILE",
		    err))
		return -1;
	guard_bind(db->db);
	guard_accept(db->db);
	sqlite3_set_authorizer(db->db, guard_authorize, NULL);
	return 0;
}
