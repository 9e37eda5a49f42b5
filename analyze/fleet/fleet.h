/* fleet.h - a database as runs of a fleet, and the rows of the fleet's tables.
 *
 * fleet_open(), then for each run and each table fleet_rows_open(), and
 * fleet_rows_next() until it returns 0. The same database and options give the
 * same rows in the same order, in any process and on any machine: so row
 * number i of a run is the same row whenever it is asked for, and a part that
 * a server has need not be sent again.
 *
 * Memory is bounded by the code, the stacks and the names of threads that the
 * database knows, not by its samples. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "analyze/fleet/fleet_schema.h"

struct err;
struct filter;
struct fleet;
struct fleet_rows;
struct store;

/* What the rows depend on besides the database; all pointers are borrowed. */
struct fleet_ask {
	const struct filter *filter; /* selects samples */
	const char *const *label; /* of the runs: "NAME=VALUE", no name twice */
	size_t n_label;
	/* ns: samples of one period, thread and stack are one row; 0: each is
	 * one */
	uint64_t period;
	const char *version; /* of this program */
};

/* Opens a database for its rows; db and ask are borrowed. Returns NULL and *err
 * if the database is damaged. */
struct fleet *fleet_open(struct store *db, const struct fleet_ask *ask,
			 struct err *err);
void fleet_close(struct fleet *f);

/* Return the number of runs of the database, and run i. Their strings live
 * until fleet_close(). */
size_t fleet_runs(const struct fleet *f);
const struct fleet_run *fleet_run(const struct fleet *f, size_t i);

/* Returns how many samples are in the rows of table sample, of all runs that
 * were read to the end, and in *rows how many rows: with --weighted fewer. */
uint64_t fleet_samples_read(const struct fleet *f, uint64_t *rows);

/* Returns the rows of a table, for fleet_rows_close(): those of a run, or, if
 * the table is not by_run, of the whole database (run is ignored). Several may
 * be open at a time. Returns NULL and *err on failure. */
struct fleet_rows *fleet_rows_open(struct fleet *f, enum fleet_table_id table,
				   size_t run, struct err *err);
/* Returns 1 and the next max rows (1 to FLEET_BATCH), or fewer at the end and
 * where lists or texts of fields are long; 0 at the end; -1 and *err on
 * failure. *out is borrowed until the next call, and so are the texts of fields
 * in its pools: each event can have other ones. */
int fleet_rows_next(struct fleet_rows *r, size_t max,
		    const struct fleet_batch **out, struct err *err);
void fleet_rows_close(struct fleet_rows *r);
