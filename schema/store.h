/* store.h - the only door to SQLite.
 *
 * Writing: store_create, store_capture per source, store_fact for every fact
 * (with store_event_types whenever a source may have got new events),
 * store_flush now and then, naming (store_unnamed / store_symbol), and
 * store_finish, which builds indexes and views, checks that the sums add up,
 * and renames the temporary file onto the target. store_close without finish
 * removes the temporary file: a killed ingest leaves no half database.
 * Rows go through a bounded queue to a writer thread (writer.c).
 *
 * Reading: store_open, then views and SQL through struct rows. */
#ifndef SCHEMA_STORE_H
#define SCHEMA_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct align_out;
struct arena;
struct code_place;
struct err;
struct fact;
struct field;
struct frames;
struct image;
struct ledger;
struct rows;
struct section_used;
struct segment;
struct source;
struct store;
struct symbol;

#define SCHEMA_VERSION 4

/* fields: "none", "all", or a comma list of event names or globs whose
 * payloads become ev_ tables; NULL: the default set (sched:*, and the
 * process events). The payloads of others go to event_raw, or nowhere when
 * fields is "none". force: an existing file is replaced at the end. large:
 * a hundred MB and more come, so that larger pages pay. */
struct store_opts {
	const char *fields;
	bool force, large;
	bool no_thread; /* tests: write on the caller's thread */
};

/* Refuses when path exists and force is not set, and says "-f". */
struct store *store_create(const char *path, const struct store_opts *o,
			   const struct frames *fr, struct err *err);
/* A temporary database with no name, gone with store_close(). */
struct store *store_create_temp(const struct store_opts *o,
				const struct frames *fr, struct err *err);
/* After scan, before its first fact. Call again at the end: counts, times
 * and what the pipe told later are brought up to date. */
int store_capture(struct store *db, const struct source *src, struct err *err);
/* How its times got onto the timeline; first: the first, on its own clock.
 * Not called: they are as recorded. */
int store_align(struct store *db, unsigned int source,
		const struct align_out *a, uint64_t first, struct err *err);
int store_fact(struct store *db, const struct fact *f, struct err *err);
/* True when the payload of this event should be decoded for store_fields. */
bool store_wants_fields(struct store *db, const struct source *src,
			uint32_t event);
/* The fields of the event of the fact stored last. */
int store_fields(struct store *db, const struct source *src, uint32_t event,
		 uint32_t event_id, const struct field *f, uint32_t n,
		 struct err *err);
/* What the column of a field is called in an ev_ table (event_type.fields);
 * a second one of that name in the same table gets a suffix. */
#define STORE_NAME_MAX 72
void store_column_name(const char *field, char out[STORE_NAME_MAX]);
/* New images, frames, stacks and raw chains, and the ledger's entries. */
int store_flush(struct store *db, struct ledger *lg, struct err *err);
/* meta rows; capture index -1: the run. */
int store_meta(struct store *db, int capture, const char *key,
	       const char *value, struct err *err);
int store_meta_number(struct store *db, int capture, const char *key,
		      int64_t value, struct err *err);

/* Naming, on a database being made or opened for writing.
 * Next image with frames that have no name (NAME_LINES: or a name, but no
 * source line; NAME_HOT_FIRST: those that most stacks run through come first;
 * how is the same in all calls): 1 and fills all (borrowed until the next
 * call), 0 none left, -1. code[] is sorted by off and unique. */
enum {
	NAME_LINES = 1,
	NAME_HOT_FIRST = 2
};
int store_unnamed(struct store *db, unsigned int how, uint32_t *id,
		  struct image *img, const struct code_place **code, size_t *n,
		  struct err *err);
/* The image that it gives in its call i (from 0 on), but for the code of jitted
 * ones; img is borrowed until the next call of it, code until its last one. 1,
 * 0 there is none, -1. */
int store_unnamed_at(struct store *db, size_t i, struct image *img,
		     const struct code_place **code, size_t *n,
		     struct err *err);
/* One answer of symbolize_image() for that image. */
int store_symbol(struct store *db, uint32_t image, const struct symbol *sym,
		 struct err *err);
/* What naming made of the image: file used (NULL none) and status word; and
 * for each frame the ELF vaddr through its segments. */
int store_image(struct store *db, uint32_t image, const char *file,
		const char *status, const struct segment *seg, size_t n,
		struct err *err);

