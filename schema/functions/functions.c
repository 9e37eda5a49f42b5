/* functions.c - the list of our SQL functions, and their registration; at().
 *
 * A new function is one row here and its code. All are innocuous in SQLite's
 * sense: they read the database of their connection and change nothing, so
 * views may use them. Functions whose result depends only on their arguments
 * are deterministic; functions that read tables are not. */
#include "schema/functions/functions.h"

#include "schema/db/queries.h"
#include "stitch/base/mem.h"

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

static const char *const query_name[Q_N] = {
	[Q_STACK] = "fn_stack",	    [Q_FRAME] = "fn_frame",
	[Q_INLINED] = "fn_inlined", [Q_LABEL] = "fn_label",
	[Q_WALL] = "fn_wall",
};

bool functions_enter(struct functions *fs, const char *name, char **message)
{
	if (fs->inside) {
		*message = sqlite3_mprintf("%s: a table of this database "
					   "calls it while it is read",
					   name);
		return false;
	}
	fs->inside = true;
	return true;
}

void functions_leave(struct functions *fs)
{
	fs->inside = false;
}

sqlite3_stmt *functions_statement(struct functions *fs, enum function_query q)
{
	if (!fs->st[q])
		sqlite3_prepare_v3(fs->db, store_sql(query_name[q]), -1,
				   SQLITE_PREPARE_PERSISTENT, &fs->st[q], NULL);
	return fs->st[q];
}

static void functions_forget_statements(struct functions *fs)
{
	for (int i = 0; i < Q_N; i++) {
		sqlite3_finalize(fs->st[i]);
		fs->st[i] = NULL;
	}
}

/* Drops a reference; the last one frees the state. */
static void functions_unref(void *arg)
{
	struct functions *fs = arg;

	if (--fs->refs)
		return;
	functions_forget_statements(fs);
	free(fs);
}

/* Functions that return rows, as eponymous virtual tables. */

/* Freed with the module. */
struct module {
	struct functions *fs;
	const char *name;
	const struct table_function *f;
};

/* When a module is replaced, SQLite frees it before it disconnects its table,
 * so the table has a copy and a reference to fs. */
struct vtab {
	sqlite3_vtab base;
	struct module m;
};

static int vtab_connect(sqlite3 *db, void *aux, int argc UNUSED,
			const char *const *argv UNUSED, sqlite3_vtab **out,
			char **message UNUSED)
{
	const struct module *m = aux;
	int rc = sqlite3_declare_vtab(db, m->f->columns);

	if (rc)
		return rc;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	struct vtab *v = mem_new(1, sizeof(*v));

	v->m = *m;
	v->m.fs->refs++;
	*out = &v->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab)
{
	struct vtab *v = (struct vtab *)vtab;

	if (v->m.f->disconnect)
		v->m.f->disconnect(v->m.fs);
	functions_unref(v->m.fs);
	free(v);
	return SQLITE_OK;
}

/* A comparison of a hidden column with = passes the argument. idxNum has a bit
 * for each argument given, in the order of argv. */
static int vtab_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct table_function *f = ((struct vtab *)vtab)->m.f;
	int at[TABLE_ARGS_MAX];
	int n = 0;

	memset(at, -1, sizeof(at));
	info->idxNum = 0;
	for (int i = 0; i < info->nConstraint; i++) {
		int arg = info->aConstraint[i].iColumn - f->n_columns;

		if (arg < 0 || arg >= f->n_args ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		/* another plan must provide the value first */
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		if (at[arg] < 0)
			at[arg] = i;
	}
	for (int arg = 0; arg < f->n_args; arg++) {
		if (at[arg] < 0)
			continue;
		info->aConstraintUsage[at[arg]].argvIndex = ++n;
		info->aConstraintUsage[at[arg]].omit = 1;
		info->idxNum |= 1 << arg;
	}
	info->estimatedCost = 100000;
	info->estimatedRows = 10000;
	return SQLITE_OK;
}

static int vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct table_call *c = mem_new(1, sizeof(*c));

	c->fs = ((struct vtab *)vtab)->m.fs;
	*out = &c->base;
	return SQLITE_OK;
}

static const struct table_function *vtab_function(const struct table_call *c)
{
	return ((struct vtab *)c->base.pVtab)->m.f;
}

static int vtab_close(sqlite3_vtab_cursor *cursor)
{
	struct table_call *c = (struct table_call *)cursor;

	if (vtab_function(c)->close)
		vtab_function(c)->close(c);
	free(c);
	return SQLITE_OK;
}

/* Ends the call on an error; the message goes where SQLite looks for it. */
static int vtab_result(struct table_call *c, int rc, char *message)
{
	sqlite3_vtab *v = c->base.pVtab;

	if (rc) {
		c->end = 1;
		sqlite3_free(v->zErrMsg);
		v->zErrMsg = message ? message
				     : sqlite3_mprintf(
					       "%s", sqlite3_errmsg(c->fs->db));
	}
	return rc;
}

