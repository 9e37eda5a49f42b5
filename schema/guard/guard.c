/* guard.c - opens connections: the one place that does. */
#include "schema/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define SIDE_HEAD 100 /* bytes of a database's header */

/* The database next to which the files are. */
struct side_db {
	const char *name; /* without links */
	uid_t owner;
	uint64_t size; /* of the file */
	unsigned char head[SIDE_HEAD];
};

int problem_set(sqlite3 *db, const char *path, int rc, struct err *err)
{
	int sys = db ? sqlite3_system_errno(db) : 0;
	const char *name = path && *path ? path : "temporary database";

	/* rolling back needs permission to write */
	if (rc == SQLITE_READONLY_ROLLBACK)
		return err_set(err, ERR_IO,
			       "%s: the last change was interrupted; "
			       "'backstitch symbolize' undoes it, with the "
			       "file '%s-journal'",
			       name, name);
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return err_set(err, ERR_FULL, "%s: no space left on device",
			       name);
	case SQLITE_IOERR:
		if (sys == ENOSPC || sys == EDQUOT || sys == EFBIG)
			return err_set(err, ERR_FULL, "%s: %s", name,
				       strerror(sys));
		return err_set(err, ERR_IO, "%s: %s%s%s", name,
			       sqlite3_errstr(rc), sys ? ": " : "",
			       sys ? strerror(sys) : "");
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return err_set(err, ERR_IO, "%s: cannot open: %s", name,
			       sys ? strerror(sys) : sqlite3_errstr(rc));
	case SQLITE_NOTADB:
		return err_set(err, ERR_FORMAT, "%s: not a backstitch database",
			       name);
	case SQLITE_CORRUPT:
		return err_set(err, ERR_FORMAT,
			       "%s: the database is damaged; ingest the "
			       "capture again",
			       name);
	case SQLITE_INTERRUPT:
		return err_set(err, ERR_STOPPED, "%s: interrupted", name);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, ERR_DB,
			       "%s: another program is writing to it", name);
	default:
		return err_set(err, ERR_DB, "%s: %s", name,
			       db && sqlite3_errcode(db) != SQLITE_OK
				       ? sqlite3_errmsg(db)
				       : sqlite3_errstr(rc));
	}
}

static const char journal_magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
#define MAGIC 8
#define JOURNAL_HEAD 28 /* bytes of a header that are not 0 */
#define SECTOR_MIN 32u
#define PAGE_MIN 512u
#define PAGE_MAX 65536u

struct journal {
	const char *name;
	const struct side_db *db;
	int fd;
	uint64_t size;
	uint32_t page, sector; /* their sizes */
	uint32_t pages;	       /* of the database that it restores */
	bool has_first;	       /* the first page is in it */
	unsigned char buf[PAGE_MAX + 8];
};

static bool side_is_size(uint32_t n, uint32_t least)
{
	return n >= least && n <= PAGE_MAX && !(n & (n - 1));
}

/* Returns 0 if the header of a database is cut. */
static uint32_t side_u32(const void *p, size_t len, size_t off)
{
	uint32_t v = 0;
	struct bytes b;

	bytes_init(&b, p, len, NULL, 0, bytes_must_swap(true));
	bytes_peek_u32(&b, off, &v);
	return v;
}

/* Returns the page size in the header, or 0 if that is impossible. */
static uint32_t side_page_size(const struct side_db *db)
{
	uint32_t n = side_u32(db->head, SIDE_HEAD, 16) >> 16;

	n = n == 1 ? PAGE_MAX : n;
	return side_is_size(n, PAGE_MIN) ? n : 0;
}

/* Returns the number of pages in the header of a database, or 0 if a version of
 * SQLite that does not know the field has changed it. */
static uint32_t side_pages(const unsigned char *head)
{
	return side_u32(head, SIDE_HEAD, 24) == side_u32(head, SIDE_HEAD, 92)
		       ? side_u32(head, SIDE_HEAD, 28)
		       : 0;
}

/* Returns what is wrong with a file next to a database, or NULL. SQLite follows
 * no link, but waits for a FIFO for ever, and overwrites or deletes a file even
 * if it has another name too. */
static const char *side_wrong(const struct stat *st, uid_t owner)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		break;
	case S_IFLNK:
		return "is a link";
	case S_IFDIR:
		return "is a folder";
	case S_IFIFO:
		return "is a FIFO";
	case S_IFSOCK:
		return "is a socket";
	default:
		return "is a device";
	}
	if (st->st_nlink > 1)
		return "is a file that has another name too";
	if (st->st_uid != owner && st->st_uid != geteuid())
		return "belongs to another user";
	return NULL;
}

/* Returns 1 and *st if there is such a file, 0 if not, -1 and *err if SQLite
 * must not see it. */
static int side_check(const struct side_db *db, const char *name,
		      struct stat *st, struct err *err)
{
	if (lstat(name, st))
		/* SQLite cannot open a name that is too long either */
		return errno == ENOENT || errno == ENAMETOOLONG
			       ? 0
			       : err_set(err, ERR_IO, "%s: %s", name,
					 strerror(errno));
	const char *wrong = side_wrong(st, db->owner);

