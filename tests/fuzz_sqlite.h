/* fuzz_sqlite.h - memory of SQLite for fuzz targets.
 *
 * SQLite asks for memory some ten thousand times for each database. It is not
 * what is tested, so it does without the sanitizer's allocator. */
#ifndef TESTS_FUZZ_SQLITE_H
#define TESTS_FUZZ_SQLITE_H
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
#endif
