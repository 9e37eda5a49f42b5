/* function_at.c - at(TIME): the mappings of each process at a time. */
#include <stddef.h>

#include "schema/db/queries.h"
#include "schema/functions/functions.h"

static int at_step(struct table_call *c, char **message)
{
	if (!functions_enter(c->fs, "at()", message))
		return SQLITE_ERROR;
	int rc = sqlite3_step(c->data);

	functions_leave(c->fs);
	c->end = rc != SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int at_filter(struct table_call *c, sqlite3_value **arg, char **message)
{
	sqlite3_stmt *st = c->data;
	int rc = SQLITE_OK;

	if (!st) {
		rc = sqlite3_prepare_v2(c->fs->db, store_sql("fn_at"), -1, &st,
					NULL);
		c->data = st;
	}
	if (rc)
		return rc;
	sqlite3_reset(st);
	sqlite3_bind_value(st, 1, arg[0]);
	return at_step(c, message);
}

static void at_column(const struct table_call *c, sqlite3_context *ctx, int i)
{
	sqlite3_result_value(ctx, sqlite3_column_value(c->data, i));
}

static void at_close(struct table_call *c)
{
	sqlite3_finalize(c->data);
}

const struct table_function at_function = {
	.columns = "CREATE TABLE x(pid INTEGER, line TEXT, capture INTEGER, "
		   "t0 INTEGER, t1 INTEGER, time HIDDEN)",
	.n_columns = 5,
	.n_args = 1,
	.required = 1,
	.filter = at_filter,
	.next = at_step,
	.column = at_column,
	.close = at_close,
};
