/* push_server.h - the tables of a fleet on one server, or on those of a
 * cluster: makes them, checks them, says what they have of a run, and removes
 * that.
 *
 * On one server they are MergeTree tables. In a cluster each server has the
 * rows of its shard in TABLE_local, and a Distributed table TABLE over those of
 * all servers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/fleet/fleet_schema.h"

struct clickhouse;
struct clickhouse_options;
struct err;
struct fleet_run;

struct push_server {
	struct clickhouse *c; /* rows go here: the first of */
	struct clickhouse **all;
	size_t n;
	char cluster[256]; /* "": the tables are on one server */
};

/* Opens the server, and n others whose URLs are given. Returns 0, or -1 and
 * *err; to be closed in either case. */
int push_server_open(struct push_server *s, const char *url,
		     const char *const *others, size_t n,
		     const struct clickhouse_options *o, struct err *err);
void push_server_close(struct push_server *s);

/* Makes what is missing of the tables, on each server; cluster: NULL for none.
 * Returns 0, or -1 and *err. */
int push_server_create(struct push_server *s, const char *cluster,
		       struct err *err);
/* Prints the statements instead. */
void push_server_print(const struct push_server *s, const char *cluster);
/* Finds out whether the tables are in a cluster, and are ours. Returns 0, or -1
 * and *err. */
int push_server_check(struct push_server *s, struct err *err);

/* A block is this number of rows, the next ones in their order, or fewer once
 * they have PUSH_BLOCK_BYTES. Each is stored whole or not at all: it is one
 * insert, of one run, for one partition of one shard, and below the number at
 * which servers cut an insert (max_insert_block_size, 1,048,576). To change
 * these means to push everything again, so they are a part of the version of
 * the tables. */
#define PUSH_BLOCK_ROWS 262144
#define PUSH_BLOCK_BYTES ((size_t)64 << 20)

/* What the server has of a run. */
struct push_ledger {
	struct push_blocks {
		uint64_t *rows; /* by number of the block */
		size_t n, cap;
		uint64_t foreign; /* rows of no block that can be ours */
	} of[FLEET_TABLES];
	bool committed; /* it has one row in table run */
	uint64_t rows;	/* that this row says table sample has */
};
/* Returns the name of block k of the run: the column `block`. */
uint64_t push_block_name(const struct fleet_run *run, uint64_t k);
/* Asks for it, after waiting until no server stores rows of the run: the
 * query_id of an insert is "backstitch-", fleet_run.hex, "-", the table, "-"
 * and the block. Returns 0, or -1 and *err; *l, all 0 or of an earlier call, is
 * to be released in either case. */
int push_server_ledger(struct push_server *s, const struct fleet_run *run,
		       struct push_ledger *l, struct err *err);
void push_ledger_release(struct push_ledger *l);
/* Returns the rows that the server has of a block. */
uint64_t push_ledger_rows(const struct push_ledger *l, enum fleet_table_id t,
			  uint64_t k);

/* Removes a block, or everything that the servers have of the run, that of
 * table run first, and waits for it. Returns 0, or -1 and *err. */
int push_server_remove_block(struct push_server *s, const struct fleet_run *run,
			     enum fleet_table_id t, uint64_t k,
			     struct err *err);
int push_server_remove_run(struct push_server *s, const struct fleet_run *run,
			   struct err *err);
/* Writes the statement that inserts rows of a table. */
void push_sql_insert(FILE *f, enum fleet_table_id t);