static int vtab_filter(sqlite3_vtab_cursor *cursor, int given,
		       const char *str UNUSED, int argc, sqlite3_value **argv)
{
	struct table_call *c = (struct table_call *)cursor;
	const struct vtab *v = (struct vtab *)cursor->pVtab;
	const struct table_function *f = v->m.f;
	sqlite3_value *arg[TABLE_ARGS_MAX] = { NULL };
	char *message = NULL;
	int n = 0;

	for (int i = 0; i < f->n_args && n < argc; i++)
		if (given & 1 << i)
			arg[i] = argv[n++];
	c->row = 0;
	c->end = 0;
	for (int i = 0; i < f->required; i++)
		if (!arg[i])
			return vtab_result(
				c, SQLITE_ERROR,
				sqlite3_mprintf("%s() needs an argument",
						v->m.name));
	int rc = f->filter(c, arg, &message);

	return vtab_result(c, rc, message);
}

static int vtab_next(sqlite3_vtab_cursor *cursor)
{
	struct table_call *c = (struct table_call *)cursor;
	char *message = NULL;

	c->row++;
	int rc = vtab_function(c)->next(c, &message);

	return vtab_result(c, rc, message);
}

static int vtab_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct table_call *)cursor)->end;
}

/* hidden columns are NULL: SQLite has the argument that it passed */
static int vtab_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct table_call *c = (struct table_call *)cursor;

	if (i < vtab_function(c)->n_columns)
		vtab_function(c)->column(c, ctx, i);
	return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ((struct table_call *)cursor)->row + 1;
	return SQLITE_OK;
}

/* Without xCreate the table exists without CREATE VIRTUAL TABLE. */
static const sqlite3_module vtab_methods = {
	.iVersion = 1,
	.xConnect = vtab_connect,
	.xBestIndex = vtab_best_index,
	.xDisconnect = vtab_disconnect,
	.xOpen = vtab_open,
	.xClose = vtab_close,
	.xFilter = vtab_filter,
	.xNext = vtab_next,
	.xEof = vtab_eof,
	.xColumn = vtab_column,
	.xRowid = vtab_rowid,
};

static void vtab_module_free(void *arg)
{
	struct module *m = arg;

	functions_unref(m->fs);
	free(m);
}

/* Registers f under a name. The registration drops a reference to fs when it
 * ends. Returns an SQLite result code. */
static int table_function_add(struct functions *fs, const char *name,
			      const struct table_function *f)
{
	struct module *m = mem_new(1, sizeof(*m));

	*m = (struct module){ fs, name, f };
	return sqlite3_create_module_v2(fs->db, name, &vtab_methods, m,
					vtab_module_free);
}

#define READS (SQLITE_UTF8 | SQLITE_INNOCUOUS)
#define PURE (READS | SQLITE_DETERMINISTIC)

static const struct function function_list[] = {
	{ "stack_text", "STACK", "a stack as text, innermost frame first", 1,
	  READS, function_stack_text, NULL },
	{ "folded", "KERNEL, USER",
	  "two stacks as one line of folded stacks, without comm and marks", 2,
	  READS, function_folded, NULL },
	{ "frame_name", "FRAME", "the function of a frame, or FILE+OFFSET", 1,
	  READS, function_frame_name, NULL },
	{ "hex", "VALUE",
	  "an integer as unsigned hexadecimal, 0x...; blobs as SQLite does", 1,
	  PURE, function_hex, NULL },
	{ "demangle", "NAME", "a C++, Rust or D name as people write it", 1,
	  PURE, function_demangle, NULL },
	{ "wall", "TIME", "a time as UTC, where a capture tells wall time", 1,
	  READS, function_wall, NULL },
	{ "flame", "[EVENT, COMM, CAPTURE, PID, FROM, TO]",
	  "rows: the flame graph as a tree", 0, 0, NULL, &flame_function },
	{ "at", "TIME", "rows: what was mapped at a time, as /proc/PID/maps", 0,
	  0, NULL, &at_function },
	{ "backstitch_functions", "", "rows: this list", 0, 0, NULL,
	  &list_function },
	{ 0 }
};

/* backstitch_functions: the list as a table. */
static int list_filter(struct table_call *c, sqlite3_value **arg UNUSED,
		       char **message UNUSED)
{
	c->end = !function_list[c->row].name;
	return SQLITE_OK;
}

static int list_next(struct table_call *c, char **message)
{
	return list_filter(c, NULL, message);
}

static void list_column(const struct table_call *c, sqlite3_context *ctx, int i)
{
	const struct function *f = &function_list[c->row];
	const char *text[] = { f->name, f->args, f->help };

	sqlite3_result_text(ctx, text[i], -1, SQLITE_STATIC);
}

const struct table_function list_function = {
	.columns = "CREATE TABLE x(name TEXT, args TEXT, help TEXT)",
	.n_columns = 3,
	.filter = list_filter,
	.next = list_next,
	.column = list_column,
	.disconnect = functions_forget_statements,
};

int functions_add(sqlite3 *db, demangle_fn *demangle)
{
	struct functions *fs = mem_new(1, sizeof(*fs));
	int rc = SQLITE_OK;

	*fs = (struct functions){ .db = db, .demangle = demangle, .refs = 1 };
	for (const struct function *f = function_list; !rc && f->name; f++) {
		fs->refs++; /* SQLite drops it if the call fails */
		rc = f->table ? table_function_add(fs, f->name, f->table)
			      : sqlite3_create_function_v2(
					db, f->name, f->n_args, f->flags, fs,
					f->value, NULL, NULL, functions_unref);
	}
	/* connects backstitch_functions: its disconnection finalizes the
	 * statements before SQLite looks for open ones */
	if (!rc)
		rc = sqlite3_exec(db, store_sql("fn_connect"), NULL, NULL,
				  NULL);
	functions_unref(fs);
	return rc;
}
