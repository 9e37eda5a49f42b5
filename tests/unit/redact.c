/* redact.c - copies of databases for somebody else. */
#include "schema/read/redact.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/maker.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "tests/unit/run.h"

static bool is_listed(const char *table, const char *column)
{
	for (const struct redact_column *c = redact_columns; c->table; c++)
		if (!strcmp(c->table, table) && !strcmp(c->column, column))
			return true;
	return false;
}

static struct store *redact_empty(struct frames *fr, struct ledger *lg)
{
	const struct maker_opts o = { .no_thread = true };
	struct err err = { 0 };
	struct maker *mk = maker_create_temp(&o, fr, &err);
	struct store *db = mk ? maker_finish(mk, lg, &err) : NULL;

	ck_assert_msg(db != NULL, "%s", err.msg);
	return db;
}

/* Also where the type is not said: such a column may hold anything. */
START_TEST(every_column_with_words_has_a_rule)
{
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct store *db = redact_empty(fr, lg);
	struct err err = { 0 };
	struct rows *r =
		rows_open(db,
			  "SELECT m.name, c.name FROM sqlite_schema m, "
			  "pragma_table_info(m.name) c WHERE m.type = 'table' "
			  "AND c.type NOT IN ('INTEGER', 'REAL')",
			  NULL, 0, &err);
	int n = 0;

	ck_assert_msg(r, "%s", err.msg);
	while (rows_next(r, &err) > 0) {
		n++;
		ck_assert_msg(is_listed(rows_text(r, 0), rows_text(r, 1)),
			      "%s.%s", rows_text(r, 0), rows_text(r, 1));
	}
	ck_assert_int_gt(n, 40);
	rows_close(r);
	store_close(db);
	ledger_free(lg);
	frames_free(fr);
}
END_TEST

START_TEST(every_rule_is_of_a_column)
{
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct store *db = redact_empty(fr, lg);

	for (const struct redact_column *c = redact_columns; c->table; c++) {
		struct err err = { 0 };
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT \"%s\" FROM \"%s\"",
			 c->column, c->table);
		struct rows *r = rows_open(db, sql, NULL, 0, &err);

		ck_assert_msg(r, "%s", err.msg);
		/* a name that is no column would be a string */
		ck_assert_str_eq(rows_name(r, 0), c->column);
		rows_close(r);
	}
	store_close(db);
	ledger_free(lg);
	frames_free(fr);
}
END_TEST

RUN("redact", every_column_with_words_has_a_rule, every_rule_is_of_a_column)
