/* sqlite_api.h - SQLite's calls: linked in, or those of the program that
 * loads our extension. */
#ifndef SCHEMA_DB_SQLITE_API_H
#define SCHEMA_DB_SQLITE_API_H
#ifdef BACKSTITCH_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif
#endif
