/* page_file.c - pages of a database that are written without SQLite. */
#include "schema/db/page_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "stitch/base/path.h"
#include "stitch/base/temp.h"

#define BUFFER ((size_t)256 << 10)
/* SQLite's limit (SQLITE_MAX_PAGE_COUNT). */
#define PAGES_MAX 1073741823u

/* Offsets in the header of a database. */
enum {
	HEAD_PAGE_SIZE = 16,
	HEAD_RESERVED = 20,
	HEAD_CHANGES = 24,
	HEAD_PAGES = 28,
	HEAD_AUTOVACUUM = 52,
	HEAD_VALID_FOR = 92,
	HEAD_SIZE = 100
};

struct page_pointer {
	uint32_t place, off;
};

struct page_file {
	char *path;
	uint32_t page_size;
	uint64_t lock;
	int spool; /* -1: all pages are in buf */
	unsigned char *buf;
	uint32_t n, spooled; /* pages; of them, in the spool */
	uint32_t room;	     /* pages in buf */
	struct page_pointer *pointer;
	size_t n_pointer, cap_pointer;
	int db; /* -1: not attached */
	unsigned char head[HEAD_SIZE];
	uint32_t base; /* pages that SQLite wrote */
};

void page_put16(unsigned char *to, uint32_t v)
{
	to[0] = (unsigned char)(v >> 8);
	to[1] = (unsigned char)v;
}

void page_put32(unsigned char *to, uint32_t v)
{
	v = htobe32(v);
	memcpy(to, &v, sizeof(v));
}

static uint32_t page_get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

struct page_file *page_file_new(const char *path, uint32_t page_size,
				uint64_t lock)
{
	struct page_file *pf = mem_new(1, sizeof(*pf));

	pf->path = mem_strdup(path);
	pf->page_size = page_size;
	pf->lock = lock;
	pf->room = (uint32_t)(BUFFER / page_size);
	pf->spool = pf->db = -1;
	return pf;
}

void page_file_free(struct page_file *pf)
{
	if (!pf)
		return;
	if (pf->spool >= 0)
		close(pf->spool);
	if (pf->db >= 0)
		close(pf->db);
	free(pf->pointer);
	free(pf->buf);
	free(pf->path);
	free(pf);
}

uint32_t page_file_page_size(const struct page_file *pf)
{
	return pf->page_size;
}

uint32_t page_file_pages(const struct page_file *pf)
{
	return pf->n;
}

/* Returns the result code for errno. */
static int page_file_error(void)
{
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG
		       ? SQLITE_FULL
		       : SQLITE_IOERR;
}

