/* fuzz_sqlite.h - SQLite for fuzz targets: memory, and databases with tables.
 *
 * SQLite asks for memory some ten thousand times for each database. It is not
 * what is tested, so it does without the sanitizer's allocator. Nor is it that
 * our statements make our tables, which takes longer than a small capture: they
 * are run once, and each database without a name begins as a copy of what they
 * made. */
#pragma once
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "schema/db/queries.h"

#ifdef __clang__
#define FUZZ_SQLITE_PLAIN                                                      \
	__attribute__((no_sanitize("coverage", "address", "undefined")))
#else
#define FUZZ_SQLITE_PLAIN
#endif
#define FUZZ_SQLITE_BYTES ((size_t)1 << 28)
#define FUZZ_SQLITE_FIRST 5  /* the smallest piece is of 32 bytes */
#define FUZZ_SQLITE_KINDS 28 /* to 128 MB */

/* A piece of memory: 8 bytes with its kind, then 2^kind for its owner. */
struct fuzz_sqlite_piece {
	uint64_t kind;
	struct fuzz_sqlite_piece *next; /* when it is free */
};

static struct fuzz_sqlite_piece *fuzz_sqlite_free_list[FUZZ_SQLITE_KINDS];
static unsigned char *fuzz_sqlite_at, *fuzz_sqlite_end;
static atomic_flag fuzz_sqlite_busy = ATOMIC_FLAG_INIT;

FUZZ_SQLITE_PLAIN static inline void fuzz_sqlite_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&fuzz_sqlite_busy,
						 memory_order_acquire))
		;
}

FUZZ_SQLITE_PLAIN static inline void fuzz_sqlite_unlock(void)
{
	atomic_flag_clear_explicit(&fuzz_sqlite_busy, memory_order_release);
}

FUZZ_SQLITE_PLAIN static inline struct fuzz_sqlite_piece *
fuzz_sqlite_of(void *p)
{
	return (void *)((unsigned char *)p - 8);
}

FUZZ_SQLITE_PLAIN static inline int fuzz_sqlite_roundup(int n)
{
	const int least = 1 << FUZZ_SQLITE_FIRST;

	if (n <= least)
		return least;
	return n > 1 << 30 ? n : 1 << (32 - __builtin_clz((unsigned int)n - 1));
}

FUZZ_SQLITE_PLAIN static inline void *fuzz_sqlite_malloc(int n)
{
	int size = fuzz_sqlite_roundup(n);
	int kind = __builtin_ctz((unsigned int)size);
	struct fuzz_sqlite_piece *p = NULL;

	if (n > 1 << 27)
		return NULL;
	fuzz_sqlite_lock();
	if (fuzz_sqlite_free_list[kind]) {
		p = fuzz_sqlite_free_list[kind];
		fuzz_sqlite_free_list[kind] = p->next;
	} else if (fuzz_sqlite_end - fuzz_sqlite_at >= size + 8) {
		p = (void *)fuzz_sqlite_at;
		fuzz_sqlite_at += size + 8;
	}
	fuzz_sqlite_unlock();
	if (!p)
		return NULL;
	p->kind = (uint64_t)kind;
	return (unsigned char *)p + 8;
}

FUZZ_SQLITE_PLAIN static inline void fuzz_sqlite_free(void *mem)
{
	struct fuzz_sqlite_piece *p = fuzz_sqlite_of(mem);

	fuzz_sqlite_lock();
	p->next = fuzz_sqlite_free_list[p->kind];
	fuzz_sqlite_free_list[p->kind] = p;
	fuzz_sqlite_unlock();
}

FUZZ_SQLITE_PLAIN static inline int fuzz_sqlite_size(void *mem)
{
	return 1 << fuzz_sqlite_of(mem)->kind;
}

FUZZ_SQLITE_PLAIN static inline void *fuzz_sqlite_realloc(void *mem, int n)
{
	void *more;

	if (n <= fuzz_sqlite_size(mem))
		return mem;
	more = fuzz_sqlite_malloc(n);
	if (more) {
		memcpy(more, mem, (size_t)fuzz_sqlite_size(mem));
		fuzz_sqlite_free(mem);
	}
	return more;
}

FUZZ_SQLITE_PLAIN static inline int fuzz_sqlite_init(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

FUZZ_SQLITE_PLAIN static inline void fuzz_sqlite_shutdown(void *arg)
{
	(void)arg;
}

/* To be called before anything of SQLite is. */
FUZZ_SQLITE_PLAIN static inline void fuzz_sqlite_start(void)
{
	static const struct sqlite3_mem_methods methods = {
		fuzz_sqlite_malloc,   fuzz_sqlite_free,
		fuzz_sqlite_realloc,  fuzz_sqlite_size,
		fuzz_sqlite_roundup,  fuzz_sqlite_init,
		fuzz_sqlite_shutdown, NULL,
	};

	fuzz_sqlite_at =
		mmap(NULL, FUZZ_SQLITE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fuzz_sqlite_at == MAP_FAILED ||
	    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) ||
	    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0))
		abort();
	fuzz_sqlite_end = fuzz_sqlite_at + FUZZ_SQLITE_BYTES;
}

