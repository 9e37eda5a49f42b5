/* check_rows.c - the results of check's statements, read once and kept. */
#include <assert.h>

#include "analyze/check/check.h"
#include "stitch/base/mem.h"

struct check_answer {
	struct check_answer *next;
	const char *name; /* name of the query */
	char **column;
	size_t n_column;
	struct value *value; /* row by row */
	size_t n, cap;
	struct arena text;
};

static void answer_free(struct check_answer *a)
{
	arena_release(&a->text);
	free_all(a->column, a->value, a);
}

void check_forget(struct check *c)
{
	while (c->answers) {
		struct check_answer *a = c->answers;

		c->answers = a->next;
		answer_free(a);
	}
	trust_free(c->trust);
	c->trust = NULL;
	silent_tasks_release(&c->silent);
	free(c->prefix);
	c->prefix = NULL;
}

static struct check_answer *check_rows_keep(const struct check *c,
					    const struct check_query *q,
					    struct err *err)
{
	struct rows *r = check_rows(c, q, 0, err);
	struct check_answer *a;

	if (!r)
		return NULL;
	a = mem_new(1, sizeof(*a));
	a->name = q->name;
	a->n_column = rows_columns(r);
	a->column = mem_new(a->n_column, sizeof(*a->column));
	for (size_t i = 0; i < a->n_column; i++)
		a->column[i] = arena_strdup(&a->text, rows_name(r, i));
	while (rows_step(r)) {
		mem_grow(a->value, a->cap, a->n + a->n_column);
		for (size_t i = 0; i < a->n_column; i++) {
			struct value v = rows_value(r, i);

			if (v.kind == VALUE_TEXT)
				v.text = arena_strdup(&a->text, v.text);
			else if (v.kind != VALUE_INT)
				v = (struct value){ .kind = VALUE_NULL };
			a->value[a->n++] = v;
		}
	}
	if (!rows_end(r, err))
		return a;
	answer_free(a);
	return NULL;
}

int64_t check_open(struct check *c, const char *name, struct check_row *r,
		   struct err *err)
{
	const struct check_query *q = check_query(name);
	struct check_answer *a;

	*r = (struct check_row){ .kept = NULL };
	if (!check_can(c, name))
		return 0;
	for (a = c->answers; a && a->name != q->name; a = a->next)
		;
	if (!a) {
		a = check_rows_keep(c, q, err);
		if (!a)
			return -1;
		a->next = c->answers;
		c->answers = a;
	}
	r->kept = a;
	r->n = (int64_t)(a->n / a->n_column);
	return r->n;
}

int check_open_live(const struct check *c, const char *name, long limit,
		    struct check_row *r, struct err *err)
{
	*r = (struct check_row){ .kept = NULL };
	if (check_can(c, name))
		r->live = check_rows(c, check_query(name), limit, err);
	return check_can(c, name) && !r->live ? -1 : 0;
}

bool check_next(struct check_row *r)
{
	if (r->live)
		return rows_step(r->live);
	if (!r->kept || r->next >= r->kept->n)
		return false;
	r->first = r->next;
	r->next += r->kept->n_column;
	return true;
}

int check_close(struct check_row *r, struct err *err)
{
	return r->live ? rows_end(r->live, err) : 0;
}

/* A missing column is a programming error. */
static struct value check_rows_value(const struct check_row *r,
				     const char *column)
{
	size_t n = r->live ? rows_columns(r->live) : r->kept->n_column;

	for (size_t i = 0; i < n; i++) {
		const char *name =
			r->live ? rows_name(r->live, i) : r->kept->column[i];

		if (!strcmp(name, column))
			return r->live ? rows_value(r->live, i)
				       : r->kept->value[r->first + i];
	}
	assert(!"a column that the statement has");
	return (struct value){ .kind = VALUE_NULL };
}

int64_t check_int(const struct check_row *r, const char *column)
{
	struct value v = check_rows_value(r, column);

	return v.kind == VALUE_INT ? v.num : 0;
}

const char *check_text(const struct check_row *r, const char *column)
{
	struct value v = check_rows_value(r, column);

	return v.kind == VALUE_TEXT ? v.text : "";
}

bool check_null(const struct check_row *r, const char *column)
{
	return check_rows_value(r, column).kind == VALUE_NULL;
}

int64_t check_count(const struct check_row *r, const char *column)
{
	int64_t n = check_int(r, column);

	return n < 0 ? 0 : n > CHECK_COUNT_MAX ? CHECK_COUNT_MAX : n;
}

int check_sum(struct check *c, const char *name, const char *column,
	      int64_t *sum, struct err *err)
{
	struct check_row r;

	if (check_open(c, name, &r, err) < 0)
		return -1;
	while (check_next(&r)) {
		int64_t n = check_count(&r, column);

		*sum = *sum < CHECK_COUNT_MAX - n ? *sum + n : CHECK_COUNT_MAX;
	}
	return 0;
}
