/* side_files.c - the files beside a database that SQLite reads with it. */
#include "schema/guard/side_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

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
	uint32_t pages;	       /* of the database that it brings back */
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

/* Returns the size of a page as the header says, 0 if that cannot be. */
static uint32_t side_page_size(const struct side_db *db)
{
	uint32_t n = side_u32(db->head, SIDE_HEAD, 16) >> 16;

	n = n == 1 ? PAGE_MAX : n;
	return side_is_size(n, PAGE_MIN) ? n : 0;
}

/* Returns the number of pages that the header of a database says, 0 if a
 * version of SQLite that does not know the field has changed it. */
static uint32_t side_pages(const unsigned char *head)
{
	return side_u32(head, SIDE_HEAD, 24) == side_u32(head, SIDE_HEAD, 92)
		       ? side_u32(head, SIDE_HEAD, 28)
		       : 0;
}

/* Returns what is wrong with a file beside a database, or NULL. SQLite follows
 * no link, but waits for a FIFO for ever, and overwrites or deletes what is
 * under another name too. */
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
static int side_look(const struct side_db *db, const char *name,
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

/* pager_cksum() of SQLite's pager.c: every 200th byte, from the end. */
static uint32_t journal_sum(const unsigned char *page, uint32_t size,
			    uint32_t nonce)
{
	for (uint32_t i = size; i > 200; i -= 200)
		nonce += page[i - 200];
	return nonce;
}

/* A page as it was: of a database of ours, and of this number of pages. */
static bool journal_is_first(const struct journal *j, const unsigned char *page)
{
	uint32_t pages = side_pages(page);

	return !memcmp(page, j->db->head, 24) &&
	       !memcmp(page + 68, j->db->head + 68, 4) &&
	       (!pages || pages == j->pages);
}

/* Reads a header, of which there is one after each time that the journal was
 * on disk, and its records. Returns the offset behind them, 0 where SQLite
 * finds no header, and -1 if it would put back only a part. */
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

/* A file whose first byte is 0 is what is left of a journal that is not needed.
 * One that names a super-journal does so at its end, behind all headers. */
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
	/* who changes the number of pages changes the first one */
	if (!j->has_first && was && was != j->pages)
		return journal_refuse(
			j, "is of another database, of another size", err);
	return 0;
}

int side_journal_check(const struct side_db *db, const char *name,
		       struct err *err)
{
	struct stat st;
	int ret = side_look(db, name, &st, err);

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

int side_files_check(const struct side_db *db, struct err *err)
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
		there = side_look(db, name, &st, err);
	}
	if (there > 0 && st.st_size)
		return err_set(err, ERR_FORMAT,
			       "%s: has changes by another program; 'PRAGMA "
			       "journal_mode=DELETE' in sqlite3 puts them into "
			       "the database",
			       name);
	return there < 0 ? -1 : 0;
}
