/* functions.c - the list of our SQL functions, and their registration.
 *
 * A new function is one row here and its code. All are innocuous in SQLite's
 * sense: they read the database of their connection and change nothing, so
 * views may use them. Functions whose result depends on nothing but their
 * arguments are deterministic; functions that read tables are not. */
#include "schema/functions/functions.h"

#include "schema/db/queries.h"
#include "schema/functions/functions_state.h"
#include "schema/functions/table_function.h"
#include "stitch/base/mem.h"

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
