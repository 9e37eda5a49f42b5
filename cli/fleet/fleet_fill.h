/* fleet_fill.h - a batch of rows while it is filled, value by value in the
 * order of the columns. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "cli/fleet/fleet_batch.h"
#include "cli/fleet/fleet_schema.h"

struct value;

struct fleet_values {
	void *data;
	uint32_t *first; /* of a list */
	size_t n, cap, cap_first;
};

struct fleet_fill {
	const struct fleet_table *table;
	struct fleet_values of[FLEET_COLUMNS_MAX];
	struct fleet_cells cell[FLEET_COLUMNS_MAX];
	size_t at;	   /* the column of the next value */
	size_t rows, room; /* room: rows after fleet_fill_room() */
	size_t items;	   /* values of all lists, bytes of texts of fields */
	struct fleet_batch batch;
};

/* The pools are borrowed. */
void fleet_fill_init(struct fleet_fill *b, const struct fleet_table *table,
		     const struct intern *words, const struct intern *hashes);
void fleet_fill_release(struct fleet_fill *b);
void fleet_fill_clear(struct fleet_fill *b);
/* Puts the next value: a number that the column's type holds, or a number of
 * its pool. A list takes any number of them, then fleet_fill_list(). */
void fleet_fill_int(struct fleet_fill *b, int64_t v);
void fleet_fill_id(struct fleet_fill *b, uint32_t id);
/* Ends the list that is the next column. */
void fleet_fill_list(struct fleet_fill *b);
/* Makes room for a row of a table without lists, and returns its number: the
 * caller sets the value of each column in `data`, then calls fleet_fill_row().
 * That is much faster than the calls above. */
size_t fleet_fill_room(struct fleet_fill *b);
/* Ends a row, each of whose columns has a value. */
void fleet_fill_row(struct fleet_fill *b);
/* Puts a value of a database as a number of the column's type: its nearest, or
 * 0 for what is no integer. */
void fleet_fill_value(struct fleet_fill *b, const struct value *v);
/* Returns the type of the next column. */
enum fleet_type fleet_fill_type(const struct fleet_fill *b);
/* Returns the rows as a batch, valid until the next call. */
const struct fleet_batch *fleet_fill_batch(struct fleet_fill *b);
