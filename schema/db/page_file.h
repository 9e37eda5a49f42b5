/* page_file.h - pages of a database that are written without SQLite.
 *
 * They go into the file of the database, far after what SQLite has written so
 * far. When SQLite reaches them they are moved out of its way; when SQLite has
 * written its last page, the gap before them is filled with the last of them:
 *
 *	page_file_add(), page_file_pointer()	at any time
 *	page_file_attach()			once, when SQLite has committed
 *						and holds no lock
 *	page_file_number(), page_file_root()	after that, and still add()
 *	page_file_finish()			the file is a database again
 *
 * Functions that can fail return an SQLite result code. */
#pragma once
#include <stdint.h>

struct page_file;
struct sqlite3;

/* path: the database, which the connection has open as "main", and uses until
 * page_file_attach(); the name is needed during this call only. lock: offset of
 * the byte whose page SQLite leaves out, PAGE_FILE_LOCK except in tests. */
#define PAGE_FILE_LOCK ((uint64_t)1 << 30)
struct page_file *page_file_new(struct sqlite3 *conn, const char *path,
				uint32_t page_size, uint64_t lock);
void page_file_free(struct page_file *pf); /* NULL is allowed */
uint32_t page_file_page_size(const struct page_file *pf);
/* Returns how many pages were added: the place of the next one. */
uint32_t page_file_pages(const struct page_file *pf);
/* Adds a copy of a page. Its place is the number of pages before it. */
int page_file_add(struct page_file *pf, const void *page);
/* Declares that the page added last has, at byte off, the place of a page (4
 * bytes, big-endian), which is replaced by the page's number. */
void page_file_pointer(struct page_file *pf, uint32_t off);

/* Puts all pages after those of SQLite. */
int page_file_attach(struct page_file *pf);
/* Returns the page number of a place. */
uint32_t page_file_number(const struct page_file *pf, uint32_t place);
/* Overwrites page number root, the only one of an empty B-tree of this type. */
int page_file_root(struct page_file *pf, uint32_t root, const void *page);
/* Makes the pages part of the database, and closes it. */
int page_file_finish(struct page_file *pf);
