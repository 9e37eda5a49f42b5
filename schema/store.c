/* store.c - a database: created or opened, finished, closed. */
#include "schema/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/db/empty.h"
#include "schema/db/page_file.h"
#include "schema/db/page_format.h"
#include "schema/db/writer.h"
#include "schema/functions/functions.h"
#include "schema/guard/guard.h"
#include "schema/write/frame_names.h"
#include "schema/write/labels.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"

#define APPLICATION_ID 0x62737463 /* "bstc" in the file's header */

bool store_is_database(const void *head, size_t n)
{
	const char *id = (const char *)head + HEAD_APPLICATION;

	return n >= HEAD_APPLICATION + 4 &&
	       !memcmp(head, "SQLite format 3", 16) && !memcmp(id, "bstc", 4);
}

static int store_check_target(const char *path, bool force, struct err *err)
{
	struct stat st;

	if (!*path)
		return err_set(err, ERR_USAGE, "the output has no name");
	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "%s: %s", path,
						 strerror(errno));
	if (S_ISLNK(st.st_mode) && stat(path, &st))
		return err_set(err, ERR_IO,
			       "%s: a link that leads nowhere; "
			       "remove it first",
			       path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, "%s: is a folder", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO,
			       "%s: not a regular file; a "
			       "database needs one",
			       path);
	if (!force)
		return err_set(err, ERR_IO, "%s: exists; use -f to replace it",
			       path);
	return 0;
}

/* -f replaces databases only: a typing error must not destroy a capture. */
static int store_check_replaced(const char *path, struct err *err)
{
	unsigned char head[STORE_HEAD];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "%s: %s", path,
						 strerror(errno));
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	if (n > 0 && !store_is_database(head, (size_t)n))
		return err_set(err, ERR_IO,
			       "%s: exists and is no database of "
			       "backstitch; "
			       "-f does not replace it",
			       path);
	return 0;
}

/* Creates an empty file beside the target, with the permissions of the umask.
 */
static int store_make_temp(struct store *db, struct err *err)
{
	char *plain = db_plain_name(db->path);

	db->w->temp = new_file_temp(plain, 0666);
	if (!db->w->temp)
		err_set(err, err_code_of(errno),
			"%s: cannot create: %s; -o says where the database "
			"goes",
			db->path, strerror(errno));
	free(plain);
	return db->w->temp ? 0 : -1;
}

/* The cache is small because rows are appended and pages are written once. */
static const char setup[] = "PRAGMA journal_mode=OFF;"
			    "PRAGMA synchronous=OFF;"
			    "PRAGMA locking_mode=EXCLUSIVE;"
			    "PRAGMA cache_size=-6144;"
			    "PRAGMA secure_delete=OFF";

static int store_set_up(struct store *db, const struct store_opts *o,
			struct err *err)
{
	uint32_t page = o->large ? EMPTY_LARGE_PAGE : EMPTY_SMALL_PAGE;
	bool file = db->w->temp != NULL;

	/* the tables are written before SQLite opens the file */
	int error = file ? empty_write(db->w->temp, page) : 0;

	if (error)
		return err_set(err, err_code_of(error), "%s: %s", db->path,
			       strerror(error));
	db->db = guard_open(file ? db->w->temp : "", db->path, GUARD_MAKE,
			    &db->guard, err);
	if (!db->db)
		return -1;
	if (file && !o->no_pages)
		db->pages = page_file_new(db->db, db->w->temp, page,
					  PAGE_FILE_LOCK);
	if (!*db->path) {
		new_file_drop(db->w->temp);
		db->w->temp = NULL;
	}
	int rc = sqlite3_exec(db->db, setup, NULL, NULL, NULL);

	if (!rc)
		rc = file ? sqlite3_exec(db->db, "BEGIN", NULL, NULL, NULL)
			  : empty_by_sql(db->db, page);
	if (rc)
		return db_error(db, rc, err);
	tables_new(db);
	db->wr = writer_new(db->db, db->path, !o->no_thread);
	return words_write(db, err);
}

