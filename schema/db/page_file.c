/* page_file.c - writes pages of a database without SQLite.
 *
 * A page has a place, which never changes: the number of pages that were added
 * before it. Its page number, which is its position in the file, may change as
 * long as SQLite writes too; at[] has the number of each place. The file, by
 * numbers:
 *
 * 1 base gap next
 * | SQLite's | holes | our pages | not yet
 *
 * - Pages are collected in buf first. page_file_begin() then leaves the numbers
 * up to `gap` to SQLite, more than it needs soon, and begins after them.
 * - From then on SQLite's file has our methods for writing (page_watch): when
 * SQLite needs a number above gap, page_file_give_way() moves our pages there
 * to the end, and raises gap.
 * - When SQLite has committed its last page, `base`, page_file_attach()
 * restores SQLite's methods, and page_file_fill_gap() moves the last of our
 * pages into the holes: a database has none.
 *
 * Pages that point to others have places in them. A number is stored there when
 * the page is written, and once more at the end if that page has moved since
 * (page_pointer). */
#include "schema/db/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/db/page_format.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"
#include "stitch/files/write_all.h"

#define BUFFER ((size_t)256 << 10)
/* Room for pages that SQLite will write. */
#define GAP ((uint64_t)2 << 20)
/* SQLite's limit (SQLITE_MAX_PAGE_COUNT). */
#define PAGES_MAX 1073741823u
/* How many bytes are written before the disk is told to begin with them, so
 * that most is there when the file is flushed at the end. */
#define EARLY ((size_t)8 << 20)

/* A page number that is stored in another page. */
struct page_pointer {
	uint32_t place, off; /* where it is */
	uint32_t to;	     /* the place of the page it refers to */
	uint32_t wrote;	     /* the number that was written there */
};

/* Replaces the methods of SQLite's file. */
struct page_watch {
	sqlite3_io_methods methods; /* must be the first */
	const sqlite3_io_methods *own;
	sqlite3_file *file; /* NULL: not watched */
	struct page_file *pf;
};

struct page_file {
	sqlite3 *conn;
	uint32_t page_size;
	uint64_t lock;
	int fd; /* the database; -1: cannot be opened */
	unsigned char *buf;
	uint32_t room; /* pages in buf */
	uint32_t n;    /* pages that were added */
	uint32_t *at;  /* by place: the page's number, of those in the file */
	size_t n_at, cap_at;
	uint64_t began; /* size of the database at first */
	/* as in the picture above */
	uint32_t gap;  /* numbers up to this are left for SQLite; 0: they are
			* not known, and all pages are in buf */
	uint32_t next; /* number of the next page that goes into the file */
	struct page_pointer *pointer;
	size_t n_pointer, cap_pointer;
	size_t n_patched; /* pointers of pages in the file */
	size_t early;	  /* bytes since the disk was asked to begin */
	struct page_watch watch;
	unsigned char head[HEAD_SIZE];
	uint32_t base; /* pages that SQLite wrote; 0: before attach */
};

static uint32_t page_get32(const unsigned char *p)
{
	return (uint32_t)record_be(p, 4);
}

struct page_file *page_file_new(sqlite3 *conn, const char *path,
				uint32_t page_size, uint64_t lock)
{
	struct page_file *pf = mem_new(1, sizeof(*pf));
	struct stat st;

	pf->conn = conn;
	pf->page_size = page_size;
	pf->lock = lock;
	pf->room = (uint32_t)(BUFFER / page_size);
	pf->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	pf->began = fstat(pf->fd, &st) ? 0 : (uint64_t)st.st_size;
	return pf;
}

static void page_file_unwatch(struct page_file *pf)
{
	if (pf->watch.file)
		pf->watch.file->pMethods = pf->watch.own;
	pf->watch.file = NULL;
}

void page_file_free(struct page_file *pf)
{
	if (!pf)
		return;
	page_file_unwatch(pf);
	if (pf->fd >= 0)
		close(pf->fd);
	free_all(pf->pointer, pf->at, pf->buf, pf);
}