	return wrong ? err_set(err, ERR_FORMAT,
			       "%s: %s, needs to be a file of the database's "
			       "owner; move it away",
			       name, wrong)
		     : 1;
}

static int journal_refuse(const struct journal *j, const char *what,
			  struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s: %s; move it away, and if the database is damaged "
		       "without it, ingest the capture again",
		       j->name, what);
}

/* Reads n bytes, fewer at the end of the file. */
static size_t journal_read(const struct journal *j, uint64_t off, void *buf,
			   size_t n)
{
	ssize_t got = off > INT64_MAX ? 0 : pread(j->fd, buf, n, (off_t)off);

	return got < 0 ? 0 : (size_t)got;
}

/* SQLite's pager_cksum(): every 200th byte, from the end. */
static uint32_t journal_sum(const unsigned char *page, uint32_t size,
			    uint32_t nonce)
{
	for (uint32_t i = size; i > 200; i -= 200)
		nonce += page[i - 200];
	return nonce;
}

/* Returns whether a page is the old first one of this database, with this
 * number of pages. */
static bool journal_is_first(const struct journal *j, const unsigned char *page)
{
	uint32_t pages = side_pages(page);

	return !memcmp(page, j->db->head, 24) &&
	       !memcmp(page + 68, j->db->head + 68, 4) &&
	       (!pages || pages == j->pages);
}

/* Reads a header, of which there is one after each time that the journal was
 * synced to disk, and its records. Returns the offset after them, 0 where
 * SQLite finds no header, and -1 if it would restore only a part. */
static int64_t journal_read_part(struct journal *j, uint64_t off)
{
	unsigned char head[JOURNAL_HEAD];
	size_t record = j->page + 8;

	if (off + j->sector > j->size ||
	    journal_read(j, off, head, sizeof(head)) != sizeof(head) ||
	    memcmp(head, journal_magic, MAGIC) != 0)
		return 0;
	uint32_t n = side_u32(head, sizeof(head), 8);
	uint32_t nonce = side_u32(head, sizeof(head), 12);
	/* written without fsync(): as many records as there are */
	bool open_end = n == UINT32_MAX;

	off += j->sector;
	for (; n; n--, off += record) {
		if (journal_read(j, off, j->buf, record) != record ||
		    side_u32(j->buf, record, j->page + 4) !=
			    journal_sum(j->buf + 4, j->page, nonce))
			return open_end ? 0 : -1;
		uint32_t page = side_u32(j->buf, record, 0);
		if (!page || page > j->pages ||
		    (page == 1 && !journal_is_first(j, j->buf + 4)))
			return -1;
		j->has_first |= page == 1;
	}
	return (int64_t)((off + j->sector - 1) / j->sector * j->sector);
}

/* A file whose first byte is 0 is an old journal that is not needed. A
 * super-journal is named at the end of the file, after all headers. */
static int journal_read_all(struct journal *j, struct err *err)
{
	unsigned char head[JOURNAL_HEAD] = { 0 };
	unsigned char end[MAGIC];
	size_t n = journal_read(j, 0, head, sizeof(head));

	if (j->size >= 2 * MAGIC &&
	    journal_read(j, j->size - MAGIC, end, MAGIC) == MAGIC &&
	    !memcmp(end, journal_magic, MAGIC))
		return journal_refuse(
			j, "names another file, which SQLite would delete",
			err);
	if (!n || !head[0])
		return 0;
	if (memcmp(head, journal_magic, n < MAGIC ? n : MAGIC) != 0)
		return journal_refuse(j, "is no journal of SQLite", err);
	if (n < sizeof(head))
		return 0;
	j->pages = side_u32(head, n, 16);
	j->sector = side_u32(head, n, 20);
	j->page = side_u32(head, n, 24);
	if (!j->page || j->page != side_page_size(j->db) ||
	    !side_is_size(j->sector, SECTOR_MIN))
		return journal_refuse(
			j, "is of another database, with other pages", err);
	if (!j->pages || j->pages > j->db->size / j->page)
		return journal_refuse(
			j, "is of another database, of another size", err);
	int64_t at = 0;

	do
		at = journal_read_part(j, (uint64_t)at);
	while (at > 0);
	uint32_t was = side_pages(j->db->head);
	if (at < 0)
		return journal_refuse(j, "is damaged, or of another database",
				      err);
	/* a change of the number of pages changes the first page */
	if (!j->has_first && was && was != j->pages)
		return journal_refuse(
			j, "is of another database, of another size", err);
	return 0;
}

/* side_check() for the journal alone, under the name that SQLite uses. */
static int side_journal_check(const struct side_db *db, const char *name,
			      struct err *err)
{
	struct stat st;
	int ret = side_check(db, name, &st, err);

	if (ret <= 0)
		return ret;
	struct journal *j = mem_new(1, sizeof(*j));

