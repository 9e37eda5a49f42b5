/* fleet_schema.h - the tables in which runs of many hosts lie together, as
 * Parquet files or in a ClickHouse server.
 *
 * No value is ever NULL, and no row has an id that only one database knows; the
 * value that means "unknown" is in backstitch-fleet(7), which describes every
 * column. The rows come from fleet.h. Columns may be added at the end of a
 * table; FLEET_VERSION grows if a column changes its meaning. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLEET_VERSION 1

enum fleet_type {
	FLEET_U8,
	FLEET_U16,
	FLEET_U32,
	FLEET_U64,
	FLEET_I32,
	FLEET_I64,
	FLEET_F64,
	FLEET_STRING, /* UTF-8; other bytes are escaped */
	FLEET_HASH    /* 16 bytes; all 0: none */
};

/* How the values of a column follow one another, for writers. */
enum fleet_shape {
	FLEET_FEW,    /* the same ones again and again */
	FLEET_RISING, /* each is close to the one before, and mostly above */
	FLEET_MANY    /* most are different */
};

struct fleet_column {
	const char *name;
	enum fleet_type type;
	enum fleet_shape shape;
	bool list; /* each row has any number of values */
};

enum fleet_table_id {
	FLEET_RUN,
	FLEET_EVENT,
	FLEET_SAMPLE,
	FLEET_STACK,
	FLEET_NAME,
	FLEET_LOSS,
	FLEET_VERDICT,
	FLEET_TRUST,
	FLEET_FINDING,
	FLEET_FIELD, /* on request */
	FLEET_TABLES
};

#define FLEET_COLUMNS_MAX 40 /* of a table */

/* A word of sample.user_mark. */
#define FLEET_FABRICATED "fabricated"
/* A word of sample.class: the sample is in none of view trust. */
#define FLEET_UNCLASSED "none"

/* stack.bogus: whether something can have been called from the frame. */
enum fleet_frame {
	FLEET_FRAME_SOUND, /* or not judged */
	FLEET_FRAME_NO_CALL,
	FLEET_FRAME_NO_CODE
};

/* by_run: the first column is the run, and a run's rows are replaced together.
 * Otherwise the first `key` columns name a row, whatever the run: a later row
 * replaces an earlier one with the same key. */
struct fleet_table {
	const char *name;
	const struct fleet_column *column;
	size_t n_column;
	bool by_run;
	size_t key;
};

extern const struct fleet_table fleet_tables[FLEET_TABLES];

/* Returns the bytes of a value, 0 for FLEET_STRING. */
size_t fleet_type_size(enum fleet_type t);

struct fleet_table;
struct intern;

/* A run is a capture of a database. */
struct fleet_run {
	uint8_t id[16];	  /* by the content of the capture */
	char hex[33];	  /* the id as text */
	uint8_t made[16]; /* hash of the content and of what its rows depend on:
			   * options, versions, clock, how far its stacks can be
			   * trusted */
	const char *host; /* "unknown" if it was not recorded */
	char day[11]; /* of its first event, UTC: "2026-01-31", or "unknown" if
		       * the clock is not known to be since 1970 */
	uint32_t day_number; /* the same in days since 1970; 0: unknown */
	uint64_t samples;    /* of the capture, whatever the filters */
};

/* The values of a column in a batch: of a list, those of row i are [first[i],
 * first[i + 1]), else row i has value i. */
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
