/* callsite.c - rows of the call-site check. */

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

int store_callsites_begin(struct maker *mk, struct err *err)
{
	return mk->is_new ? flush_frames(mk, err) : 0;
}

int store_callsites_drop(struct maker *mk, struct err *err)
{
	return mk->is_new ? 0 : maker_exec(mk, sql_file("callsite"), err);
}

/* Most columns of a row. */
#define COLUMNS_MAX 8

/* Fills v[] with the values of row i of a list. Returns how many. */
typedef size_t callsite_row_fn(const void *list, size_t i, struct value *v);

/* Defines such a function, of a list of a type, by the values of row x. A
 * semicolon follows, as with COMPARE_BY(). */
#define CALLSITE_ROW(name, type, ...)                                          \
	static size_t name(const void *list, size_t i, struct value *v)        \
	{                                                                      \
		const type *x = (const type *)list + i;                        \
		const struct value row[] = { __VA_ARGS__ };                    \
                                                                               \
		memcpy(v, row, sizeof(row));                                   \
		return ARRAY_SIZE(row);                                        \
	}                                                                      \
	static callsite_row_fn name

CALLSITE_ROW(callsite_row, struct store_callsite, VALUE_OF(x->frame),
	     VALUE_OF(x->kind), VALUE_ID(x->target), VALUE_OF(x->unverified));
CALLSITE_ROW(callsite_link_row, struct store_link, VALUE_OF(x->inner),
	     VALUE_OF(x->frame), VALUE_OF(x->link));
CALLSITE_ROW(callsite_judged_row, struct store_judged, VALUE_OF(x->stack),
	     VALUE_OF(x->judged), VALUE_OF(x->callerless), VALUE_ID(x->image));
CALLSITE_ROW(callsite_trust_row, struct store_user_trust, VALUE_OF(x->type),
	     VALUE_ID(x->mark), value_text(x->judged), VALUE_ID(x->frames),
	     VALUE_OF(x->n), VALUE_ID(x->image));
CALLSITE_ROW(callsite_end_row, struct store_end, VALUE_OF(x->frame),
	     VALUE_ID(x->start), VALUE_ID(x->open), VALUE_ID(x->bytes),
	     VALUE_ID(x->sframe));
CALLSITE_ROW(callsite_stack_row, struct store_stack_check, VALUE_OF(x->stack),
	     VALUE_OF(x->checked), VALUE_OF(x->bogus), VALUE_ID(x->first),
	     VALUE_ID(x->image), VALUE_OF(x->gaps), VALUE_ID(x->caller),
	     VALUE_ID(x->walked));

static int callsite_put(struct maker *mk, unsigned int table,
			callsite_row_fn *row, const void *list, size_t n,
			struct err *err)
{
	struct value v[COLUMNS_MAX];

	for (size_t i = 0; i < n; i++)
		if (tables_put(mk, table, v, row(list, i, v), err))
			return -1;
	return 0;
}

/* Returns whether these are the numbers of row i; 0 stands for NULL too. */
static bool callsite_same_row(const struct rows *r, callsite_row_fn *row,
			      const void *list, size_t i)
{
	struct value v[COLUMNS_MAX];

	return !any_where(row(list, i, v), k, rows_int(r, k) != v[k].num);
}

/* Returns 1 if the table has these rows already, in this order of the query
 * `old`, so that its pages need not be written again; 0 if it is empty now; -1
 * and *err. */
static int callsite_is_stored(struct maker *mk, const char *old,
			      const char *drop, callsite_row_fn *row,
			      const void *list, size_t n, struct err *err)
{
	bool same = true;
	size_t i = 0;

	if (mk->is_new)
		return 0;
	struct rows *r = rows_of(maker_read(mk, err), old, err);

	for (; same && rows_step(r); i++)
		same = i < n && callsite_same_row(r, row, list, i);
	if (rows_end(r, err))
		return -1;
	return same && i == n ? 1 : maker_exec(mk, store_sql(drop), err);
}

static int callsite_store(struct maker *mk, unsigned int table, const char *old,
			  const char *drop, callsite_row_fn *row,
			  const void *list, size_t n, struct err *err)
{
	int stored = callsite_is_stored(mk, old, drop, row, list, n, err);

	if (stored)
		return stored < 0 ? -1 : 0;
	return callsite_put(mk, table, row, list, n, err);
}

int store_callsites(struct maker *mk, const struct store_callsite *c, size_t n,
		    struct err *err)
{
	return callsite_store(mk, T_CALLSITE, "old_callsites", "drop_callsites",
			      callsite_row, c, n, err);
}

int store_doubt(struct maker *mk, uint32_t image, const char *why,
		struct err *err)
{
	return PUT_BY(mk, store_sql("put_doubt"), err, VALUE_OF(image),
		      value_text(why));
}

COMPARE_BY(callsite_by_link, struct store_link, inner, frame);

int store_links(struct maker *mk, const struct store_link *l, size_t n,
		struct err *err)
{
	int stored = 0;

	if (!mk->is_new) {
		struct store_link *sorted = mem_dup(l, n * sizeof(*l));

		sort_items(sorted, n, callsite_by_link);
		stored = callsite_is_stored(mk, "merge_links", "drop_links",
					    callsite_link_row, sorted, n, err);
		free(sorted);
	}
	if (stored)
		return stored < 0 ? -1 : 0;
	return callsite_put(mk, T_CALLSITE_LINK, callsite_link_row, l, n, err);
}

int store_links_drop(struct maker *mk, struct err *err)
{
	return maker_exec(mk, store_sql("drop_links"), err);
}

int store_judged(struct maker *mk, const struct store_judged *j, size_t n,
		 struct err *err)
{
	return callsite_store(mk, T_JUDGED, "old_judged", "drop_judged",
			      callsite_judged_row, j, n, err);
}

int store_user_trust(struct maker *mk, const struct store_user_trust *u,
		     size_t n, struct err *err)
{
	return callsite_put(mk, T_USER_TRUST, callsite_trust_row, u, n, err);
}

int store_ends(struct maker *mk, const struct store_end *s, size_t n,
	       struct err *err)
{
	return callsite_put(mk, T_END, callsite_end_row, s, n, err);
}

int store_frame_share(struct maker *mk, const struct store_frame_share *s,
		      struct err *err)
{
	return PUT_BY(mk, store_sql("put_frame_share"), err, VALUE_OF(s->image),
		      VALUE_OF(s->functions), VALUE_OF(s->framed));
}

int store_stack_checks(struct maker *mk, const struct store_stack_check *s,
		       size_t n, struct err *err)
{
	return callsite_store(mk, T_STACK_CHECK, "old_stack_checks",
			      "drop_stack_checks", callsite_stack_row, s, n,
			      err);
}
