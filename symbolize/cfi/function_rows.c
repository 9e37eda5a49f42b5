/* function_rows.c - the rows of a file's functions, made when they are
 * needed. */
#include "symbolize/cfi/function_rows.h"

#include <pthread.h>
#include <stdlib.h>

#include "stitch/base/mem.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/cfi/unwind_rows.h"

struct function_rows {
	const struct cfi *c;
	/* Of each function; NULL: not made yet. Read without the lock, which is
	 * for making one. */
	struct unwind_rows **of;
	size_t n;
	size_t rows; /* made so far */
	pthread_mutex_t lock;
};

struct function_rows *function_rows_new(const struct cfi *c)
{
	struct function_rows *t = mem_new(1, sizeof(*t));

	t->c = c;
	t->n = cfi_functions(c);
	if (t->n)
		t->of = mem_new(t->n, sizeof(*t->of));
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void function_rows_free(struct function_rows *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		unwind_rows_free(t->of[i]);
	free(t->of);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct unwind_rows *function_rows_make(struct function_rows *t, size_t i)
{
	pthread_mutex_lock(&t->lock);
	struct unwind_rows *rows = t->of[i];

	if (!rows) {
		rows = cfi_rows_of(t->c, i);
		__atomic_add_fetch(&t->rows, unwind_rows_count(rows),
				   __ATOMIC_RELAXED);
		__atomic_store_n(&t->of[i], rows, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&t->lock);
	return rows;
}

const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr)
{
	size_t i;

	if (!cfi_find(t->c, addr, &i))
		return NULL;
	struct unwind_rows *rows = __atomic_load_n(&t->of[i], __ATOMIC_ACQUIRE);

	return unwind_rows_find(rows ? rows : function_rows_make(t, i), addr);
}

size_t function_rows_count(const struct function_rows *t)
{
	return __atomic_load_n(&t->rows, __ATOMIC_RELAXED);
}
