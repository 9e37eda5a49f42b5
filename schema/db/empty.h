/* empty.h - writes a database with all tables and no rows, from the pages of
 * its file.
 *
 * Making the tables by SQL takes as long as everything else for a small
 * capture, or for a segment of a stream: each statement is parsed twice. So the
 * pages are made once, when the program is built. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/* Rows have 30 to 60 bytes: large pages save an eighth of the writer's time,
 * but an empty database has forty pages. */
#define EMPTY_SMALL_PAGE 4096u
#define EMPTY_LARGE_PAGE 16384u

/* Bytes of a file; between runs they are 0. */
struct empty_run {
	uint32_t off, len;
	const char *bytes;
};

struct empty_file {
	uint32_t page_size, size; /* bytes; page_size 0 ends the list */
	const struct empty_run *run;
	size_t n_run;
};

/* One for each page size, made by cli/embed/embed_empty.c. */
extern const struct empty_file empty_files[];

/* Writes the pages into an empty file. page_size: one of the list. Returns 0 or
 * errno. */
int empty_write(const char *path, uint32_t page_size);
/* Begins a transaction and makes the tables by SQL. Returns SQLite's result
 * code. */
int empty_by_sql(struct sqlite3 *conn, uint32_t page_size);
/* Returns the pages that empty_by_sql() makes, to be freed, and their
 * size; NULL on failure. */
unsigned char *empty_image(uint32_t page_size, size_t *size);
