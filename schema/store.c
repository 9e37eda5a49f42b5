/* store.c - opens and closes a finished database. */
#include "schema/store.h"

#include <inttypes.h>

#include "schema/db/db.h"
#include "schema/db/page_format.h"
#include "schema/db/sums_code.h"
#include "schema/functions/functions.h"
#include "schema/guard/guard.h"
#include "schema/views.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

bool store_is_database(const void *head, size_t n)
{
	const char *id = (const char *)head + HEAD_APPLICATION;

	return n >= HEAD_APPLICATION + 4 &&
	       !memcmp(head, "SQLite format 3", 16) && !memcmp(id, "bstc", 4);
}

static int store_check_ours(struct store *db, struct err *err)
{
	int64_t id, version;

	if (db_number(db, "PRAGMA application_id", &id, err) ||
	    db_number(db, "PRAGMA user_version", &version, err))
		return -1;
	if (id != STORE_APPLICATION)
		return err_set(err, ERR_FORMAT,
			       "%s: is an SQLite database of another program",
			       db->path);
	if (version > SCHEMA_VERSION)
		return err_set(err, ERR_FORMAT,
			       "%s: made by schema %" PRId64 ", this program "
			       "knows up to %d; use a newer backstitch",
			       db->path, version, SCHEMA_VERSION);
	if (version < 1)
		return err_set(err, ERR_FORMAT,
			       "%s: was never finished; "
			       "ingest the capture again",
			       db->path);
	if (version < (db->writable ? SCHEMA_VERSION : SCHEMA_OLDEST))
		return err_set(err, ERR_FORMAT,
			       "%s: made by an older backstitch (schema "
			       "%" PRId64 ", this program %s %d); ingest "
			       "the capture again",
			       db->path, version,
			       db->writable ? "writes" : "reads those since",
			       db->writable ? SCHEMA_VERSION : SCHEMA_OLDEST);
	db->older = version < SCHEMA_VERSION;
	return 0;
}

struct store *store_open_as(const char *path, const char *name, bool writable,
			    struct err *err)
{
	struct store *db = db_new(name);

	db->writable = writable;
	db->db = guard_open(path, name, writable ? GUARD_WRITE : GUARD_READ,
			    &db->guard, err);
	if (db->db)
		sqlite3_busy_timeout(db->db, 2000);
	if (!db->db || store_check_ours(db, err) || views_check(db, err) ||
	    (!writable && (db_exec(db,
				   "PRAGMA cell_size_check=ON;"
				   "PRAGMA cache_size=-16384",
				   err) ||
			   guard_reading(db, err)))) {
		store_close(db);
		return NULL;
	}
	return db;
}

struct store *store_open(const char *path, struct err *err)
{
	return store_open_as(path, path, false, err);
}

/* How many steps of SQLite's machine are between two checks; it makes 10 to 50
 * million a second. */
#define STOP_EVERY 100000

static int store_stopped(void *arg)
{
	const struct store *db = arg;

	return db->stop();
}

void store_on_stop(struct store *db, bool (*fn)(void))
{
	db->stop = fn;
	sqlite3_progress_handler(db->db, STOP_EVERY, store_stopped, db);
}

void store_interrupt(struct store *db)
{
	if (db && db->db)
		sqlite3_interrupt(db->db);
}

void store_close(struct store *db)
{
	if (!db)
		return;
	guard_close(db->db, db->guard);
	sums_code_free(db->sums);
	free_all(db->group, db->taking, db->path, db);
}

void store_owned(struct store **db)
{
	store_close(*db);
}

int store_functions(struct store *db,
		    bool (*demangle)(const char *name, char *buf, size_t size),
		    struct err *err)
{
	int rc = functions_add(db->db, demangle);

	return rc ? db_error(db, rc, err) : 0;
}