uint32_t page_file_page_size(const struct page_file *pf)
{
	return pf->page_size;
}

uint32_t page_file_pages(const struct page_file *pf)
{
	return pf->n;
}

/* Returns the SQLite result code for errno. */
static int page_file_error(void)
{
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG
		       ? SQLITE_FULL
		       : SQLITE_IOERR;
}

static uint64_t page_file_offset(const struct page_file *pf, uint32_t number)
{
	return (uint64_t)(number - 1) * pf->page_size;
}

static int page_file_write(struct page_file *pf, const void *p, size_t n,
			   uint64_t off)
{
	if (write_all_at(pf->fd, p, n, off))
		return page_file_error();
	pf->early += n;
	if (pf->early >= EARLY && new_file_waits())
		sync_file_range(pf->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	pf->early %= EARLY;
	return SQLITE_OK;
}

static int page_file_read(struct page_file *pf, void *p, size_t n, uint64_t off)
{
	unsigned char *to = p;

	while (n) {
		ssize_t done = pread(pf->fd, to, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return SQLITE_IOERR;
		to += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return SQLITE_OK;
}

static uint32_t page_file_lock_page(const struct page_file *pf)
{
	return (uint32_t)(pf->lock / pf->page_size + 1);
}

/* Returns the number that is so many steps after another. */
static uint32_t page_file_after(const struct page_file *pf, uint32_t number,
				uint32_t steps)
{
	uint32_t lock = page_file_lock_page(pf);
	uint32_t after = number + steps;

	return number < lock && after >= lock ? after + 1 : after;
}

/* Counts the numbers from a to b that pages can have. */
static uint32_t page_file_count(const struct page_file *pf, uint32_t a,
				uint32_t b)
{
	uint32_t lock = page_file_lock_page(pf);

	return a > b ? 0 : b - a + 1 - (lock >= a && lock <= b);
}

static void page_file_set_next(struct page_file *pf, uint32_t number)
{
	pf->next = number == page_file_lock_page(pf) ? number + 1 : number;
}

static int page_file_move(struct page_file *pf, uint32_t place, uint32_t to,
			  void *buf)
{
	int rc = page_file_read(pf, buf, pf->page_size,
				page_file_offset(pf, pf->at[place]));

	if (!rc)
		rc = page_file_write(pf, buf, pf->page_size,
				     page_file_offset(pf, to));
	pf->at[place] = to;
	return rc;
}

/* Moves pages to the end so that SQLite can write up to page number `last`. */
static int page_file_give_way(struct page_file *pf, uint32_t last)
{
	uint32_t gap = last > 2 * pf->gap ? last : 2 * pf->gap;
	void *buf = mem_new(1, pf->page_size);
	int rc = SQLITE_OK;

	if (pf->next <= gap)
		page_file_set_next(pf, gap + 1);
	for (size_t i = 0; !rc && i < pf->n_at; i++) {
		if (pf->at[i] > gap)
			continue;
		rc = page_file_move(pf, (uint32_t)i, pf->next, buf);
		page_file_set_next(pf, pf->next + 1);
	}
	pf->gap = gap;
	free(buf);
	return rc;
}

static int page_watch_write(sqlite3_file *file, const void *p, int n,
			    sqlite3_int64 off)
{
	const struct page_watch *w = (const void *)file->pMethods;
	struct page_file *pf = w->pf;
	uint64_t end = (uint64_t)off + (uint64_t)n;
	uint64_t last = (end + pf->page_size - 1) / pf->page_size;

	if (last > PAGES_MAX)
		return SQLITE_FULL;
	int rc = last > pf->gap ? page_file_give_way(pf, (uint32_t)last)
				: SQLITE_OK;

	return rc ? rc : w->own->xWrite(file, p, n, off);
}

/* SQLite would cut off our pages, which are after its last one */
static int page_watch_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_OK;
}

/* Starts to write after what SQLite has written so far, with a gap, and watches
 * what SQLite writes from now on. */
static int page_file_begin(struct page_file *pf)
{
	struct page_watch *w = &pf->watch;
	struct stat st;

	if (pf->fd < 0)
		return SQLITE_CANTOPEN;
	if (fstat(pf->fd, &st))
		return SQLITE_IOERR;
	uint64_t all = (uint64_t)st.st_size;
	uint64_t end = all - (all < pf->began ? all : pf->began) + GAP;

	/* GAP includes the first pages; no page that is there may be ours */
	pf->gap = (uint32_t)((end < all ? all : end) / pf->page_size);
	page_file_set_next(pf, pf->gap + 1);
	int rc = sqlite3_file_control(pf->conn, "main",
				      SQLITE_FCNTL_FILE_POINTER, &w->file);

	if (rc || !w->file || !w->file->pMethods) {
		w->file = NULL;
		return SQLITE_CANTOPEN;
	}
	w->own = w->file->pMethods;
	w->methods = *w->own;
	w->methods.xWrite = page_watch_write;
	w->methods.xTruncate = page_watch_truncate;
	w->pf = pf;
	w->file->pMethods = &w->methods;
	return SQLITE_OK;
}

/* Writes the pages in buf, as runs of consecutive numbers: there is a gap where
 * SQLite's locks are. */
static int page_file_flush(struct page_file *pf)
{
	uint32_t first = (uint32_t)pf->n_at;
	const unsigned char *from = pf->buf;
	int rc = pf->gap ? SQLITE_OK : page_file_begin(pf);

	if (rc)
		return rc;
	while (pf->n_at < pf->n) {
		*mem_add(pf->at, pf->n_at, pf->cap_at) = pf->next;
		page_file_set_next(pf, pf->next + 1);
	}
	/* Pointers get numbers. Those of pages that do not move later are
	 * right. */
	for (; pf->n_patched < pf->n_pointer; pf->n_patched++) {
		struct page_pointer *p = &pf->pointer[pf->n_patched];
		size_t i = p->place - first;

		p->wrote = p->to < pf->n ? pf->at[p->to] : pf->next;
		page_put32(pf->buf + i * pf->page_size + p->off, p->wrote);
	}
	for (uint32_t i = first, run; !rc && i < pf->n; i += run) {
		for (run = 1; i + run < pf->n; run++)
			if (pf->at[i + run] != pf->at[i] + run)
				break;
		rc = page_file_write(pf, from, (size_t)run * pf->page_size,
				     page_file_offset(pf, pf->at[i]));
		from += (size_t)run * pf->page_size;
	}
	return rc;
}

int page_file_add(struct page_file *pf, const void *page)
{
	int rc = SQLITE_OK;

	if (!pf->buf)
		pf->buf = mem_new(pf->room, pf->page_size);
	if (pf->n - pf->n_at == pf->room)
		rc = page_file_flush(pf);
	if (rc)
		return rc;
	if (pf->n >= PAGES_MAX / 2)
		return SQLITE_FULL;
	memcpy(pf->buf + (size_t)(pf->n++ - pf->n_at) * pf->page_size, page,
	       pf->page_size);
	return SQLITE_OK;
}

void page_file_pointer(struct page_file *pf, uint32_t off)
{
	const unsigned char *page =
		pf->buf + (size_t)(pf->n - 1 - pf->n_at) * pf->page_size;

	*mem_add(pf->pointer, pf->n_pointer, pf->cap_pointer) =
		(struct page_pointer){ pf->n - 1, off, page_get32(page + off),
				       0 };
}

/* Moves our pages to the numbers after SQLite's last page, as a database has no
 * holes.
 *
 * The numbers from base + 1 to gap were left for SQLite, which did not need
 * them: these are the holes. Each number after the gap and before next belongs
 * to one of our pages, as page_file_flush() and page_file_give_way() assign
 * them one after the other. So the pages with the highest numbers move, as many
 * as there are holes, or all of them if there are more holes than pages. They
 * move from numbers after the gap to numbers up to it: none overwrites another
 * page that has to move. */
static int page_file_fill_gap(struct page_file *pf)
{
	uint32_t holes = page_file_count(pf, pf->base + 1, pf->gap);
	uint32_t moving = holes < pf->n_at ? holes : (uint32_t)pf->n_at;
	uint32_t hole = page_file_after(pf, pf->base, 1); /* the lowest one */
	uint32_t stay = pf->next; /* pages with numbers below this one stay */
	void *buf = mem_new(1, pf->page_size);
	int rc = SQLITE_OK;

	while (page_file_count(pf, stay, pf->next - 1) < moving)
		stay--;
	for (size_t i = 0; !rc && i < pf->n_at; i++) {
		if (pf->at[i] < stay)
			continue;
		rc = page_file_move(pf, (uint32_t)i, hole, buf);
		hole = page_file_after(pf, hole, 1);
	}
	/* if all pages moved, there may be holes after them */
	page_file_set_next(pf, moving == pf->n_at ? hole : stay);
	free(buf);
	return rc;
}

int page_file_attach(struct page_file *pf)
{
	int rc = pf->fd < 0 ? SQLITE_CANTOPEN
		 : pf->gap  ? page_file_flush(pf)
			    : SQLITE_OK;

	if (rc)
		return rc;
	page_file_unwatch(pf);
	if (page_file_read(pf, pf->head, sizeof(pf->head), 0))
		return SQLITE_CORRUPT;
	pf->base = page_get32(pf->head + HEAD_PAGES);
	if (page_size_of(pf->head) != pf->page_size ||
	    pf->head[HEAD_RESERVED] || page_get32(pf->head + HEAD_AUTOVACUUM) ||
	    !pf->base || pf->base > PAGES_MAX / 2)
		return SQLITE_CORRUPT;
	if (pf->n_at)
		return page_file_fill_gap(pf);
	pf->gap = pf->base;
	page_file_set_next(pf, pf->base + 1);
	return SQLITE_OK;
}

uint32_t page_file_number(const struct page_file *pf, uint32_t place)
{
	return place < pf->n_at ? pf->at[place]
				: page_file_after(pf, pf->next,
						  place - (uint32_t)pf->n_at);
}

int page_file_root(struct page_file *pf, uint32_t root, const void *page)
{
	uint64_t off = page_file_offset(pf, root);
	unsigned char now[5];
	unsigned char type = *(const unsigned char *)page | 8;

	if (root < 2 || root > pf->base ||
	    page_file_read(pf, now, sizeof(now), off) || now[0] != type ||
	    now[3] || now[4])
		return SQLITE_CORRUPT;
	return page_file_write(pf, page, pf->page_size, off);
}

int page_file_finish(struct page_file *pf)
{
	int rc = pf->n > pf->n_at ? page_file_flush(pf) : SQLITE_OK;

	/* correct the numbers of pages that moved since they were written */
	for (size_t i = 0; !rc && i < pf->n_pointer; i++) {
		const struct page_pointer *p = &pf->pointer[i];
		unsigned char number[4];

		if (pf->at[p->to] == p->wrote)
			continue;
		page_put32(number, pf->at[p->to]);
		rc = page_file_write(pf, number, sizeof(number),
				     page_file_offset(pf, pf->at[p->place]) +
					     p->off);
	}
	if (!rc) {
		/* Writes the number of pages. The change counter shows a
		 * connection with an open database that its copies of pages are
		 * old. */
		uint32_t changes = page_get32(pf->head + HEAD_CHANGES) + 1;
		uint32_t last = pf->next - 1;

		if (last == page_file_lock_page(pf))
			last--;
		page_put32(pf->head + HEAD_CHANGES, changes);
		page_put32(pf->head + HEAD_VALID_FOR, changes);
		page_put32(pf->head + HEAD_PAGES, last);
		rc = ftruncate(pf->fd, (off_t)page_file_offset(pf, last + 1))
			     ? page_file_error()
			     : page_file_write(pf, pf->head, sizeof(pf->head),
					       0);
	}
	if (close(pf->fd) && !rc)
		rc = page_file_error();
	pf->fd = -1;
	return rc;
}
