/* given.c - tables whose rows the program computes, as eponymous virtual
 * tables.
 */
#include "schema/db/given.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schema/db/db.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/db/sqlite_api.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct given {
	const struct given_table *t;
	void *arg;
};

struct given_vtab {
	sqlite3_vtab base;
	struct given g;
};

struct given_cursor {
	sqlite3_vtab_cursor base;
	size_t row, n;
};

static const struct given *given_of(const sqlite3_vtab_cursor *c)
{
	return &((const struct given_vtab *)c->pVtab)->g;
}

static int given_fail(sqlite3_vtab_cursor *c, const struct err *why)
{
	sqlite3_free(c->pVtab->zErrMsg);
	c->pVtab->zErrMsg = sqlite3_mprintf("%s", why->msg);
	return SQLITE_ERROR;
}

/* Tells SQLite the columns of a table, as computed.sql has them. */
static int given_declare(sqlite3 *db, const char *name)
{
	char *head = sqlite3_mprintf("CREATE TABLE %s(", name);
	const char *sql = strstr(sql_file("computed"), head);
	char *text = sqlite3_mprintf("%.*s",
				     (int)(strstr(sql, "\n);") + 2 - sql), sql);
	int rc = sqlite3_declare_vtab(db, text);

	sqlite3_free(text);
	sqlite3_free(head);
	return rc;
}

static int given_connect(sqlite3 *db, void *aux, int argc,
			 const char *const *argv, sqlite3_vtab **out,
			 char **message)
{
	const struct given *g = aux;
	int rc = given_declare(db, g->t->name);
	struct given_vtab *v;

	(void)argc;
	(void)argv;
	(void)message;
	if (rc)
		return rc;
	/* what views of a foreign database may not do */
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	v = mem_new(1, sizeof(*v));
	v->g = *g;
	*out = &v->base;
	return SQLITE_OK;
}

static int given_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* A row is found at once by its id, so that joins by it are fast. */
static int given_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct given_vtab *v = (const struct given_vtab *)vtab;

	info->idxNum = 0;
	info->estimatedCost = 1000000;
	info->estimatedRows = 100000;
	for (int i = 0; v->g.t->has_id && i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != 0 ||
		    !info->aConstraint[i].usable ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
		break;
	}
	return SQLITE_OK;
}

static int given_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct given_cursor *c = mem_new(1, sizeof(*c));

	(void)vtab;
	*out = &c->base;
	return SQLITE_OK;
}

static int given_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int given_filter(sqlite3_vtab_cursor *cursor, int by_id, const char *str,
			int argc, sqlite3_value **argv)
{
	struct given_cursor *c = (struct given_cursor *)cursor;
	const struct given *g = given_of(cursor);
	struct err why = { 0 };

	(void)str;
	(void)argc;
	c->row = 0;
	if (g->t->load(g->arg, &c->n, &why))
		return given_fail(cursor, &why);
	if (by_id) {
		sqlite3_int64 id = sqlite3_value_int64(argv[0]);
		bool has =
			sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER &&
			id > 0 && (uint64_t)id <= c->n;

		c->row = has ? (size_t)id - 1 : 0;
		c->n = has ? c->row + 1 : 0;
	}
	return SQLITE_OK;
}

static int given_next(sqlite3_vtab_cursor *cursor)
{
	((struct given_cursor *)cursor)->row++;
	return SQLITE_OK;
}

static int given_eof(sqlite3_vtab_cursor *cursor)
{
	const struct given_cursor *c = (const struct given_cursor *)cursor;

	return c->row >= c->n;
}

static int given_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx,
			int i)
{
	const struct given_cursor *c = (const struct given_cursor *)cursor;
	const struct given *g = given_of(cursor);
	struct value v = { .kind = VALUE_NULL };
	struct err why = { 0 };

	if (g->t->cell(g->arg, c->row, i, &v, &why))
		return given_fail(cursor, &why);
	if (v.kind == VALUE_INT)
		sqlite3_result_int64(ctx, v.num);
	else if (v.kind == VALUE_REAL)
		sqlite3_result_double(ctx, v.real);
	else if (v.kind == VALUE_TEXT)
		sqlite3_result_text(ctx, v.text, -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int given_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((const struct given_cursor *)cursor)->row + 1;
	return SQLITE_OK;
}

/* Without xCreate a table exists without CREATE VIRTUAL TABLE. */
static const sqlite3_module given_methods = {
	.iVersion = 1,
	.xConnect = given_connect,
	.xBestIndex = given_best_index,
	.xDisconnect = given_disconnect,
	.xOpen = given_open,
	.xClose = given_close,
	.xFilter = given_filter,
	.xNext = given_next,
	.xEof = given_eof,
	.xColumn = given_column,
	.xRowid = given_rowid,
};

int store_give_tables(struct store *db, const struct given_table *t, size_t n,
		      void *arg, struct err *err)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		struct given *g = mem_new(1, sizeof(*g));

		*g = (struct given){ &t[i], arg };
		rc = sqlite3_create_module_v2(db->db, t[i].name, &given_methods,
					      g, free);
	}
	return rc ? db_error(db, rc, err) : 0;
}
