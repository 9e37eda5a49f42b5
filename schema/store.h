/* store.h - opens and closes a finished database for reading.
 *
 * store_open(), then named queries and SQL through rows.h. This header includes
 * what every reader needs. To make a database, or add names to one, use a
 * maker, see maker.h: its reader gets the connection from maker_read(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/db/addrs.h"
#include "schema/db/column_name.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"

struct store;

#define STORE_APPLICATION 0x62737463 /* "bstc" in the file's header */
#define SCHEMA_VERSION 17
/* The schema of release 1.0: databases since then can be read. */
#define SCHEMA_OLDEST 12

/* Opens a finished database. Refuses files that are not databases of this
 * program, and unknown schemas; what an older one lacks is NULL, or has no
 * rows. Returns NULL and *err on failure. */
struct store *store_open(const char *path, struct err *err);
/* store_open() with another name in messages, as a temporary database was made
 * from `name` or becomes it. writable: for maker_open(), which accepts no older
 * schema. */
struct store *store_open_as(const char *path, const char *name, bool writable,
			    struct err *err);
void store_close(struct store *db); /* NULL is allowed */
/* Closes the database in a variable when its scope ends. */
#define OWNED_STORE __attribute__((cleanup(store_owned)))
void store_owned(struct store **db);

/* Enough bytes of a file for store_is_database(). */
#define STORE_HEAD 100
/* Returns true if n bytes from the begin of a file are those of a database that
 * this program made. */
bool store_is_database(const void *head, size_t n);
/* Adds our SQL functions to the connection. Returns 0, or -1 and *err. */
int store_functions(struct store *db,
		    bool (*demangle)(const char *name, char *buf, size_t size),
		    struct err *err);
/* Lets statements end with an error once fn returns true; it is called now and
 * then while they run. */
void store_on_stop(struct store *db, bool (*fn)(void));
/* Ends the running statement, for Ctrl-C. May be called from a signal
 * handler. */
void store_interrupt(struct store *db);
