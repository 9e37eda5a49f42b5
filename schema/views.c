/* views.c - adds the views to a database that is being made, and checks the
 * tables and views of one from elsewhere.
 *
 * CREATE VIEW parses the text, writes it into the schema and parses it again
 * from there: the views took a third of the time of a small capture. The row
 * that it makes is added here instead. A view with a wrong text is an error
 * only when the database is opened next: tests read each view. */

#include "schema/views.h"

#include "schema/columns.h"
#include "schema/db/db.h"
#include "schema/db/rows.h"
#include "schema/guard/guard.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static const char create_view[] = "CREATE VIEW ";
static const char create_table[] = "CREATE TABLE ";

/* Returns the end of a statement, its semicolon, or the end of the text. */
static const char *views_end(const char *s)
{
	for (; *(s += strcspn(s, ";'\"-")) && *s != ';'; s++) {
		if (*s == '\'' || *s == '"') {
			const char *quote = strchr(s + 1, *s);

			s = quote ? quote : s + strlen(s) - 1;
		} else if (s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
			s -= !*s;
		}
	}
	return s;
}

/* Returns the first statement, after comments and blank lines. */
static const char *views_skip(const char *s)
{
	for (;;) {
		s += strspn(s, " \t\n");
		if (s[0] != '-' || s[1] != '-')
			return s;
		s += strcspn(s, "\n");
	}
}

/* Returns 1 if the database has an object with this name and text, 0 if not, or
 * -1 and *err. */
static int views_ask(const struct store *db, sqlite3_stmt *st, const char *head,
		     const char *s, size_t len, struct err *err)
{
	const char *name = s + strlen(head);

	sqlite3_bind_text(st, 1, name, (int)strcspn(name, " ("), SQLITE_STATIC);
	sqlite3_bind_text(st, 2, s, (int)len, SQLITE_STATIC);
	int got = sqlite3_step(st);

	sqlite3_reset(st);
	return got == SQLITE_ROW || got == SQLITE_DONE ? got == SQLITE_ROW
						       : db_error(db, got, err);
}

/* How objects of one kind are checked. */
struct views_kind {
	const char *head, *file;
	const char *same; /* the query for objects that need no further check */
	int (*differs)(const struct store *db, const char *s, size_t len,
		       struct err *err);
};

/* Returns the number of objects that differ, or -1 and *err. */
static int views_check_kind(const struct store *db, const struct views_kind *k,
			    struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql(k->same), err);
	int rc = st ? 0 : -1;
	int n = 0;

	for (const char *s = views_skip(sql_file(k->file)); !rc && *s;) {
		const char *end = views_end(s);
		size_t len = (size_t)(end - s);

		if (!strncmp(s, k->head, strlen(k->head))) {
			int same = views_ask(db, st, k->head, s, len, err);

			rc = same < 0 ? -1
			     : same   ? 0
				      : k->differs(db, s, len, err);
			n += !same;
		}
		s = views_skip(*end ? end + 1 : end);
	}
	sqlite3_finalize(st);
	return rc ? -1 : n;
}

/* Appends to a SELECT all columns that table `name` has in this schema, which
 * the empty database `made` has: the table's own, and "NULL AS c" for each that
 * the table of the database lacks. Returns how many it lacks, or -1 and *err.
 */
static int views_select_columns(const struct store *db, sqlite3 *made,
				const char *name, sqlite3_str *text,
				struct err *err)
{
	sqlite3_stmt *want = NULL;
	sqlite3_stmt *has = db_prepare(db, store_sql("has_column"), err);
	int lacks = 0;
	int rc = has ? sqlite3_prepare_v2(made, store_sql("column_names"), -1,
					  &want, NULL)
		     : SQLITE_OK;

	if (rc || !has) {
		sqlite3_finalize(has);
		return has ? db_error(db, rc, err) : -1;
	}
	sqlite3_bind_text(want, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(has, 1, name, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(want)) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(want, 0);

		sqlite3_bind_text(has, 2, column, -1, SQLITE_STATIC);
		bool there = sqlite3_step(has) == SQLITE_ROW;

		sqlite3_str_appendf(text, "%s%s\"%w\"",
				    sqlite3_column_int(want, 1) ? "," : "",
				    there ? "" : "NULL AS ", column);
		sqlite3_reset(has);
		lacks += !there;
	}
	sqlite3_finalize(want);
	sqlite3_finalize(has);
	return rc == SQLITE_DONE ? lacks : db_error(db, rc, err);
}

