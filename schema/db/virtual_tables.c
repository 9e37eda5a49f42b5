/* virtual_tables.c - tables whose rows the program computes, as eponymous
 * virtual tables.
 */
#include "schema/db/virtual_tables.h"

#include "schema/db/db.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct virtual_bound {
	const struct virtual_table *t;
	void *arg;
};

struct virtual_vtab {
	sqlite3_vtab base;
	struct virtual_bound g;
};

struct virtual_cursor {
	sqlite3_vtab_cursor base;
	struct virtual_ask ask;
	size_t row;
};

static const struct virtual_bound *virtual_of(const sqlite3_vtab_cursor *c)
{
	return &((const struct virtual_vtab *)c->pVtab)->g;
}

static int virtual_connect(sqlite3 *db, void *aux, int argc,
			   const char *const *argv, sqlite3_vtab **out,
			   char **message)
{
	const struct virtual_bound *g = aux;
	/* Tell SQLite the columns of a table, as computed.sql has them. */
	char *head = sqlite3_mprintf("CREATE TABLE %s(", g->t->name);
	const char *sql = strstr(sql_file("computed"), head);
	char *text = sqlite3_mprintf("%.*s",
				     (int)(strstr(sql, "\n);") + 2 - sql), sql);
	int rc = sqlite3_declare_vtab(db, text);

	sqlite3_free(text);
	sqlite3_free(head);

	(void)argc;
	(void)argv;
	(void)message;
	if (rc)
		return rc;
	/* views of a foreign database must not read it, and it must not read
	 * such a view: loading it has no guard */
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	struct virtual_vtab *v = mem_new(1, sizeof(*v));
	v->g = *g;
	*out = &v->base;
	return SQLITE_OK;
}

static int virtual_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* The meaning of an argument of virtual_filter(): a letter of its idxStr. */
#define VIRTUAL_ID 'i'
#define VIRTUAL_TID 't'
#define VIRTUAL_LOW 'l'
#define VIRTUAL_HIGH 'h'
#define VIRTUAL_AT 'a' /* both */
#define VIRTUAL_ARGS 8

/* Returns what a constraint narrows; 0: nothing. A row that begins after a
 * time ends after it too. */
static char virtual_letter(const struct virtual_table *t, int column,
			   unsigned char op)
{
	bool at = op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (t->has_id && column == 0)
		return at ? VIRTUAL_ID : 0;
	if (column == t->tid)
		return at ? VIRTUAL_TID : 0;
	if (!t->t1 || (column != t->t0 && column != t->t1))
		return 0;
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return VIRTUAL_AT;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return VIRTUAL_LOW;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return VIRTUAL_HIGH;
	default:
		return 0;
	}
}

/* Lets SQLite find a row by its id, and those of a thread by its tid, so that
 * joins by these are fast. */
static int virtual_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct virtual_vtab *v = (const struct virtual_vtab *)vtab;
	char letters[VIRTUAL_ARGS + 1] = "";
	int n = 0;

	info->estimatedCost = 1000000;
	info->estimatedRows = 100000;
	for (int i = 0; n < VIRTUAL_ARGS && i < info->nConstraint; i++) {
		char letter =
			virtual_letter(v->g.t, info->aConstraint[i].iColumn,
				       info->aConstraint[i].op);

		if (!letter || !info->aConstraint[i].usable)
			continue;
		letters[n++] = letter;
		info->aConstraintUsage[i].argvIndex = n;
	}
	if (strchr(letters, VIRTUAL_ID)) {
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
	} else if (strchr(letters, VIRTUAL_TID)) {
		info->estimatedCost = n > 1 ? 10 : 1000;
		info->estimatedRows = n > 1 ? 10 : 1000;
	} else if (n) {
		info->estimatedCost = 100000;
		info->estimatedRows = 10000;
	}
	info->idxStr = sqlite3_mprintf("%s", letters);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int virtual_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct virtual_cursor *c = mem_new(1, sizeof(*c));

	(void)vtab;
	*out = &c->base;
	return SQLITE_OK;
}

