/* functions_state.c - what our SQL functions keep on one connection. */
#include "schema/functions/functions_state.h"

#include "schema/db/queries.h"
#include "stitch/base/mem.h"

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

void functions_forget_statements(struct functions *fs)
{
	for (int i = 0; i < Q_N; i++) {
		sqlite3_finalize(fs->st[i]);
		fs->st[i] = NULL;
	}
}

void functions_unref(void *arg)
{
	struct functions *fs = arg;

	if (--fs->refs)
		return;
	functions_forget_statements(fs);
	free(fs);
}
