/* sqlite_api.h - SQLite's functions: linked in, or those of the program that
 * loads backstitch_sql.so. */
#pragma once
#ifdef BACKSTITCH_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

/* Returns column i as text, valid until the next step; NULL for NULL. */
static inline const char *db_column_text(sqlite3_stmt *st, int i)
{
	return (const char *)sqlite3_column_text(st, i);
}