/* Returns the file that is to be made: a link to it stays. */
static char *store_target(const char *path)
{
	struct stat st;
	char *target = path && !lstat(path, &st) && S_ISLNK(st.st_mode)
			       ? realpath(path, NULL)
			       : NULL;

	return target ? target : mem_strdup(path ? path : "");
}

/* fields: see struct store_opts. */
static struct writing *writing_new(const struct frames *fr, const char *fields)
{
	struct writing *w = mem_new(1, sizeof(*w));

	w->fr = fr;
	if (fr)
		w->frame_names = frame_names_new();
	w->fields = fields_new(fields);
	return w;
}

/* Frees all but temp. NULL is fine. */
static void writing_free(struct writing *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_capture; i++) {
		struct capture_map *c = &w->capture[i];

		for (size_t j = 0; j < c->n_mark; j++)
			free(c->mark[j].name);
		free(c->mark);
		free(c->type);
	}
	free(w->capture);
	free(w->count);
	naming_free(w->naming);
	sample_groups_free(w->groups);
	sums_code_free(w->sums);
	mapped_code_free(w->mapped);
	frame_names_free(w->frame_names);
	deferral_free(w->deferral);
	fields_free(w->fields);
	table_release(&w->said);
	payload_rows_free(w->payload_rows);
	free(w->used);
	free(w->named);
	free(w->late);
	free(w->work);
	free(w);
}

static struct store *store_make(const char *path, const struct store_opts *o,
				const struct frames *fr, struct err *err)
{
	struct store *db = mem_new(1, sizeof(*db));

	db->path = store_target(path);
	db->making = true;
	db->writable = true;
	db->w = writing_new(fr, o->fields);
	db->w->force = o->force;
	db->w->compat = o->compat;
	/* without a path it is in the folder for temporary files, where a file
	 * is not needed */
	char near[PATH_MAX];

	if (!path && o->temp_dir &&
	    (size_t)snprintf(near, sizeof(near), "%s/backstitch.db",
			     o->temp_dir) < sizeof(near))
		db->w->temp = new_file_temp(near, 0600);
	if ((path && store_make_temp(db, err)) || store_set_up(db, o, err)) {
		store_close(db);
		return NULL;
	}
	return db;
}

struct store *store_create(const char *path, const struct store_opts *o,
			   const struct frames *fr, struct err *err)
{
	if (store_check_target(path, o->force, err) ||
	    (o->force && store_check_replaced(path, err)))
		return NULL;
	return store_make(path, o, fr, err);
}

struct store *store_create_temp(const struct store_opts *o,
				const struct frames *fr, struct err *err)
{
	return store_make(NULL, o, fr, err);
}

static int store_check_ours(struct store *db, struct err *err)
{
	int64_t id, version;

	if (db_number(db, "PRAGMA application_id", &id, err) ||
	    db_number(db, "PRAGMA user_version", &version, err))
		return -1;
	if (id != APPLICATION_ID)
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

static int store_begin_writing(struct store *db, struct err *err)
{
	if (db_exec(db,
		    "PRAGMA cell_size_check=ON;"
		    "PRAGMA cache_size=-8192; BEGIN IMMEDIATE",
		    err))
		return -1;
	guard_accept(db->db);
	tables_new(db);
	db->wr = writer_new(db->db, db->path, false);
	return symbol_rows_resume(db, err);
}

struct store *store_open_as(const char *path, const char *name, bool writable,
			    struct err *err)
{
	struct store *db = mem_new(1, sizeof(*db));

	db->path = mem_strdup(name);
	db->w = writing_new(NULL, NULL);
	db->writable = writable;
	db->db = guard_open(path, name, writable ? GUARD_WRITE : GUARD_READ,
			    &db->guard, err);
	if (db->db)
		sqlite3_busy_timeout(db->db, 2000);
	if (!db->db || store_check_ours(db, err) || views_check(db, err) ||
	    (writable ? store_begin_writing(db, err)
		      : db_exec(db,
				"PRAGMA cell_size_check=ON;"
				"PRAGMA cache_size=-16384",
				err) ||
				guard_reading(db, err))) {
		store_close(db);
		return NULL;
	}
	return db;
}

struct store *store_open(const char *path, bool writable, struct err *err)
{
	return store_open_as(path, path, writable, err);
}

/* Steps of SQLite's machine, of which it makes 10 to 50 million a second. */
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
	/* the writer thread must not use the connection any more */
	writer_free(db->wr);
	db->wr = NULL;

	char *temp = db->w->temp;

	writing_free(db->w);
	db_close(db);
	new_file_drop(temp);
}

