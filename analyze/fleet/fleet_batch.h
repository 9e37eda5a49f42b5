/* fleet_batch.h - runs, and rows of a table as columns. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct fleet_table;
struct intern;

/* A run is a capture of a database. */
struct fleet_run {
	uint8_t id[16];	  /* by the content of the capture */
	char hex[33];	  /* the id as text */
	uint8_t made[16]; /* and by what its rows depend on: options, versions,
			   * clock, how far its stacks can be trusted */
	const char *host; /* "unknown" if it was not recorded */
	char day[11];	  /* of its first event, UTC: "2026-01-31", or "unknown"
			   * if the clock is not known to be since 1970 */
	uint32_t day_number; /* the same in days since 1970; 0: unknown */
	uint64_t samples;    /* that the capture has, whatever the filters */
};

/* The values of a column in a batch: those of row i are
 * [first[i], first[i + 1]) of a list, and number i otherwise. */
struct fleet_cells {
	/* Only the one for the column's type is set. STRING and HASH: numbers
	 * for intern_get() and intern_length() of the pool. The numbers of a
	 * pool are dense, and stay the same until fleet_close(); those of the
	 * texts of table field only until the next batch, see
	 * fleet_rows_next(). */
	union {
		const uint8_t *u8;
		const uint16_t *u16;
		const uint32_t *u32;
		const uint64_t *u64;
		const int32_t *i32;
		const int64_t *i64;
		const double *f64;
		const uint32_t *id;
		const void *any;
	};
	const struct intern *pool;
	const uint32_t *first; /* NULL: the column is no list */
};

struct fleet_batch {
	const struct fleet_table *table;
	size_t n;			/* rows, at least 1 */
	const struct fleet_cells *cell; /* table->n_column of them */
};

#define FLEET_BATCH 65536 /* rows at most */
