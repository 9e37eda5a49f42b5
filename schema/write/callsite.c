/* callsite.c - rows of the call-site check. */
#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"

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
	if ((db->making && flush_frames(db, err)) || db_drain(db, err))
		return -1;
	return db_exec(db, sql_file("callsite"), err);
}

int store_callsites(struct store *db, const struct store_callsite *c, size_t n,
		    struct err *err)
{
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

int store_other_file(struct store *db, const struct store_other_file *o,
		     struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_other_file"), err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, o->image);
		sqlite3_bind_int64(st, 2, o->calls);
		sqlite3_bind_int64(st, 3, o->no_call);
		sqlite3_bind_int64(st, 4, o->proved);
		db_bind_text(st, 5, o->why);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_links(struct store *db, const struct store_link *l, size_t n,
		struct err *err)
{
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
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_stack_checks(struct store *db, const struct store_stack_check *s,
		       size_t n, struct err *err)
{
	struct row r;

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
	return db_drain(db, err);
}
