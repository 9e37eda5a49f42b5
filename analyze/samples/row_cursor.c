/* row_cursor.c - rows that are read along with the events of a database. */
#include "analyze/samples/row_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"

int row_cursor_step(struct row_cursor *c, struct err *err)
{
	int rc = rows_next(c->rows, err);

	c->more = rc > 0;
	c->event = rc > 0 ? rows_int(c->rows, PRINT_EV_ROWS_EVENT_ID) : 0;
	return rc < 0 ? -1 : 0;
}

int row_cursor_open(struct row_cursor *c, struct store *db, const char *sql,
		    struct err *err)
{
	*c = (struct row_cursor){ .rows = rows_open(db, sql, NULL, 0, err) };
	return c->rows ? row_cursor_step(c, err) : -1;
}

bool row_cursor_is_table(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len < STORE_NAME_MAX;
}

int row_cursor_open_table(struct row_cursor *c, struct store *db,
			  const char *name, bool pages, struct err *err)
{
	const struct sql_gap table = { "table", name };
	char *sql = store_sql_fill("print_ev_rows", &table, 1);

	*c = (struct row_cursor){ .rows = rows_open(db, sql, NULL, 0, err) };
	free(sql);
	if (c->rows && pages)
		rows_by_pages(c->rows, name);
	return c->rows ? row_cursor_step(c, err) : -1;
}

int row_cursor_seek(struct row_cursor *c, int64_t event, struct err *err)
{
	while (c->more && c->event < event)
		if (row_cursor_step(c, err))
			return -1;
	return c->more && c->event == event;
}

void row_cursor_close(struct row_cursor *c)
{
	rows_close(c->rows);
	*c = (struct row_cursor){ 0 };
}
