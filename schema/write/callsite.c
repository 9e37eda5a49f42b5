/* callsite.c - rows of the call-site check. */

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

int store_callsites_begin(struct store *db, struct err *err)
{
	return db->making ? flush_frames(db, err)
			  : db_exec(db, sql_file("callsite"), err);
}

/* ---- results of an earlier check */

/* Most columns of a row. */
#define COLUMNS_MAX 7

/* Results that are in memory. */
struct callsite_list {
	const char *old, *drop; /* queries */
	const void *list;
	size_t n;
	/* fills v[] with the columns of row i; 0 stands for NULL too */
	void (*row)(const void *list, size_t i, int64_t v[COLUMNS_MAX]);
};

static bool callsite_same_row(const struct rows *r,
			      const struct callsite_list *l, size_t i)
{
	int64_t v[COLUMNS_MAX];

	if (i >= l->n)
		return false;
	l->row(l->list, i, v);
	for (size_t k = 0; k < rows_columns(r); k++)
		if (rows_int(r, k) != v[k])
			return false;
	return true;
}

/* Returns 1 if the table has these rows already, so that its pages need not be
 * written again; 0 if it is empty now; -1 and *err. */
static int callsite_is_stored(struct store *db, const struct callsite_list *l,
			      struct err *err)
{
	bool same = true;
	size_t n = 0;

	if (db->making)
		return 0;
	struct rows *r = rows_of(db, l->old, err);

	for (; same && rows_step(r); n++)
		same = callsite_same_row(r, l, n);
	if (rows_end(r, err))
		return -1;
	return same && n == l->n ? 1 : db_exec(db, store_sql(l->drop), err);
}

static void callsite_row(const void *list, size_t i, int64_t v[COLUMNS_MAX])
{
	const struct store_callsite *c =
		(const struct store_callsite *)list + i;

	v[0] = c->frame;
	v[1] = c->kind;
	v[2] = (int64_t)c->target;
	v[3] = c->unverified;
}

static void callsite_link_row(const void *list, size_t i,
			      int64_t v[COLUMNS_MAX])
{
	const struct store_link *l = (const struct store_link *)list + i;

	v[0] = l->inner;
	v[1] = l->frame;
	v[2] = l->link;
}

COMPARE_BY(callsite_by_link, struct store_link, inner, frame);

static void callsite_stack_row(const void *list, size_t i,
			       int64_t v[COLUMNS_MAX])
{
	const struct store_stack_check *s =
		(const struct store_stack_check *)list + i;

	v[0] = s->stack;
	v[1] = s->checked;
	v[2] = s->bogus;
	v[3] = s->first;
	v[4] = s->image;
	v[5] = s->gaps;
	v[6] = s->caller;
}

/* ---- writing */

int store_callsites(struct store *db, const struct store_callsite *c, size_t n,
		    struct err *err)
{
	const struct callsite_list list = { "old_callsites", "drop_callsites",
					    c, n, callsite_row };
	int stored = callsite_is_stored(db, &list, err);

	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_CALLSITE, err, VALUE_OF(c[i].frame),
			    VALUE_OF(c[i].kind), VALUE_ID(c[i].target),
			    VALUE_OF(c[i].unverified)))
			return -1;
	return 0;
}

int store_doubt(struct store *db, uint32_t image, const char *why,
		struct err *err)
{
	return PUT_BY(db, store_sql("put_doubt"), err, VALUE_OF(image),
		      value_text(why));
}

int store_links(struct store *db, const struct store_link *l, size_t n,
		struct err *err)
{
	int stored = 0;

	if (!db->making) {
		struct store_link *sorted = mem_dup(l, n * sizeof(*l));
		const struct callsite_list list = { "old_links", "drop_links",
						    sorted, n,
						    callsite_link_row };

		sort_items(sorted, n, callsite_by_link);
		stored = callsite_is_stored(db, &list, err);
		free(sorted);
	}
	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_CALLSITE_LINK, err, VALUE_OF(l[i].inner),
			    VALUE_OF(l[i].frame), VALUE_OF(l[i].link)))
			return -1;
	return 0;
}

int store_links_drop(struct store *db, struct err *err)
{
	return db_exec(db, store_sql("drop_links"), err);
}

static void callsite_judged_row(const void *list, size_t i,
				int64_t v[COLUMNS_MAX])
{
	const struct store_judged *j = (const struct store_judged *)list + i;

	v[0] = j->stack;
	v[1] = j->judged;
	v[2] = j->callerless;
	v[3] = j->image;
}

int store_judged(struct store *db, const struct store_judged *j, size_t n,
		 struct err *err)
{
	const struct callsite_list list = { "old_judged", "drop_judged", j, n,
					    callsite_judged_row };
	int stored = callsite_is_stored(db, &list, err);

	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_JUDGED, err, VALUE_OF(j[i].stack),
			    VALUE_OF(j[i].judged), VALUE_OF(j[i].callerless),
			    VALUE_ID(j[i].image)))
			return -1;
	return 0;
}

int store_user_trust(struct store *db, const struct store_user_trust *u,
		     size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_USER_TRUST, err, VALUE_OF(u[i].type),
			    VALUE_ID(u[i].mark), value_text(u[i].judged),
			    VALUE_ID(u[i].frames), VALUE_OF(u[i].n),
			    VALUE_ID(u[i].image)))
			return -1;
	return 0;
}

int store_ends(struct store *db, const struct store_end *s, size_t n,
	       struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_END, err, VALUE_OF(s[i].frame),
			    VALUE_ID(s[i].start), VALUE_ID(s[i].open)))
			return -1;
	return 0;
}

int store_frame_share(struct store *db, const struct store_frame_share *s,
		      struct err *err)
{
	return PUT_BY(db, store_sql("put_frame_share"), err, VALUE_OF(s->image),
		      VALUE_OF(s->functions), VALUE_OF(s->framed));
}

int store_stack_checks(struct store *db, const struct store_stack_check *s,
		       size_t n, struct err *err)
{
	const struct callsite_list list = { "old_stack_checks",
					    "drop_stack_checks", s, n,
					    callsite_stack_row };
	int stored = callsite_is_stored(db, &list, err);

	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (PUT_ROW(db, T_STACK_CHECK, err, VALUE_OF(s[i].stack),
			    VALUE_OF(s[i].checked), VALUE_OF(s[i].bogus),
			    VALUE_ID(s[i].first), VALUE_ID(s[i].image),
			    VALUE_OF(s[i].gaps), VALUE_ID(s[i].caller)))
			return -1;
	return 0;
}