static int page_file_write(int fd, const void *p, size_t n, uint64_t off)
{
	const unsigned char *from = p;

	while (n) {
		ssize_t done = pwrite(fd, from, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return page_file_error();
		if (!done)
			return SQLITE_FULL;
		from += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return SQLITE_OK;
}

static int page_file_read(int fd, void *p, size_t n, uint64_t off)
{
	unsigned char *to = p;

	while (n) {
		ssize_t done = pread(fd, to, n, (off_t)off);

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

/* The spool is beside the database, where there is room for it. */
static int page_file_open_spool(struct page_file *pf)
{
	size_t n = (size_t)(path_base(pf->path) - pf->path);
	char *dir = n ? mem_dup(pf->path, n) : mem_strdup(".");

	pf->spool = temp_open(dir);
	free(dir);
	return pf->spool < 0 ? page_file_error() : SQLITE_OK;
}

static int page_file_spool(struct page_file *pf)
{
	int rc = pf->spool < 0 ? page_file_open_spool(pf) : SQLITE_OK;

	if (!rc)
		rc = page_file_write(pf->spool, pf->buf,
				     (size_t)(pf->n - pf->spooled) *
					     pf->page_size,
				     (uint64_t)pf->spooled * pf->page_size);
	if (!rc)
		pf->spooled = pf->n;
	return rc;
}

int page_file_add(struct page_file *pf, const void *page)
{
	int rc = SQLITE_OK;

	if (!pf->buf)
		pf->buf = mem_new(pf->room, pf->page_size);
	if (pf->n - pf->spooled == pf->room)
		rc = page_file_spool(pf);
	if (rc)
		return rc;
	if (pf->n >= PAGES_MAX)
		return SQLITE_FULL;
	memcpy(pf->buf + (size_t)(pf->n++ - pf->spooled) * pf->page_size, page,
	       pf->page_size);
	return SQLITE_OK;
}

void page_file_pointer(struct page_file *pf, uint32_t off)
{
	*mem_add(pf->pointer, pf->n_pointer, pf->cap_pointer) =
		(struct page_pointer){ pf->n - 1, off };
}

int page_file_attach(struct page_file *pf)
{
	uint32_t size;

	pf->db = open(pf->path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (pf->db < 0)
		return SQLITE_CANTOPEN;
	if (page_file_read(pf->db, pf->head, sizeof(pf->head), 0))
		return SQLITE_CORRUPT;
	size = page_get32(pf->head + HEAD_PAGE_SIZE) >> 16;
	/* 65536 does not fit in 16 bits */
	if (size == 1)
		size = 65536;
	pf->base = page_get32(pf->head + HEAD_PAGES);
	if (size != pf->page_size || pf->head[HEAD_RESERVED] ||
	    page_get32(pf->head + HEAD_AUTOVACUUM) || !pf->base ||
	    pf->base > PAGES_MAX)
		return SQLITE_CORRUPT;
	return SQLITE_OK;
}

uint32_t page_file_number(const struct page_file *pf, uint32_t place)
{
	uint64_t lock = pf->lock / pf->page_size + 1;
	uint32_t n = pf->base + 1 + place;

	return pf->base < lock && n >= lock ? n + 1 : n;
}

int page_file_root(struct page_file *pf, uint32_t root, const void *page)
{
	uint64_t off = (uint64_t)(root - 1) * pf->page_size;
	unsigned char now[5];
	unsigned char type = *(const unsigned char *)page | 8;

	if (root < 2 || root > pf->base ||
	    page_file_read(pf->db, now, sizeof(now), off) || now[0] != type ||
	    now[3] || now[4])
		return SQLITE_CORRUPT;
	return page_file_write(pf->db, page, pf->page_size, off);
}

/* Writes pages to their places in the database; no two of them are on different
 * sides of the page that is left out, except that it may follow one. */
static int page_file_place(struct page_file *pf, const unsigned char *from,
			   uint32_t place, uint32_t n)
{
	while (n) {
		uint32_t at = page_file_number(pf, place);
		uint32_t run = 1;

		while (run < n && page_file_number(pf, place + run) == at + run)
			run++;
		int rc = page_file_write(pf->db, from,
					 (size_t)run * pf->page_size,
					 (uint64_t)(at - 1) * pf->page_size);

		if (rc)
			return rc;
		from += (size_t)run * pf->page_size;
		place += run;
		n -= run;
	}
	return SQLITE_OK;
}

static int page_file_copy(struct page_file *pf)
{
	size_t k = 0;
	int rc = SQLITE_OK;

	for (uint32_t i = 0, n; !rc && i < pf->n; i += n) {
		n = pf->n - i < pf->room ? pf->n - i : pf->room;
		if (pf->spool >= 0)
			rc = page_file_read(pf->spool, pf->buf,
					    (size_t)n * pf->page_size,
					    (uint64_t)i * pf->page_size);
		for (; !rc && k < pf->n_pointer && pf->pointer[k].place < i + n;
		     k++) {
			unsigned char *p = pf->buf +
					   (size_t)(pf->pointer[k].place - i) *
						   pf->page_size +
					   pf->pointer[k].off;

			page_put32(p, page_file_number(pf, page_get32(p)));
		}
		if (!rc)
			rc = page_file_place(pf, pf->buf, i, n);
	}
	return rc;
}

/* Writes the number of pages. A connection that has the database open sees by
 * the change counter that its copies of pages are old. */
static int page_file_header(struct page_file *pf)
{
	uint32_t changes = page_get32(pf->head + HEAD_CHANGES) + 1;
	uint32_t last = pf->n ? page_file_number(pf, pf->n - 1) : pf->base;

	page_put32(pf->head + HEAD_CHANGES, changes);
	page_put32(pf->head + HEAD_VALID_FOR, changes);
	page_put32(pf->head + HEAD_PAGES, last);
	return page_file_write(pf->db, pf->head, sizeof(pf->head), 0);
}

int page_file_finish(struct page_file *pf)
{
	int rc = SQLITE_OK;

	if (pf->n >= PAGES_MAX - pf->base - 1)
		return SQLITE_FULL;
	if (pf->spool >= 0)
		rc = page_file_spool(pf);
	if (!rc)
		rc = page_file_copy(pf);
	if (!rc)
		rc = page_file_header(pf);
	if (close(pf->db) && !rc)
		rc = page_file_error();
	pf->db = -1;
	return rc;
}
