/* store.c - a database being made: created, filled, finished, closed. */
#include "schema/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/inner.h"
#include "schema/db/problem.h"
#include "schema/db/writer.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* More text than this in one row is no name and no payload. */
#define ROW_MAX ((size_t)64 << 20)

static const struct bulk_shape shapes[T_FIXED] = {
	[T_PROCESS] = { "process", NULL, 6, true },
	[T_THREAD] = { "thread", NULL, 5, true },
	[T_COMM] = { "comm", NULL, 6, true },
	[T_IMAGE] = { "image",
		      "id,kind,path,build_id,maj,min,ino,ino_gen,start,len,"
		      "t0,process",
		      12, true },
	[T_MAPPING] = { "mapping", NULL, 10, true },
	[T_EVENT] = { "event", NULL, 10, true },
	[T_EVENT_RAW] = { "event_raw", NULL, 2, false },
	[T_EXTRA] = { "sample_extra", NULL, 3, false },
	[T_BRANCH] = { "branch", NULL, 5, false },
	[T_FRAME] = { "frame", "id,image,off,flags,symbol,symoff", 6, true },
	[T_STACK] = { "stack", NULL, 5, true },
	[T_PATH] = { "stack_path", NULL, 3, false },
	[T_RAW] = { "raw_chain", NULL, 5, true },
	[T_REQUEST] = { "request", NULL, 16, false },
	[T_CHAIN] = { "chain", NULL, 14, true },
	[T_CHAIN_COPY] = { "chain_copy", NULL, 4, false },
	[T_LOSS] = { "loss", NULL, 10, true },
	[T_ORDERING] = { "ordering",
			 "capture,what,time_ns,by_ns,cpu,n,off,detail", 8,
			 false },
	[T_DAMAGE] = { "damage", "capture,kind,what,off,len,n,detail", 7,
		       false },
	[T_SYMBOL] = { "symbol", NULL, 8, true },
	[T_INLINE] = { "inline_frame", NULL, 5, false },
	[T_JIT_CODE] = { "jit_code", NULL, 4, true },
	[T_JIT_LINE] = { "jit_line", NULL, 4, false },
	[T_GROUP] = { "sample_group", NULL, 7, false },
	[T_FINDING] = { "finding",
			"rule,capture,time_ns,since_ns,cpu,thread,event,loss,n",
			9, false },
	[T_GAP] = { "cookie_gap", "capture,cpu,first,n,t0,t1,verdict,loss", 8,
		    false },
	[T_COUNTER] = { "cookie_cpu", NULL, 10, false },
	[T_COOKIES] = { "cookies", NULL, 6, false },
};

int store_error(const struct store *db, int rc, struct err *err)
{
	return problem(db->db, db->path, rc, err);
}

int store_exec(struct store *db, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);

	return rc ? store_error(db, rc, err) : 0;
}

sqlite3_stmt *store_prepare(struct store *db, const char *sql, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->db, sql, -1, &st, NULL);

	if (rc)
		store_error(db, rc, err);
	return st;
}

int store_step(struct store *db, sqlite3_stmt *st, struct err *err)
{
	int rc = sqlite3_step(st);

	if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
		store_error(db, rc, err);
		sqlite3_reset(st);
		return -1;
	}
	sqlite3_reset(st);
	return 0;
}

int store_number(struct store *db, const char *sql, int64_t *out,
		 struct err *err)
{
	sqlite3_stmt *st = store_prepare(db, sql, err);

	*out = 0;
	if (!st)
		return -1;
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	else if (rc != SQLITE_DONE)
		store_error(db, rc, err);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

int store_table_add(struct store *db, const struct bulk_shape *shape)
{
	db->table = mem_grow(db->table, &db->cap_table, db->n_table + 1,
			     sizeof(*db->table));
	db->table[db->n_table++] = bulk_table_new(shape);
	return (int)db->n_table - 1;
}

void store_tables_new(struct store *db)
{
	for (unsigned int i = 0; i < T_FIXED; i++)
		store_table_add(db, &shapes[i]);
}

static int submit(struct store *db, struct bulk_table *t, struct err *err)
{
	struct block *b = t->open;

	t->open = NULL;
	return b ? writer_put(db->wr, b, err) : 0;
}

int store_drain(struct store *db, struct err *err)
{
	if (!db->wr)
		return 0;
	for (size_t i = 0; i < db->n_table; i++)
		if (submit(db, db->table[i], err))
			return -1;
	return writer_wait(db->wr, err);
}

int store_row(struct store *db, unsigned int i, size_t data, struct row *row,
	      struct err *err)
{
	struct bulk_table *t = db->table[i];

