/* parquet.h - writes a Parquet file from batches of a fleet's rows.
 *
 * parquet_open(), parquet_put() for each batch, parquet_finish(), which gives
 * the file its name, parquet_close(). Memory is bounded by a row group:
 * 524,288 rows, or fewer if lists are long or texts large. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/fleet/fleet_schema.h"
#include "cli/export/parquet/pq_buf.h"
#include "stitch/base/intern.h"

struct err;
struct fleet_batch;
struct parquet;

/* pq_column_add() for each batch, then pq_column_write(), which leaves the
 * column empty for the next row group. Memory is bounded by a row group. */

/* Returns NULL and *err if the file cannot be made. */
struct parquet *parquet_open(const char *path, const struct fleet_table *table,
			     struct err *err);
/* Adds rows [from, from + n) of a batch. Returns 0, or -1 and *err. */
int parquet_put(struct parquet *p, const struct fleet_batch *b, size_t from,
		size_t n, struct err *err);
/* To be called when the numbers of a pool have changed: before the first batch
 * of another database, and after each batch of table field. */
void parquet_forget(struct parquet *p);
/* Writes what is left, and the footer. Returns 0, or -1 and *err. */
int parquet_finish(struct parquet *p, struct err *err);
/* Removes the file unless it is finished. */
void parquet_close(struct parquet *p); /* NULL is fine */
