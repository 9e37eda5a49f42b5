/* given.h - tables whose rows the program computes when a statement reads them.
 *
 * They are for one connection and are not in the database: SELECT takes their
 * name as it takes that of a table, unless the database has one of that name.
 * Views of the database cannot use them. */
#ifndef SCHEMA_DB_GIVEN_H
#define SCHEMA_DB_GIVEN_H
#include <stdbool.h>
#include <stddef.h>

struct err;
struct store;
struct value;

struct given_table {
	const char *name; /* its columns are in schema/sql/computed.sql */
	bool has_id;	  /* the first column is id, the row's number from 1 */
	/* Makes the rows; called once for each statement that reads them.
	 * Returns 0 and *n, or -1 and *err. */
	int (*load)(void *arg, size_t *n, struct err *err);
	/* Sets *v to the value of a column, NULL by default; text is copied
	 * before the next call. Returns 0, or -1 and *err. */
	int (*cell)(void *arg, size_t row, int column, struct value *v,
		    struct err *err);
};

/* Adds n tables. They and arg must live until store_close(). Returns 0, or -1
 * and *err. */
int store_give_tables(struct store *db, const struct given_table *t, size_t n,
		      void *arg, struct err *err);
#endif