int store_functions(struct store *db,
		    bool (*demangle)(const char *name, char *buf, size_t size),
		    struct err *err)
{
	if (db_drain(db, err))
		return -1;
	int rc = functions_add(db->db, demangle);

	return rc ? db_error(db, rc, err) : 0;
}

const char *const store_compat_tools[] = { "perf", "perfetto", NULL };

int store_compat(struct store *db, const char *tool, struct err *err)
{
	sqlite3_set_authorizer(db->db, NULL, NULL);
	if (db_exec(db, "PRAGMA query_only=OFF", err) ||
	    views_add_compat(db, tool, true, err))
		return -1;
	return guard_reading(db, err);
}

/* By SQLite's own descriptor: to close another one would end its locks. */
static int store_flush_file(struct store *db, struct err *err)
{
	sqlite3_file *file = NULL;
	int rc =
		new_file_waits()
			? sqlite3_file_control(db->db, "main",
					       SQLITE_FCNTL_FILE_POINTER, &file)
			: SQLITE_OK;

	if (!rc && file)
		rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	return rc ? db_error(db, rc, err) : 0;
}

static int store_put_in_place(struct store *db, struct err *err)
{
	static const char *const tail[] = { "-journal", "-wal", "-shm" };
	if (!db->w->temp)
		return 0;
	if (store_flush_file(db, err))
		return -1;
	/* SQLite would replay a journal that an older database of this name
	 * left into the new one. */
	for (size_t i = 0; i < ARRAY_SIZE(tail); i++) {
		char *name = mem_printf("%s%s", db->path, tail[i]);

		unlink(name);
		free(name);
	}
	return new_file_place(&db->w->temp, db->path, db->w->force, err);
}

/* Ends writing; a temporary database can only be read from now on. */
static int store_seal(struct store *db, struct err *err)
{
	char sql[128];

	snprintf(sql, sizeof(sql),
		 "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
		 APPLICATION_ID, SCHEMA_VERSION);
	/* forget the schema: views were added to it behind SQLite's back */
	if (db_exec(db, sql, err) ||
	    db_exec(db, "PRAGMA writable_schema=RESET", err))
		return -1;
	writer_free(db->wr);
	db->wr = NULL;
	for (size_t i = 0; i < db->n_table; i++)
		bulk_table_reset(db->table[i]);
	db->making = false;
	db->writable = false;
	return guard_reading(db, err);
}

int store_readable(struct store *db, struct err *err)
{
	return naming_end(db, err) || tables_link(db, err) ? -1 : 0;
}

int store_finish(struct store *db, struct ledger *lg, struct err *err)
{
	if (!db->writable)
		return 0;
	if (db->making && (store_flush(db, lg, err) || captures_end(db, err) ||
			   store_groups_end(db, err)))
		return -1;
	if (naming_end(db, err))
		return -1;
	if (db->making &&
	    (frame_names_write(db, true, err) || tables_link(db, err) ||
	     deferral_end(db, err) || flush_late_hashes(db, err) ||
	     db_exec(db, store_sql("loss_has_sum"), err) ||
	     db_exec(db, "PRAGMA writable_schema=ON", err) ||
	     views_add(db, sql_file("views"), err) ||
	     (db->w->compat &&
	      views_add_compat(db, db->w->compat, false, err))))
		return -1;
	bool label = db->w->renamed || (db->making && !db->w->labelled);

	if ((!db->w->sums &&
	     ((label && labels_make(db, err)) ||
	      (db->making && db_exec(db, sql_file("finish"), err)))) ||
	    sums_check(db, err))
		return -1;
	if (!db->making)
		return db_exec(db, "COMMIT", err) ? -1 : guard_reading(db, err);
	return store_seal(db, err) || store_put_in_place(db, err) ? -1 : 0;
}
