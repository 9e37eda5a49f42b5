/* row_cursor.h - rows that are read along with the events of a database.
 *
 * Column 0 of the statement is the id of an event, in ascending order; events
 * are asked for in the order of their ids. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct rows;
struct store;

/* Zero-initialised is empty: it has no row. */
struct row_cursor {
	struct rows *rows;
	bool more;     /* rows is at a row, */
	int64_t event; /* which belongs to this event */
};

/* Opens a statement at its first row. Returns 0, or -1 and *err; close it in
 * either case. */
int row_cursor_open(struct row_cursor *c, struct store *db, const char *sql,
		    struct err *err);
/* Returns whether this can be the name of an ev_ table: the store makes them
 * of letters, digits and '_', but a database may be from elsewhere. */
bool row_cursor_is_table(const char *name);
/* Like row_cursor_open() for all rows of the ev_ table of that name. pages:
 * only values of their kind are asked for, see rows_by_pages(). */
int row_cursor_open_table(struct row_cursor *c, struct store *db,
			  const char *name, bool pages, struct err *err);
/* Moves to the next row. Returns 0, at the end too, or -1 and *err. */
int row_cursor_step(struct row_cursor *c, struct err *err);
/* Moves to the first row of an event. Returns 1 if there is one, 0 if not, or
 * -1 and *err. */
int row_cursor_seek(struct row_cursor *c, int64_t event, struct err *err);
void row_cursor_close(struct row_cursor *c);
