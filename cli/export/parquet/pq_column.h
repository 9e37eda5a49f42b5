/* pq_column.h - a column of a Parquet file: its values of one row group, then
 * the pages that hold them.
 *
 * pq_column_add() for each batch, then pq_column_write(), which leaves the
 * column empty for the next row group. Memory is bounded by a row group. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "cli/export/parquet/pq_buf.h"
#include "analyze/fleet/fleet_schema.h"
#include "stitch/base/intern.h"

struct err;
struct fleet_cells;
struct pq_pages;

/* Empty if all but c is 0. */
struct pq_column {
	const struct fleet_column *c;
	/* numbers: as they are. Texts and hashes: numbers in words. */
	unsigned char *value;
	size_t n, cap;	       /* values of the row group so far */
	uint32_t *length;      /* of a list: values of each row */
	size_t n_row, cap_row; /* rows, of a list */
	struct intern words;
	uint32_t *known; /* by number in the batch's pool: 1 + that in words */
	size_t n_known, cap_known;
};

void pq_column_release(struct pq_column *p);
/* Adds rows [from, from + n). */
void pq_column_add(struct pq_column *p, const struct fleet_cells *cells,
		   size_t from, size_t n);
/* Forgets the numbers of the pools: those of the next batch are others. */
void pq_column_forget(struct pq_column *p);
/* Writes the pages, and the ColumnChunk as the next item of meta. Returns 0, or
 * -1 and *err. */
int pq_column_write(struct pq_column *p, struct pq_pages *out,
		    struct pq_thrift *meta, struct err *err);
/* Returns the physical type: INT32 and so on. */
int pq_column_type(const struct fleet_column *c);