	j->name = name;
	j->db = db;
	j->fd = open(name,
		     O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	j->size = (uint64_t)st.st_size;
	/* its writer may have deleted it meanwhile */
	if (j->fd >= 0)
		ret = journal_read_all(j, err);
	else
		ret = errno == ENOENT ? 0
				      : err_set(err, ERR_IO, "%s: %s", name,
						strerror(errno));
	if (j->fd >= 0)
		close(j->fd);
	free(j);
	return ret;
}

/* Returns 0 if SQLite may open the database: the files next to it are regular,
 * have one name, and belong to the user or the database's owner, and a rollback
 * with the journal would restore a database of this size. Returns -1 and *err,
 * which names the file, otherwise. Opens no file that is not regular, and reads
 * the journal once. */
static int side_files_check(const struct side_db *db, struct err *err)
{
	static const char *const tail[] = { "-shm", "-wal" };
	char name[PATH_MAX + 16];
	struct stat st = { 0 };
	int there = 0;

	snprintf(name, sizeof(name), "%s-journal", db->name);
	if (side_journal_check(db, name, err))
		return -1;
	for (size_t i = 0; there >= 0 && i < ARRAY_SIZE(tail); i++) {
		snprintf(name, sizeof(name), "%s%s", db->name, tail[i]);
		there = side_check(db, name, &st, err);
	}
	if (there > 0 && st.st_size)
		return err_set(err, ERR_FORMAT,
			       "%s: has changes by another program; 'PRAGMA "
			       "journal_mode=DELETE' in sqlite3 puts them into "
			       "the database",
			       name);
	return there < 0 ? -1 : 0;
}

/* Bytes of a value: of all that a schema has, and of payloads and texts. */
#define SCHEMA_LENGTH (1 << 20)
#define VALUE_LENGTH (256 << 20)
#define STATEMENT_LENGTH (1 << 20)

/* ---- files that SQLite opens
 *
 * The files next to the database are checked once before the first statement,
 * with messages for each kind, and the journal again whenever SQLite opens it.
 * An attacker who can write to the folder may still exchange it between the
 * check and SQLite's open(): then SQLite can wait for a FIFO, or restore pages
 * that the attacker chose, in a database that the attacker could have exchanged
 * as well. It cannot follow a link (O_NOFOLLOW), write into an existing file
 * when a journal is made (O_EXCL), open a super-journal, without which none is
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

static int guard_check_files(struct guard *g, struct side_db *side,
			     struct err *err)
{
	sqlite3_int64 size = 0;
	struct stat st;

	*side = (struct side_db){ .name = g->file };
	if (stat(g->file, &st))
		return err_set(err, ERR_IO, "%s: %s", g->file, strerror(errno));
	side->owner = st.st_uid;
	/* read through SQLite's descriptor: closing another one would end its
	 * locks */
	if (g->fd->pMethods->xFileSize(g->fd, &size))
		size = 0;
	side->size = (uint64_t)size;
	/* the missing rest of a header is 0 */
	g->fd->pMethods->xRead(g->fd, side->head, SIDE_HEAD, 0);
	return 0;
}

/* Checks the journal; `journal` NULL: the one next to the database. Tries
 * twice, as one writer may just have ended and the next one begun. */
static int guard_check_journal(struct guard *g, const char *journal,
			       struct side_db *side, struct err *err)
{
	int ret = -1;

	for (int i = 0; ret && i < 2; i++) {
		ret = guard_check_files(g, side, err);
		if (!ret)
			ret = journal ? side_journal_check(side, journal, err)
				      : side_files_check(side, err);
	}
	return ret;
}

/* xOpen of SQLite's file system: refuses files that the guard does not
 * allow. */
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
			"%s: is next to a database, and was not there when that "
			"was opened; move it away",
			name);
		return SQLITE_PERM;
	}
	/* not the journal of the copy that VACUUM INTO makes */
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) &&
	    sqlite3_filename_database(name) == g->file &&
	    guard_check_journal(g, name, &side, &why)) {
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
 * files next to it. The caller frees it. */
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

/* Checks the files next to the database, which SQLite has not opened yet. */
static int guard_inspect(struct guard *g, const char *name, bool write,
			 bool *wal, struct err *err)
{
	struct side_db side;

	if (guard_check_journal(g, NULL, &side, err))
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
	if (how == GUARD_READ || how == GUARD_WRITE) {
		struct guard *g = mem_new(1, sizeof(*g));

		/* starts SQLite, which fails only for want of memory */
		g->real = mem_must(sqlite3_vfs_find(NULL));
		/* its other calls do not look at the object */
		g->vfs = *g->real;
		g->vfs.pNext = NULL;
		g->vfs.xOpen = guard_vfs_open;
		g->vfs.zName = g->name;
		snprintf(g->name, sizeof(g->name), "guard-%p", (void *)g);
		*guard = g;
	}
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
	/* an unfinalized statement keeps both, which is then found as a leak */
	if (sqlite3_close(conn)) {
		sqlite3_close_v2(conn);
		return;
	}
	/* not earlier, since VACUUM INTO finds it by its name */
	if (guard)
		sqlite3_vfs_unregister(&guard->vfs);
	free(guard);
}
