/* callsite.c - rows of the call-site check. */

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Binds v, or NULL if it is 0. */
static void callsite_bind_some(sqlite3_stmt *st, int i, uint64_t v)
{
	if (v)
		sqlite3_bind_int64(st, i, (int64_t)v);
	else
		sqlite3_bind_null(st, i);
}

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

static bool callsite_same_row(sqlite3_stmt *st, const struct callsite_list *l,
			      size_t i)
{
	int64_t v[COLUMNS_MAX];

	if (i >= l->n)
		return false;
	l->row(l->list, i, v);
	for (int k = 0; k < sqlite3_column_count(st); k++)
		if (sqlite3_column_int64(st, k) != v[k])
			return false;
	return true;
}

/* Returns 1 if the table has these rows already, so that its pages need not be
 * written again; 0 if it is empty now; -1 and *err. */
static int callsite_is_stored(struct store *db, const struct callsite_list *l,
			      struct err *err)
{
	sqlite3_stmt *st;
	size_t n = 0;
	int rc;

	if (db->making)
		return 0;
	st = db_prepare(db, store_sql(l->old), err);
	if (!st)
		return -1;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW &&
	       callsite_same_row(st, l, n))
		n++;
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		return db_error(db, rc, err);
	if (rc == SQLITE_DONE && n == l->n)
		return 1;
	return db_exec(db, store_sql(l->drop), err);
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
	sqlite3_stmt *st = db_prepare(db, store_sql("put_callsite"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		sqlite3_bind_int64(st, 1, c[i].frame);
		sqlite3_bind_int64(st, 2, c[i].kind);
		callsite_bind_some(st, 3, c[i].target);
		sqlite3_bind_int64(st, 4, c[i].unverified);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_doubt(struct store *db, uint32_t image, const char *why,
		struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_doubt"), err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, image);
	db_bind_text(st, 2, why);
	return db_step_last(db, st, err);
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
	sqlite3_stmt *st = db_prepare(db, store_sql("put_link"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		sqlite3_bind_int64(st, 1, l[i].inner);
		sqlite3_bind_int64(st, 2, l[i].frame);
		sqlite3_bind_int64(st, 3, l[i].link);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
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
	struct row r;

	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++) {
		if (db_row(db, T_JUDGED, 0, &r, err))
			return -1;
		row_key(&r, j[i].stack);
		row_int(&r, 1, j[i].judged);
		row_int(&r, 2, j[i].callerless);
		row_id(&r, 3, j[i].image);
	}
	return 0;
}

int store_user_trust(struct store *db, const struct store_user_trust *u,
		     size_t n, struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_user_trust"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		sqlite3_bind_int64(st, 1, u[i].type);
		if (u[i].mark)
			sqlite3_bind_int64(st, 2, u[i].mark);
		else
			sqlite3_bind_null(st, 2);
		db_bind_text(st, 3, u[i].judged);
		callsite_bind_some(st, 4, u[i].frames);
		sqlite3_bind_int64(st, 5, u[i].n);
		callsite_bind_some(st, 6, u[i].image);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_ends(struct store *db, const struct store_end *s, size_t n,
	       struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_end"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		sqlite3_bind_int64(st, 1, s[i].frame);
		callsite_bind_some(st, 2, s[i].start);
		callsite_bind_some(st, 3, s[i].open);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_frame_share(struct store *db, const struct store_frame_share *s,
		      struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_frame_share"), err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, s->image);
		sqlite3_bind_int64(st, 2, s->functions);
		sqlite3_bind_int64(st, 3, s->framed);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_stack_checks(struct store *db, const struct store_stack_check *s,
		       size_t n, struct err *err)
{
	const struct callsite_list list = { "old_stack_checks",
					    "drop_stack_checks", s, n,
					    callsite_stack_row };
	int stored = callsite_is_stored(db, &list, err);
	struct row r;

	if (stored)
		return stored < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++) {
		if (db_row(db, T_STACK_CHECK, 0, &r, err))
			return -1;
		row_key(&r, s[i].stack);
		row_int(&r, 1, s[i].checked);
		row_int(&r, 2, s[i].bogus);
		row_id(&r, 3, s[i].first);
		row_id(&r, 4, s[i].image);
		row_int(&r, 5, s[i].gaps);
		row_id(&r, 6, s[i].caller);
	}
	return 0;
}