/* The sections that its names were read from. */
int store_sections(struct store *db, uint32_t image,
		   const struct section_used *used, size_t n, struct err *err);
/* A row of damage of kind 'note' that is about no capture. */
int store_note(struct store *db, const char *what, const char *detail,
	       struct err *err);

/* The call-site check, on a database being made or opened for writing, behind
 * the naming: begin, look at the frames and stacks (rows_each), then put what
 * was found. Forgets what an earlier check found. */
struct store_callsite {
	uint32_t frame;
	enum callsite_kind kind;
	uint64_t target; /* 0: none */
	bool unverified;
};
struct store_link {
	uint32_t inner, frame;
	enum callsite_link link;
};
struct store_stack_check {
	uint32_t stack, checked, bogus;
	uint32_t first; /* 0: none is bogus */
	uint32_t image; /* 0: none is bogus */
	uint32_t gaps;
	enum callsite_link caller; /* 0: bogus */
};
int store_callsites_begin(struct store *db, struct err *err);
int store_callsites(struct store *db, const struct store_callsite *c, size_t n,
		    struct err *err);
int store_links(struct store *db, const struct store_link *l, size_t n,
		struct err *err);
int store_stack_checks(struct store *db, const struct store_stack_check *s,
		       size_t n, struct err *err);

int store_finish(struct store *db, struct ledger *lg, struct err *err);
void store_close(struct store *db); /* NULL is fine */

/* writable: for symbolize. A newer SCHEMA_VERSION, or a file that is not
 * ours, is refused with a clear message. */
struct store *store_open(const char *path, bool writable, struct err *err);
/* Does the file begin like an SQLite database? */
bool store_is_database(const void *head, size_t n);

enum value_kind {
	VALUE_NULL,
	VALUE_INT,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_BLOB
};

/* One value of a row; borrowed until the next rows_next(). text is set for
 * TEXT and (len) BLOB. */
struct value {
	enum value_kind kind;
	int64_t num;
	double real;
	const char *text;
	size_t len;
};

/* One statement (or, of several, the first; the rest is an error). Values
 * for ?1 ... ?n are bound from bind (n_bind 0: NULL). Read-only databases
 * refuse everything but reading. */
struct rows *rows_open(struct store *db, const char *sql,
		       const struct value *bind, size_t n_bind,
		       struct err *err);
/* The byte of the statement that rows_open() could not take, right after it
 * failed; -1: no place. */
int store_error_place(const struct store *db);
/* 1 one more, 0 the end, -1 an error. */
int rows_next(struct rows *r, struct err *err);
size_t rows_columns(const struct rows *r);
const char *rows_name(const struct rows *r, size_t i);
struct value rows_value(const struct rows *r, size_t i);
/* Column i as the build-id of *img, which has none where that is not one; and
 * columns i, i + 1, i + 2 as its kind, path and build-id: the path is copied.
 */
void rows_build_id(const struct rows *r, size_t i, struct image *img);
void rows_image(const struct rows *r, size_t i, struct arena *text,
		struct image *img);
/* Calls fn for every row of the named query (store_sql); fn gives 0, or -1 and
 * *err to stop. 0, or -1 and *err. */
typedef int rows_fn(void *arg, const struct rows *r, struct err *err);
int rows_each(struct store *db, const char *query, rows_fn *fn, void *arg,
	      struct err *err);
/* The same where column 0 is an id and the ids are 1, 2, 3 ..., so that an
 * array is the whole index. A gap, or a 1 of fn ("this row is not sound"),
 * becomes the error that the database is damaged there. */
int rows_each_dense(struct store *db, const char *query, rows_fn *fn, void *arg,
		    struct err *err);
/* Shorthands: NULL counts as 0 and "". */
int64_t rows_int(const struct rows *r, size_t i);
const char *rows_text(const struct rows *r, size_t i);
void rows_close(struct rows *r);
/* For Ctrl-C in a query: may be called from a signal handler. */
void store_interrupt(struct store *db);

/* The SQL of view `name` and its documentation are in schema/sql/views.sql; the
 * selects behind commands are named rows of one table, so that all SQL text
 * stays in schema/ (CONTRIBUTING.md, style 37): store_sql("script_events")
 * gives the text. */
const char *store_sql(const char *name);

/* The addresses of a raw_chain.addrs blob: number written (<= max), or -1
 * when the blob is not one. */
int store_addrs(const void *blob, size_t len, uint64_t *ip, uint32_t max);
#endif