static int virtual_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* Takes the arguments. SQLite compares all rows again, so an argument that is
 * not an integer need not narrow them. Returns false if no row can match. */
static bool virtual_narrow(struct virtual_ask *ask, const char *letters,
			   sqlite3_value **argv)
{
	*ask = (struct virtual_ask){ .low = INT64_MIN, .high = INT64_MAX };
	for (size_t i = 0; letters[i]; i++) {
		int64_t n = sqlite3_value_int64(argv[i]);
		char k = letters[i];

		if (sqlite3_value_numeric_type(argv[i]) != SQLITE_INTEGER) {
			if (k == VIRTUAL_ID)
				return false;
			continue;
		}
		if (k == VIRTUAL_ID) {
			ask->by_id = true;
			ask->id = n;
		}
		if (k == VIRTUAL_TID) {
			ask->by_tid = true;
			ask->tid = n;
		}
		if ((k == VIRTUAL_LOW || k == VIRTUAL_AT) && n > ask->low)
			ask->low = n;
		if ((k == VIRTUAL_HIGH || k == VIRTUAL_AT) && n < ask->high)
			ask->high = n;
	}
	return true;
}

static int virtual_filter(sqlite3_vtab_cursor *cursor, int idx,
			  const char *letters, int argc, sqlite3_value **argv)
{
	struct virtual_cursor *c = (struct virtual_cursor *)cursor;
	const struct virtual_bound *g = virtual_of(cursor);
	struct err why = { 0 };

	(void)idx;
	(void)argc;
	if (g->t->load(g->arg, &why)) {
		sqlite3_free(cursor->pVtab->zErrMsg);
		cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", why.msg);
		return SQLITE_ERROR;
	}
	c->row = virtual_narrow(&c->ask, letters, argv)
			 ? g->t->next(g->arg, &c->ask, 0)
			 : VIRTUAL_END;
	return SQLITE_OK;
}

static int virtual_next(sqlite3_vtab_cursor *cursor)
{
	struct virtual_cursor *c = (struct virtual_cursor *)cursor;
	const struct virtual_bound *g = virtual_of(cursor);

	c->row = g->t->next(g->arg, &c->ask, c->row + 1);
	return SQLITE_OK;
}

static int virtual_eof(sqlite3_vtab_cursor *cursor)
{
	return ((const struct virtual_cursor *)cursor)->row == VIRTUAL_END;
}

static int virtual_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx,
			  int i)
{
	const struct virtual_cursor *c = (const struct virtual_cursor *)cursor;
	const struct virtual_bound *g = virtual_of(cursor);
	struct value v = { .kind = VALUE_NULL };

	g->t->cell(g->arg, c->row, i, &v);
	if (v.kind == VALUE_INT)
		sqlite3_result_int64(ctx, v.num);
	else if (v.kind == VALUE_REAL)
		sqlite3_result_double(ctx, v.real);
	else if (v.kind == VALUE_TEXT)
		sqlite3_result_text(ctx, v.text, -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int virtual_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((const struct virtual_cursor *)cursor)->row + 1;
	return SQLITE_OK;
}

/* Without xCreate a table exists without CREATE VIRTUAL TABLE. */
static const sqlite3_module virtual_methods = {
	.iVersion = 1,
	.xConnect = virtual_connect,
	.xBestIndex = virtual_best_index,
	.xDisconnect = virtual_disconnect,
	.xOpen = virtual_open,
	.xClose = virtual_close,
	.xFilter = virtual_filter,
	.xNext = virtual_next,
	.xEof = virtual_eof,
	.xColumn = virtual_column,
	.xRowid = virtual_rowid,
};

int store_give_tables(const struct store *db, const struct virtual_table *t,
		      size_t n, void *arg, struct err *err)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		struct virtual_bound *g = mem_new(1, sizeof(*g));

		*g = (struct virtual_bound){ &t[i], arg };
		rc = sqlite3_create_module_v2(db->db, t[i].name,
					      &virtual_methods, g, free);
	}
	return rc ? db_error(db, rc, err) : 0;
}
