/* mem.c - allocation that never fails, and arenas. */
#include "stitch/base/mem.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)

/* A chunk is as large as all previous ones together, within these bounds: most
 * arenas hold little, and malloc() maps large blocks afresh each time. */
#define CHUNK_MIN ((size_t)4 * 1024)
#define CHUNK_MAX ((size_t)256 * 1024)

/* From this many bytes on, an array grows by half, not to twice its size: its
 * pages are moved, not copied, and a quarter less of them is empty. */
#define GROWN ((size_t)1 << 20)

/* exit(3): two threads must not call it at once. The first one keeps the lock;
 * exit() may call a function that comes here again. */
static pthread_mutex_t mem_ending = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static _Noreturn void out_of_memory(size_t n)
{
	pthread_mutex_lock(&mem_ending);
	if (n)
		fprintf(stderr,
			"backstitch: out of memory (%zu bytes wanted)\n", n);
	else
		fputs("backstitch: out of memory\n", stderr);
	exit(1);
}

void *mem_must(void *p)
{
	if (!p)
		out_of_memory(0);
	return p;
}

void *mem_new(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(n * size);
	return p;
}

void *mem_new_table(size_t n, size_t size)
{
	void *p = mem_new(n, size);
	uintptr_t first = ((uintptr_t)p + PAGE - 1) & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)p + n * size) & ~(PAGE - 1);

	/* A table is looked up at random places: of pages of 4 KiB, most
	 * look-ups wait for a page table, too. Kernels before 5.14 refuse the
	 * second; then the pages come one by one. */
	if (end > first) {
		madvise((void *)first, end - first, MADV_HUGEPAGE);
		madvise((void *)first, end - first, MADV_POPULATE_WRITE);
	}
	return p;
}

void *mem_grow_more(void *p, size_t *cap, size_t need, size_t size)
{
	size_t bytes = 0;
	size_t n = *cap ? *cap : 16;

	while (n < need && n <= SIZE_MAX / 2)
		n += n * size < GROWN ? n : n / 2;
	if (n < need || __builtin_mul_overflow(n, size, &bytes))
		out_of_memory(SIZE_MAX);
	p = realloc(p, bytes);
	if (!p)
		out_of_memory(bytes);
	*cap = n;
	return p;
}

struct mem_text {
	char **text;
	size_t *len; /* NULL: not requested */
	size_t n, cap;
};

static ssize_t mem_stream_take(void *cookie, const char *p, size_t n)
{
	struct mem_text *t = cookie;

	mem_grow(*t->text, t->cap, t->n + n + 1);
	memcpy(*t->text + t->n, p, n);
	t->n += n;
	(*t->text)[t->n] = '\0';
	if (t->len)
		*t->len = t->n;
	return (ssize_t)n;
}

static int mem_stream_close(void *cookie)
{
	free(cookie);
	return 0;
}

/* Replaces open_memstream(): that of glibc 2.36 drops bytes when memory is
 * exhausted, and neither ferror() nor fclose() reports it. */
FILE *mem_stream(char **text, size_t *len)
{
	const cookie_io_functions_t io = { .write = mem_stream_take,
					   .close = mem_stream_close };
	struct mem_text *t = mem_new(1, sizeof(*t));

	*t = (struct mem_text){ .text = text, .len = len };
	if (len)
		*len = 0;
	*text = mem_grow_to(NULL, &t->cap, 1, 1);
	**text = '\0';
	return mem_must(fopencookie(t, "w", io));
}

void mem_stream_end(FILE *f)
{
	if (fclose(f))
		out_of_memory(0);
}

char *mem_printf(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return mem_must(n < 0 ? NULL : text);
}

void *mem_reach_more(void *p, size_t *n, size_t *cap, size_t need, size_t size)
{
	p = mem_grow_to(p, cap, need, size);
	memset((char *)p + *n * size, 0, (need - *n) * size);
	*n = need;
	return p;
}

void *mem_dup(const void *p, size_t n)
{
	char *copy = mem_new(n + 1, 1);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *mem_strdup(const char *s)
{
	return s ? mem_dup(s, strlen(s)) : NULL;
}

void *arena_take_chunk(struct arena *a, size_t n)
{
	size_t size = a->used < CHUNK_MIN   ? CHUNK_MIN
		      : a->used < CHUNK_MAX ? a->used
					    : CHUNK_MAX;

	raise_to(size, n);
	struct arena_chunk *c = malloc(sizeof(*c) + size);

	if (!c)
		out_of_memory(size);
	c->next = a->chunk;
	c->used = n;
	c->size = size;
	a->chunk = c;
	a->used += n;
	return c->data;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_take(a, n + 1);

	/* s may be NULL for an empty text */
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *arena_join(struct arena *a, const char *x, char between, const char *y)
{
	size_t n = strlen(x);
	size_t m = strlen(y) + 1;
	char *to = arena_take(a, n + 1 + m);

	memcpy(to, x, n);
	to[n] = between;
	memcpy(to + n + 1, y, m);
	return to;
}

void arena_release(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *next = a->chunk->next;

		free(a->chunk);
		a->chunk = next;
	}
	a->used = 0;
}

void arena_clear(struct arena *a)
{
	struct arena_chunk *c = a->chunk;

	if (!c)
		return;
	a->chunk = c->next;
	arena_release(a);
	c->next = NULL;
	c->used = 0;
	a->chunk = c;
}
