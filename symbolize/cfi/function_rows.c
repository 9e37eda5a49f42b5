/* function_rows.c - the rows of a file's functions, made when they are
 * needed. */
#include "symbolize/cfi/function_rows.h"

#include "stitch/base/mem.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/cfi/unwind_rows.h"

struct function_rows {
	const struct cfi *c;
	struct unwind_rows **of; /* of each function; NULL: not made yet */
	size_t n;
	size_t rows; /* made so far */
};

struct function_rows *function_rows_new(const struct cfi *c)
{
	struct function_rows *t = mem_new(1, sizeof(*t));

	t->c = c;
	t->n = cfi_functions(c);
	if (t->n)
		t->of = mem_new(t->n, sizeof(*t->of));
	return t;
}

void function_rows_free(struct function_rows *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		unwind_rows_free(t->of[i]);
	free(t->of);
	free(t);
}

const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr)
{
	size_t i;

	if (!cfi_find(t->c, addr, &i))
		return NULL;
	if (!t->of[i]) {
		t->of[i] = cfi_rows_of(t->c, i);
		t->rows += unwind_rows_count(t->of[i]);
	}
	return unwind_rows_find(t->of[i], addr);
}

size_t function_rows_count(const struct function_rows *t)
{
	return t->rows;
}