typedef int fuzz_sqlite_exec_fn(sqlite3 *, const char *,
				int (*)(void *, int, char **, char **), void *,
				char **);

/* A database with our tables, which are empty. */
static unsigned char *fuzz_sqlite_tables;
static sqlite3_int64 fuzz_sqlite_len;
/* The database whose views are chosen: the last that began as a copy of it, or
 * one of the target's. */
static sqlite3 *fuzz_sqlite_chosen;

static inline void fuzz_sqlite_make_tables(void)
{
	sqlite3 *db = NULL;

	if (sqlite3_open(":memory:", &db) ||
	    sqlite3_exec(db, sql_file("tables"), NULL, NULL, NULL))
		abort();
	fuzz_sqlite_tables = sqlite3_serialize(db, "main", &fuzz_sqlite_len, 0);
	if (!fuzz_sqlite_tables)
		abort();
	sqlite3_close(db);
}

static inline void fuzz_sqlite_copy(sqlite3 *db)
{
	unsigned char *copy = sqlite3_malloc64((uint64_t)fuzz_sqlite_len);

	if (!copy)
		abort();
	memcpy(copy, fuzz_sqlite_tables, (size_t)fuzz_sqlite_len);
	if (sqlite3_deserialize(db, "main", copy, fuzz_sqlite_len,
				fuzz_sqlite_len,
				SQLITE_DESERIALIZE_FREEONCLOSE |
					SQLITE_DESERIALIZE_RESIZEABLE))
		abort();
	fuzz_sqlite_chosen = db;
}

/* Statements that will be asked; of these databases, only the views that they
 * need are loaded, which takes longer than to ask them. NULL: all views. */
static const char *fuzz_sqlite_asked[8];
/* Those statements, and the texts of the views that they need. */
static char fuzz_sqlite_need[1 << 17];
static size_t fuzz_sqlite_need_len;

static inline void fuzz_sqlite_add_need(const char *text)
{
	size_t n = strlen(text);

	if (fuzz_sqlite_need_len + n >= sizeof(fuzz_sqlite_need))
		abort();
	memcpy(fuzz_sqlite_need + fuzz_sqlite_need_len, text, n + 1);
	fuzz_sqlite_need_len += n;
}

/* The name and the text of a view. */
static inline int fuzz_sqlite_look_at_view(void *arg, int n, char **value,
					   char **column)
{
	(void)arg;
	(void)n;
	(void)column;
	if (strstr(fuzz_sqlite_need, value[0]))
		fuzz_sqlite_add_need(value[1]);
	return 0;
}

struct fuzz_sqlite_load {
	int (*row)(void *, int, char **, char **);
	void *arg;
};

/* A row of the schema: type, name, table, page, text. */
static inline int fuzz_sqlite_load_row(void *arg, int n, char **value,
				       char **column)
{
	const struct fuzz_sqlite_load *l = arg;

	if (n == 5 && value[0] && !strcmp(value[0], "view") &&
	    !strstr(fuzz_sqlite_need, value[1]))
		return 0;
	return l->row(l->arg, n, value, column);
}

/* Views use those that are made before them. */
static inline int fuzz_sqlite_load(fuzz_sqlite_exec_fn *exec, sqlite3 *db,
				   const char *sql, struct fuzz_sqlite_load *l,
				   char **error)
{
	fuzz_sqlite_need_len = 0;
	for (size_t i = 0; fuzz_sqlite_asked[i]; i++)
		fuzz_sqlite_add_need(fuzz_sqlite_asked[i]);
	int rc = exec(db,
		      "SELECT name, sql FROM main.sqlite_master"
		      " WHERE type = 'view' ORDER BY rowid DESC",
		      fuzz_sqlite_look_at_view, NULL, NULL);

	return rc ? rc : exec(db, sql, fuzz_sqlite_load_row, l, error);
}

/* SQLite's function is hidden by this one, for SQLite as well, which loads the
 * schema by it. The first statement of a database
 * that maker_create_temp() makes sets its page size. */
int sqlite3_exec(sqlite3 *db, const char *sql,
		 int (*row)(void *, int, char **, char **), void *arg,
		 char **error)
{
	static const char first[] = "PRAGMA page_size=";
	static const char load[] = "SELECT*FROM\"main\".sqlite_master ORDER";
	static fuzz_sqlite_exec_fn *exec;

	if (!exec)
		*(void **)&exec = dlsym(RTLD_NEXT, "sqlite3_exec");
	if (fuzz_sqlite_tables && !strncmp(sql, first, sizeof(first) - 1)) {
		fuzz_sqlite_chosen = NULL;
		if (!*sqlite3_db_filename(db, "main"))
			fuzz_sqlite_copy(db);
	}
	if (db == fuzz_sqlite_chosen && sql == sql_file("tables"))
		return SQLITE_OK;
	if (db == fuzz_sqlite_chosen && row && fuzz_sqlite_asked[0] &&
	    !strncmp(sql, load, sizeof(load) - 1)) {
		struct fuzz_sqlite_load l = { row, arg };

		return fuzz_sqlite_load(exec, db, sql, &l, error);
	}
	return exec(db, sql, row, arg, error);
}
