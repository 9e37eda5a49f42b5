/* guard.c - the one place where connections are made. */
#include "schema/guard/guard.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "schema/guard/sqlite_api.h"
#include "schema/guard/problem.h"
#include "schema/guard/side_files.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Bytes of a value: of all that a schema has, and of payloads and texts. */
#define SCHEMA_LENGTH (1 << 20)
#define VALUE_LENGTH (256 << 20)
#define STATEMENT_LENGTH (1 << 20)

/* ---- files that SQLite opens
 *
 * What is beside the database is looked at once before the first statement,
 * with messages for each kind, and the journal again whenever SQLite opens it.
 * A rival who can write to the folder may still exchange it between that look
 * and SQLite's open(): then SQLite can wait for a FIFO, or put back pages that
 * the rival chose, in a database that the rival could have exchanged as well.
 * It cannot follow a link (O_NOFOLLOW), write into a file that is there when a
 * journal is made (O_EXCL), open a super-journal, without which none is
 * deleted, or use a -wal or -shm: these are refused here and not looked for. */

/* An sqlite3_vfs of one connection. */
struct guard {
	sqlite3_vfs vfs; /* the first, because SQLite hands out this address */
	sqlite3_vfs *real;
	char name[32];
	const char *file; /* SQLite's name of the database, without links */
	sqlite3_file *fd;
	struct err why; /* of the last file that was refused */
};

static int guard_look(struct guard *g, struct side_db *side, struct err *err)
{
	sqlite3_int64 size = 0;
	struct stat st;

	*side = (struct side_db){ .name = g->file };
	if (stat(g->file, &st))
		return err_set(err, ERR_IO, "%s: %s", g->file, strerror(errno));
	side->owner = st.st_uid;
	/* by SQLite's descriptor: to close another one would end its locks */
	if (g->fd->pMethods->xFileSize(g->fd, &size))
		size = 0;
	side->size = (uint64_t)size;
	/* the rest of a header that is cut is 0 */
	g->fd->pMethods->xRead(g->fd, side->head, SIDE_HEAD, 0);
	return 0;
}

/* Looks at the journal, or without a name at all that is beside the database:
 * twice, as a writer may just have ended and the next one begun. */
static int guard_look_beside(struct guard *g, const char *journal,
			     struct side_db *side, struct err *err)
{
	int ret = -1;

	for (int i = 0; ret && i < 2; i++) {
		ret = guard_look(g, side, err);
		if (!ret)
			ret = journal ? side_journal_check(side, journal, err)
				      : side_files_check(side, err);
	}
	return ret;
}

static int guard_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *fd,
			  int flags, int *out)
{
	struct guard *g = (struct guard *)vfs;
	struct side_db side;
	struct err why = { 0 };
	struct stat st;

	fd->pMethods = NULL;
	if (flags & (SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL)) {
		err_set(&g->why, ERR_FORMAT,
			"%s: is beside a database, and was not there when that "
			"was opened; move it away",
			name);
		return SQLITE_PERM;
	}
	/* not the journal of the copy that VACUUM INTO makes */
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) &&
	    sqlite3_filename_database(name) == g->file &&
	    guard_look_beside(g, name, &side, &why)) {
		g->why = why;
		return SQLITE_PERM;
	}
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) &&
	    (flags & SQLITE_OPEN_CREATE) && lstat(name, &st))
		flags |= SQLITE_OPEN_EXCLUSIVE;
	if ((flags & SQLITE_OPEN_MAIN_DB) && !g->file) {
		g->file = name;
		g->fd = fd;
	}
	return g->real->xOpen(g->real, name, fd, flags, out);
}

static struct guard *guard_new(void)
{
	struct guard *g = mem_new(1, sizeof(*g));

	/* starts SQLite, which fails only for want of memory */
	g->real = mem_must(sqlite3_vfs_find(NULL));
	/* its other calls do not look at the object */
	g->vfs = *g->real;
	g->vfs.pNext = NULL;
	g->vfs.xOpen = guard_vfs_open;
	g->vfs.zName = g->name;
	snprintf(g->name, sizeof(g->name), "guard-%p", (void *)g);
	return g;
}

const struct err *guard_refused(const struct guard *g)
{
	return g && g->why.code ? &g->why : NULL;
}

char *db_plain_name(const char *path)
{
	return mem_printf("%s%s", *path == '/' || *path == '.' ? "" : "./",
			  path);
}

/* Returns a URI that opens the file without writing anything, not even journal
 * files beside it. The caller frees it. */
