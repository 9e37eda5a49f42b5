/* fleet.h - a database as runs of a fleet, whose rows fleet_rows.h reads.
 *
 * Memory is bounded by the code, the stacks and the names of threads that the
 * database knows, not by its samples. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

struct filter;
struct fleet;
struct fleet_run;
struct store;

/* --label and --weighted: for OPT_GROUP(). fleet_open() reads them. */
extern const struct opt fleet_opts[];

/* Opens a database for its rows; db and filter are borrowed. The filter
 * selects samples. Returns NULL and *err if an option is refused or the
 * database is damaged. */
struct fleet *fleet_open(struct store *db, const struct filter *filter,
			 struct err *err);
void fleet_close(struct fleet *f); /* NULL is fine */

/* The runs of the database: 0 to fleet_runs() - 1. Their strings live until
 * fleet_close(). */
size_t fleet_runs(const struct fleet *f);
const struct fleet_run *fleet_run(const struct fleet *f, size_t i);

/* Returns the samples that the rows of table sample stand for, of all runs
 * that were read to the end, and the number of these rows: with --weighted
 * there are fewer. */
uint64_t fleet_samples_read(const struct fleet *f, uint64_t *rows);