	if (__builtin_expect(!t->open || !block_fits(t->open, data), 0)) {
		if (data > ROW_MAX)
			return err_set(err, ERR_LIMIT,
				       "%s: a row of %zu bytes in '%s', at "
				       "most %zu are stored",
				       db->path, data, t->shape.name, ROW_MAX);
		if (submit(db, t, err))
			return -1;
		t->open = block_new(t, block_need(t, data));
	}
	block_row(t->open, row);
	return 0;
}

#define OPEN_MAX ((size_t)1 << 20)

int store_tidy(struct store *db, struct err *err)
{
	size_t open = 0;

	for (size_t i = 0; i < db->n_table; i++)
		if (db->table[i]->open)
			open += db->table[i]->open->size;
	if (open < OPEN_MAX)
		return 0;
	for (size_t i = T_FIXED; i < db->n_table; i++)
		if (submit(db, db->table[i], err))
			return -1;
	return 0;
}

/* ---- creating */

/* SQLite takes "file:x" and ":memory:" as more than names; ours are names. */
char *store_plain_name(const char *path)
{
	size_t n = strlen(path) + 3;
	char *out = mem_new(n, 1);

	snprintf(out, n, "%s%s", *path == '/' || *path == '.' ? "" : "./",
		 path);
	return out;
}

static int check_target(const char *path, bool force, struct err *err)
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

/* -f is for databases: a typing error must not replace a capture. */
static int check_replaced(const char *path, struct err *err)
{
	unsigned char head[16];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "%s: %s", path,
						 strerror(errno));
	n = read(fd, head, sizeof(head));
	close(fd);
	if (n > 0 && !store_is_database(head, (size_t)n))
		return err_set(err, ERR_IO,
			       "%s: exists and is no database; "
			       "-f does not replace it",
			       path);
	return 0;
}

/* A new empty file beside the target, with the user's own permissions. */
static int make_temp(struct store *db, struct err *err)
{
	char *plain = store_plain_name(db->path);
	size_t n = strlen(plain) + 48;
	int fd = -1;

	for (unsigned int i = 0; fd < 0 && i < 1000; i++) {
		free(db->temp);
		db->temp = mem_new(n, 1);
		snprintf(db->temp, n, "%s.%ld-%u.tmp", plain, (long)getpid(),
			 i);
		fd = open(db->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			  0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	free(plain);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	err_set(err, ERR_IO,
		"%s: cannot create: %s; -o says where the database goes",
		db->path, strerror(errno));
	free(db->temp);
	db->temp = NULL;
	return -1;
}

/* Rows of 30 to 60 bytes: pages of 16 KiB save an eighth of the writer's time,
 * but an empty database has forty of them. */
static const char small_pages[] = "PRAGMA page_size=4096";
static const char large_pages[] = "PRAGMA page_size=16384";

/* Ordinary tables, not STRICT, so that old shells open them. The cache is
 * small: rows are appended, pages are written once. */
static const char setup[] = "PRAGMA journal_mode=OFF;"
			    "PRAGMA synchronous=OFF;"
			    "PRAGMA locking_mode=EXCLUSIVE;"
			    "PRAGMA cache_size=-6144;"
			    "PRAGMA secure_delete=OFF;"
			    "PRAGMA encoding='UTF-8';"
			    "BEGIN";

static int set_up(struct store *db, const struct store_opts *o, struct err *err)
{
	int rc = sqlite3_open_v2(db->temp ? db->temp : "", &db->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
					 SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc)
		return store_error(db, rc, err);
	sqlite3_extended_result_codes(db->db, 1);
	rc = bulk_register(db->db, &db->bulk);
	if (rc)
		return store_error(db, rc, err);
	if (store_exec(db, o->large ? large_pages : small_pages, err) ||
	    store_exec(db, setup, err) ||
	    store_exec(db, sql_file("tables"), err) ||
	    naming_functions(db, err))
		return -1;
	store_tables_new(db);
	db->wr = writer_new(db->db, &db->bulk, db->path, !o->no_thread);
	return store_words(db, err);
}

static struct store *create(const char *path, const struct store_opts *o,
			    const struct frames *fr, struct err *err)
{
	struct store *db = mem_new(1, sizeof(*db));

	db->path = mem_strdup(path ? path : "");
	db->making = true;
	db->writable = true;
	db->force = o->force;
	db->fr = fr;
	db->fields = fields_new(o->fields);
	if ((path && make_temp(db, err)) || set_up(db, o, err)) {
		store_close(db);
		return NULL;
	}
	return db;
}

struct store *store_create(const char *path, const struct store_opts *o,
			   const struct frames *fr, struct err *err)
{
	if (check_target(path, o->force, err) ||
	    (o->force && check_replaced(path, err)))
		return NULL;
	return create(path, o, fr, err);
}

struct store *store_create_temp(const struct store_opts *o,
				const struct frames *fr, struct err *err)
{
	return create(NULL, o, fr, err);
}

void store_close(struct store *db)
{
	if (!db)
		return;
	writer_free(db->wr);
	naming_free(db->naming);
	tally_free(db->tally);
	fields_free(db->fields);
	for (size_t i = 0; i < db->n_table; i++)
		bulk_table_free(db->table[i]);
	sqlite3_close_v2(db->db);
	if (db->temp) {
		unlink(db->temp);
		free(db->temp);
	}
	store_captures_release(db);
	free(db->table);
	free(db->used);
	free(db->late);
	free(db->work);
	free(db->path);
	free(db);
}

/* ---- finishing */

/* A journal left beside an older database of this name would be taken for
 * ours and played back into it. */
static void remove_leftovers(const struct store *db)
{
	static const char *const tail[] = { "-journal", "-wal", "-shm" };
	size_t n = strlen(db->path) + 16;
	char *name = mem_new(n, 1);

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, n, "%s%s", db->path, tail[i]);
		unlink(name);
	}
	free(name);
}