static char *guard_uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	static const char head[] = "file:", tail[] = "?immutable=1";
	char *uri = mem_new(3 * strlen(path) + sizeof(head) + sizeof(tail), 1);
	char *at = uri + sizeof(head) - 1;

	memcpy(uri, head, sizeof(head));
	for (; *path; path++)
		at += snprintf(at, 4, strchr(plain, *path) ? "%c" : "%%%02X",
			       (unsigned char)*path);
	memcpy(at, tail, sizeof(tail));
	return uri;
}

static int guard_check_file(const char *path, const char *name, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "%s: not a regular file", name);
	if (!st.st_size)
		return err_set(err, ERR_FORMAT,
			       "%s: is empty, not a "
			       "backstitch database",
			       name);
	return 0;
}

void guard_start(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void guard_bind(sqlite3 *conn)
{
	sqlite3_db_config(conn, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(conn, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(conn, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(conn, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
	sqlite3_db_config(conn, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(conn, SQLITE_LIMIT_LENGTH, SCHEMA_LENGTH);
	sqlite3_limit(conn, SQLITE_LIMIT_SQL_LENGTH, STATEMENT_LENGTH);
	sqlite3_limit(conn, SQLITE_LIMIT_ATTACHED, 0);
}

void guard_accept(sqlite3 *conn)
{
	sqlite3_limit(conn, SQLITE_LIMIT_LENGTH, VALUE_LENGTH);
}

static sqlite3 *guard_connect(const char *path, const char *name,
			      enum guard_how how, struct guard *g,
			      struct err *err)
{
	static const int flags[] = {
		[GUARD_MAKE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		[GUARD_READ] = SQLITE_OPEN_READONLY,
		[GUARD_WRITE] = SQLITE_OPEN_READWRITE,
		[GUARD_AS_IS] = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
	};
	char *uri = how == GUARD_AS_IS	? guard_uri(path)
		    : how == GUARD_MAKE ? mem_strdup(path)
					: db_plain_name(path);
	sqlite3 *conn = NULL;
	int rc = g ? sqlite3_vfs_register(&g->vfs, 0) : SQLITE_OK;

	if (!rc)
		rc = sqlite3_open_v2(uri, &conn,
				     flags[how] | SQLITE_OPEN_NOMUTEX,
				     g ? g->name : NULL);
	free(uri);
	if (!rc) {
		sqlite3_extended_result_codes(conn, 1);
		return conn;
	}
	problem_set(conn, name, rc, err);
	sqlite3_close(conn);
	return NULL;
}

/* Looks at what is beside the database; SQLite has not done so yet. */
static int guard_inspect(struct guard *g, const char *name, bool write,
			 bool *wal, struct err *err)
{
	struct side_db side;

	if (guard_look_beside(g, NULL, &side, err))
		return -1;
	*wal = side.head[18] == 2 || side.head[19] == 2;
	return *wal && write
		       ? err_set(err, ERR_FORMAT,
				 "%s: is in WAL mode, in which it is only read; "
				 "'PRAGMA journal_mode=DELETE' in sqlite3 ends "
				 "that",
				 name)
		       : 0;
}

sqlite3 *guard_open(const char *path, const char *name, enum guard_how how,
		    struct guard **guard, struct err *err)
{
	bool wal = false;

	*guard = NULL;
	if (how != GUARD_MAKE && guard_check_file(path, name, err))
		return NULL;
	if (how == GUARD_READ || how == GUARD_WRITE)
		*guard = guard_new();
	sqlite3 *conn = guard_connect(path, name, how, *guard, err);
	int ret = conn ? 0 : -1;

	if (conn && *guard)
		ret = guard_inspect(*guard, name, how == GUARD_WRITE, &wal,
				    err);
	if (ret || wal) {
		guard_close(conn, *guard);
		*guard = NULL;
		/* what WAL mode is for would write -wal and -shm */
		conn = ret ? NULL
			   : guard_connect(path, name, GUARD_AS_IS, NULL, err);
	}
	if (conn && how != GUARD_MAKE)
		guard_bind(conn);
	return conn;
}

void guard_close(sqlite3 *conn, struct guard *guard)
{
	/* a statement that was forgotten keeps both, which is found as a leak
	 */
	if (sqlite3_close(conn)) {
		sqlite3_close_v2(conn);
		return;
	}
	/* not earlier, since VACUUM INTO finds it by its name */
	if (guard)
		sqlite3_vfs_unregister(&guard->vfs);
	free(guard);
}
