/* served.c - a temporary database whose rows a server has added up. */
#include "schema/write/served.h"

#include <sqlite3.h>

#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"

#define STATEMENTS 32

struct served {
	struct maker *mk;
	struct {
		const char *query; /* NULL: free */
		sqlite3_stmt *st;
	} of[STATEMENTS];
};

struct served *served_new(struct maker *mk, struct err *err)
{
	struct served *s = mem_new(1, sizeof(*s));

	s->mk = mk;
	if (!maker_exec(mk, sql_file("served"), err))
		return s;
	served_free(s);
	return NULL;
}

static sqlite3_stmt *served_statement(struct served *s, const char *query,
				      struct err *err)
{
	size_t i = 0;

	while (i < STATEMENTS - 1 && s->of[i].query &&
	       strcmp(s->of[i].query, query) != 0)
		i++;
	if (s->of[i].query)
		return s->of[i].st;
	s->of[i].st = maker_prepare(s->mk, store_sql(query), err);
	s->of[i].query = s->of[i].st ? query : NULL;
	return s->of[i].st;
}

int served_put(struct served *s, const char *query, const struct value *v,
	       size_t n, struct err *err)
{
	sqlite3_stmt *st = served_statement(s, query, err);

	if (!st)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int at = (int)i + 1;

		if (v[i].kind == VALUE_INT)
			sqlite3_bind_int64(st, at, v[i].num);
		else if (v[i].kind == VALUE_TEXT)
			sqlite3_bind_text(st, at, v[i].text, (int)v[i].len,
					  SQLITE_STATIC);
		else if (v[i].kind == VALUE_BLOB)
			sqlite3_bind_blob(st, at, v[i].text, (int)v[i].len,
					  SQLITE_STATIC);
		else
			sqlite3_bind_null(st, at);
	}
	return db_step(s->mk->db, st, err);
}

static void served_drop_statements(struct served *s)
{
	for (size_t i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(s->of[i].st);
		s->of[i].st = NULL;
		s->of[i].query = NULL;
	}
}

int served_end(struct served *s, struct err *err)
{
	int64_t n;

	served_drop_statements(s);
	if (maker_exec(s->mk, store_sql("served_fill_groups"), err) ||
	    maker_number(s->mk, "SELECT coalesce(sum(n), 0) FROM sample_group",
			 &n, err))
		return -1;
	sample_groups_by_sql(s->mk);
	s->mk->w->grouped = (uint64_t)n;
	return 0;
}

void served_free(struct served *s)
{
	if (!s)
		return;
	served_drop_statements(s);
	free(s);
}
