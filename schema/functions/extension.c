/* extension.c - the entry point of backstitch_sql.so, which adds our SQL
 * functions to any program that has SQLite: sqlite3 -cmd '.load
 * backstitch_sql'.
 *
 * This is the only file of the extension that is not in the program too. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "schema/functions/functions.h"

/* SQLite derives this name from the name of the file: sqlite3_, its letters,
 * _init. */
__attribute__((visibility("default"))) int
sqlite3_backstitchsql_init(sqlite3 *db, char **message,
			   const sqlite3_api_routines *api);

int sqlite3_backstitchsql_init(sqlite3 *db, char **message,
			       const sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	/* sqlite3_vtab_config(..., SQLITE_VTAB_INNOCUOUS) came with 3.31 */
	if (sqlite3_libversion_number() < 3031000) {
		*message = sqlite3_mprintf(
			"backstitch_sql needs SQLite 3.31, this is %s",
			sqlite3_libversion());
		return SQLITE_ERROR;
	}
	int rc = functions_add(db, sql_demangle);

	/* SQLite does not replace its functions while a statement runs */
	if (rc == SQLITE_BUSY)
		*message = sqlite3_mprintf(
			"backstitch_sql cannot be loaded by SELECT "
			"load_extension(), only by .load or "
			"sqlite3_load_extension()");
	return rc;
}