static int put_in_place(struct store *db, struct err *err)
{
	if (!db->temp)
		return 0;
	remove_leftovers(db);

	unsigned int how = db->force ? 0 : RENAME_NOREPLACE;
	int rc = renameat2(AT_FDCWD, db->temp, AT_FDCWD, db->path, how);

	/* file systems without this flag: look first */
	if (rc && how && (errno == EINVAL || errno == ENOSYS)) {
		if (check_target(db->path, false, err))
			return -1;
		rc = rename(db->temp, db->path);
	}
	if (rc && errno == EEXIST)
		return check_target(db->path, false, err);
	if (rc)
		return err_set(err, ERR_IO,
			       "%s: cannot put the database in "
			       "its place: %s",
			       db->path, strerror(errno));
	free(db->temp);
	db->temp = NULL;
	return 0;
}

/* Nothing can be written any more; a temporary database is only read. */
static int seal(struct store *db, struct err *err)
{
	char sql[128];

	snprintf(sql, sizeof(sql),
		 "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
		 APPLICATION_ID, SCHEMA_VERSION);
	if (store_exec(db, sql, err))
		return -1;
	writer_free(db->wr);
	db->wr = NULL;
	for (size_t i = 0; i < db->n_table; i++)
		bulk_table_reset(db->table[i]);
	db->making = false;
	db->writable = false;
	return store_guard(db, err);
}

int store_finish(struct store *db, struct ledger *lg, struct err *err)
{
	if (!db->writable)
		return 0;
	if (db->making && (store_flush(db, lg, err) ||
			   store_captures_end(db, err) || tally_end(db, err)))
		return -1;
	if (naming_end(db, err) || store_drain(db, err))
		return -1;
	if (db->making &&
	    (store_late_hashes(db, err) ||
	     store_exec(db, sql_file("views"), err) ||
	     store_rule_views(db, err) || store_switch_view(db, err) ||
	     store_exec(db, sql_file("compat"), err)))
		return -1;
	if (store_exec(db, sql_file("finish"), err) || store_check(db, err))
		return -1;
	if (!db->making)
		return store_exec(db, "COMMIT", err) ? -1
						     : store_guard(db, err);
	return seal(db, err) || put_in_place(db, err) ? -1 : 0;
}
