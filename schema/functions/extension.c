/* extension.c - the entry of backstitch_sql.so, which brings our SQL functions
 * to any program that has SQLite: sqlite3 -cmd '.load backstitch_sql'.
 *
 * The only file that is not in the program itself. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "schema/functions/functions.h"
#include "schema/functions/hooks.h"

/* SQLite looks for this name: sqlite3_ and the letters of the file's. */
__attribute__((visibility("default"))) int
sqlite3_backstitchsql_init(sqlite3 *db, char **message,
			   const sqlite3_api_routines *api);

int sqlite3_backstitchsql_init(sqlite3 *db, char **message,
			       const sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	/* sqlite3_vtab_config(..., INNOCUOUS) came with 3.31, expressions
	 * over hidden columns with 3.9: older ones have other tables too */
	if (sqlite3_libversion_number() < 3031000) {
		*message = sqlite3_mprintf(
			"backstitch_sql needs SQLite 3.31, this is %s",
			sqlite3_libversion());
		return SQLITE_ERROR;
	}
	int rc = functions_add(db, &sql_hooks);

	/* SQLite replaces no function of its own while a statement runs */
	if (rc == SQLITE_BUSY)
		*message = sqlite3_mprintf(
			"backstitch_sql cannot be loaded by SELECT "
			"load_extension(), only by .load or "
			"sqlite3_load_extension()");
	return rc;
}
