/* push_tables.h - the tables of backstitch-fleet(7) in a ClickHouse server:
 * their names, types and statements.
 *
 * On one server they are MergeTree tables. In a cluster each server has the
 * rows of its shard in TABLE_local, and a Distributed table TABLE over those of
 * all servers. */
#pragma once
#include <stdio.h>

#include "cli/fleet/fleet_schema.h"

/* A block is this number of rows, the next ones in their order, or fewer once
 * they have PUSH_BLOCK_BYTES. Each is stored whole or not at all: it is one
 * insert, of one run, for one partition of one shard, and below the number at
 * which servers cut an insert (max_insert_block_size, 1,048,576). To change
 * these means to push everything again, so they are a part of the version of
 * the tables. */
#define PUSH_BLOCK_ROWS 262144
#define PUSH_BLOCK_BYTES ((size_t)64 << 20)

/* A column that only servers have. */
struct push_column {
	const char *name, *type;
};
/* Returns those of a table, behind its own; a NULL name ends them. by_run: day
 * and block; name: version; stack: none. */
const struct push_column *push_columns(enum fleet_table_id t);
/* Returns the type of a column in the server. */
const char *push_type(const struct fleet_column *c);

/* Write statements. cluster: NULL for one server; over: the table over those of
 * its shards. */
void push_sql_create(FILE *f, enum fleet_table_id t, const char *database,
		     const char *cluster, bool over);
void push_sql_insert(FILE *f, enum fleet_table_id t);
