/* virtual_tables.h - tables whose rows the program computes when a statement
 * reads them.
 *
 * They exist on one connection and are not in the database: SELECT can use
 * their names like those of tables, unless the database has a table with the
 * name. Views of the database cannot use them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/rows.h"

/* The rows that a statement needs; more may be returned. */
struct virtual_ask {
	bool by_id, by_tid;
	int64_t id, tid;
	int64_t low, high; /* rows that touch these times */
};

#define VIRTUAL_END SIZE_MAX

struct virtual_table {
	const char *name; /* its columns are in schema/sql/computed.sql */
	bool has_id;	  /* the first column is id */
	/* Called for each statement that reads the rows. Returns 0, or -1 and
	 * *err. */
	int (*load)(void *arg, struct err *err);
	/* Returns the number of the first matching row at or after `row`, or
	 * VIRTUAL_END. Numbers may have gaps. */
	size_t (*next)(void *arg, const struct virtual_ask *ask, size_t row);
	/* Sets *v to the value of a column, NULL by default; text is copied
	 * before the next call. */
	void (*cell)(void *arg, size_t row, int column, struct value *v);
	int tid, t0, t1; /* those columns; 0: it has none */
};

/* Set a cell to a number, and to a text, which is NULL if it is "". */
static inline void virtual_int(struct value *v, int64_t n)
{
	*v = (struct value){ .kind = VALUE_INT, .num = n };
}

static inline void virtual_text(struct value *v, const char *text)
{
	if (text && *text)
		*v = (struct value){ .kind = VALUE_TEXT, .text = text };
}

/* Adds n tables. They and arg must live until store_close(). Returns 0, or -1
 * and *err. */
int store_give_tables(const struct store *db, const struct virtual_table *t,
		      size_t n, void *arg, struct err *err);