/* A table of an older schema lacks columns, or is not there: a view of this
 * connection has them all. */
static int views_complete(const struct store *db, const char *sql, size_t len,
			  bool missing, struct err *err)
{
	const char *at = sql + sizeof(create_table) - 1;
	char *name = sqlite3_mprintf("%.*s", (int)strcspn(at, " ("), at);
	char *create = sqlite3_mprintf("%.*s", (int)len, sql);
	sqlite3_str *text = sqlite3_str_new(NULL);
	struct guard *none;
	sqlite3 *made =
		guard_open(":memory:", db->path, GUARD_MAKE, &none, err);
	int rc = made ? sqlite3_exec(made, create, NULL, NULL, NULL) : -1;

	if (made && rc)
		db_error(db, rc, err);
	sqlite3_str_appendf(text, "CREATE TEMP VIEW \"%w\" AS SELECT ", name);
	int lacks = rc ? -1 : views_select_columns(db, made, name, text, err);

	if (!missing && !strstr(create, "WITHOUT ROWID"))
		sqlite3_str_appendall(text, ",rowid");
	sqlite3_str_appendf(text, missing ? " WHERE 0" : " FROM main.\"%w\"",
			    name);
	char *view = sqlite3_str_finish(text);

	if (lacks > 0)
		lacks = db_exec(db, view, err);
	guard_close(made, none);
	sqlite3_free(view);
	sqlite3_free(create);
	sqlite3_free(name);
	return lacks < 0 ? -1 : 0;
}

/* Sets *err: something else has that name, of n bytes. Returns -1. */
static int views_refuse(const struct store *db, const char *what,
			const char *name, size_t n, struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s: '%.*s' is no %s as this program makes it; "
		       "ingest the capture again",
		       db->path, (int)n, name, what);
}

/* Skips blanks and comments. Returns true if there were any. */
static bool views_skip_blank(const char **s, const char *end)
{
	const char *from = *s;

	while (*s < end) {
		size_t left = (size_t)(end - *s);

		if (**s == ' ' || **s == '\t' || **s == '\n')
			(*s)++;
		else if (left > 1 && !memcmp(*s, "--", 2))
			*s = memchr(*s, '\n', left) ? memchr(*s, '\n', left)
						    : end;
		else
			break;
	}
	return *s > from;
}

/* Returns whether two texts of a table are the same except for comments, which
 * may be those of another release. Ours has quotes only in comments, so what
 * follows a quote in the other text need not be understood. */
static bool views_same_text(const char *a, size_t n, const char *b, size_t m)
{
	const char *a_end = a + n;
	const char *b_end = b + m;

	for (;;) {
		if (views_skip_blank(&a, a_end) != views_skip_blank(&b, b_end))
			return false;
		if (a == a_end || b == b_end)
			return a == a_end && b == b_end;
		if (*a++ != *b++)
			return false;
	}
}

/* Returns 1 if writing rows to a table evaluates nothing that we did not write:
 * a CHECK, a DEFAULT, a COLLATE. Returns 0 if not, -1 and *err on failure. */
static int views_can_write(const struct store *db, const char *s, size_t len,
			   struct err *err)
{
	const char *name = s + sizeof(create_table) - 1;
	sqlite3_stmt *st = db_prepare(db, store_sql("table_text"), err);
	int same = -1;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, name, (int)strcspn(name, " ("), SQLITE_STATIC);
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		const char *text = db_column_text(st, 0);

		/* SQLite reads it up to a zero byte */
		same = text && views_same_text(s, len, text, strlen(text));
	} else {
		same = rc == SQLITE_DONE ? 0 : db_error(db, rc, err);
	}
	sqlite3_finalize(st);
	return same;
}

/* Checks a table. One with another text may have more columns, and an older one
 * fewer. A table that is written to must be the same. Returns 0, or -1 and
 * *err. */
static int views_check_table(const struct store *db, const char *s, size_t len,
			     struct err *err)
{
	const char *name = s + sizeof(create_table) - 1;
	sqlite3_stmt *st = db_prepare(db, store_sql("plain_table"), err);
	int plain = st ? views_ask(db, st, create_table, s, len, err) : -1;
	int none = 0;

