/* fleet.c - what the rows of a fleet's tables leave in memory. */
#include <check.h>
#include <stdbool.h>

#include "analyze/fleet/fleet.h"
#include "cli/ingest/load.h"
#include "analyze/samples/filter.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/table.h"
#include "tests/unit/run.h"

/* Reads the texts of all fields, `max` rows at a time. Returns a hash of them;
 * *known is the most that the pool of a batch had. */
static uint64_t fleet_read_texts(struct fleet *f, size_t max, size_t *rows,
				 size_t *known)
{
	size_t text = fleet_tables[FLEET_FIELD].n_column - 1;
	const struct fleet_batch *b;
	struct err err;
	struct fleet_rows *r = fleet_rows_open(f, FLEET_FIELD, 0, &err);
	uint64_t hash = 0;

	ck_assert_ptr_nonnull(r);
	*rows = *known = 0;
	while (fleet_rows_next(r, max, &b, &err) > 0) {
		const struct fleet_cells *c = &b->cell[text];

		for (size_t i = 0; i < b->n; i++)
			hash = hash_bytes(intern_get(c->pool, c->id[i]),
					  intern_length(c->pool, c->id[i]),
					  hash);
		*rows += b->n;
		if (c->pool->n > *known)
			*known = c->pool->n;
	}
	fleet_rows_close(r);
	return hash;
}

START_TEST(texts_of_fields_are_kept_for_one_batch)
{
	char *paths[] = { "tests/captures/ftrace-v7.dat" };
	struct store *db = NULL;
	bool damaged = false;
	size_t rows, again, known;
	const struct fleet_ask ask = { .filter = &filter_none, .version = "1" };
	struct fleet *f;
	struct err err;

	ck_assert_int_eq(load_captures(paths, 1, &(struct load_ask){ 0 }, &db,
				       &damaged, &err),
			 0);
	f = fleet_open(db, &ask, &err);
	ck_assert_ptr_nonnull(f);
	uint64_t hash = fleet_read_texts(f, FLEET_BATCH, &rows, &known);

	ck_assert_uint_gt(rows, 1000);
	ck_assert_uint_gt(known, 5);
	ck_assert_uint_eq(fleet_read_texts(f, 1, &again, &known), hash);
	ck_assert_uint_eq(again, rows);
	ck_assert_uint_eq(known, 1);
	fleet_close(f);
	store_close(db);
}
END_TEST

RUN("fleet", texts_of_fields_are_kept_for_one_batch)
