/* fleet_rows.h - the rows of the fleet's tables, from one database.
 *
 * fleet_open(), then for each run and each table fleet_rows_open(), and
 * fleet_rows_next() until it returns 0. The same database and options give the
 * same rows in the same order, in any process and on any machine: so row
 * number i of a run is the same row whenever it is asked for, and a part that
 * a server has need not be sent again. */
#pragma once
#include <stddef.h>

#include "cli/fleet/fleet.h"
#include "cli/fleet/fleet_batch.h"
#include "cli/fleet/fleet_schema.h"

struct fleet_rows;

/* Begins the rows of a table: of that run, or, if the table is not by_run, of
 * the whole database (run is ignored). Several may be open at a time. Returns
 * NULL and *err on failure. */
struct fleet_rows *fleet_rows_open(struct fleet *f, enum fleet_table_id table,
				   size_t run, struct err *err);
/* Returns 1 and the next rows, max of them (1 to FLEET_BATCH) but for the last
 * time, and fewer where lists or the texts of fields are long; 0 at the end, or
 * -1 and *err. *out is borrowed until the next call, and so is what its pools
 * have for the texts of fields: each event can have other ones. */
int fleet_rows_next(struct fleet_rows *r, size_t max,
		    const struct fleet_batch **out, struct err *err);
void fleet_rows_close(struct fleet_rows *r); /* NULL is fine */