	sqlite3_finalize(st);
	if (!plain && db->older) {
		st = db_prepare(db, store_sql("no_such_thing"), err);
		none = st ? views_ask(db, st, create_table, s, len, err) : -1;
		sqlite3_finalize(st);
	}
	if (plain > 0 && db->writable)
		plain = views_can_write(db, s, len, err);
	if (plain < 0 || none < 0)
		return -1;
	if (plain || none)
		return db->older ? views_complete(db, s, len, none, err) : 0;
	return views_refuse(db, "table", name, strcspn(name, " ("), err);
}

/* Returns -1 and *err if the query finds anything; its columns are those of
 * strange_fields. */
static int views_check_none(const struct store *db, const char *query,
			    const char *what, struct err *err)
{
	struct rows *r = rows_of(db, query, err);

	if (rows_step(r)) {
		struct value name = rows_value(r, STRANGE_FIELDS_NAME);

		views_refuse(db, what, name.text, name.len, err);
		return rows_stop(r);
	}
	return rows_end(r, err);
}

/* Makes a view of this connection, which hides the one of the database. */
static int views_hide(const struct store *db, const char *sql, size_t len,
		      struct err *err)
{
	const size_t head = sizeof(create_view) - 1;
	char *text = sqlite3_mprintf("CREATE TEMP VIEW IF NOT EXISTS %.*s",
				     (int)(len - head), sql + head);
	int rc =
		text ? db_exec(db, text, err) : db_error(db, SQLITE_NOMEM, err);

	sqlite3_free(text);
	return rc;
}

/* Checks everything. A view in place of a table may have endless rows, a
 * generated column may compute anything, and a foreign view may return
 * something else than its name says. */
static int views_check_all(const struct store *db, struct err *err)
{
	static const struct views_kind kinds[] = {
		{ create_table, "tables", "same_table", views_check_table },
		{ create_view, "tables", "same_view", views_hide },
		{ create_view, "views", "same_view", views_hide },
	};

	bool hidden = db->older;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int n = views_check_kind(db, &kinds[i], err);

		if (n < 0)
			return -1;
		hidden |= n && kinds[i].head == create_view;
	}
	/* tables of fields are named by the database */
	if (views_check_none(db, "strange_fields", "table", err) ||
	    (db->writable &&
	     (views_check_none(db, "changed_fields", "table", err) ||
	      views_check_none(db, "computed_index", "index", err))))
		return -1;
	/* Hide all views with views of this connection: a view of the database
	 * uses the views of the database, even if one of this connection hides
	 * them, so one foreign view is enough. */
	for (size_t i = 0; hidden && i < ARRAY_SIZE(kinds); i++) {
		const struct views_kind all = { create_view, kinds[i].file,
						"no_such_thing", views_hide };

		if (kinds[i].head == create_view &&
		    views_check_kind(db, &all, err) < 0)
			return -1;
	}
	return 0;
}

/* In one transaction: each query by itself would lock the file again, four
 * hundred system calls in all. After an error the database is closed. */
int views_check(const struct store *db, struct err *err)
{
	/* PRAGMA: guard_reading() sets it too, and a change of it drops
	 * temporary views */
	if (db_exec(db, "PRAGMA temp_store=FILE; BEGIN", err) ||
	    views_check_all(db, err))
		return -1;
	return db_exec(db, "COMMIT", err);
}

int views_add(const struct store *db, const char *sql, struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_view"), err);
	int rc = st ? 0 : -1;

	for (const char *s = views_skip(sql); !rc && *s;) {
		const char *end = views_end(s);
		const char *name = s + sizeof(create_view) - 1;

		if (strncmp(s, create_view, sizeof(create_view) - 1) != 0) {
			rc = err_set(err, ERR_DB, "'%.20s': needs CREATE VIEW",
				     s);
			break;
		}
		sqlite3_bind_text(st, 1, name, (int)strcspn(name, " ("),
				  SQLITE_STATIC);
		sqlite3_bind_text(st, 2, s, (int)(end - s), SQLITE_STATIC);
		rc = db_step(db, st, err);
		s = views_skip(*end ? end + 1 : end);
	}
	sqlite3_finalize(st);
	return rc;
}
