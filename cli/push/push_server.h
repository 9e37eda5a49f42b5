/* push_server.h - the tables of a fleet on one server, or on the servers of a
 * cluster: makes and checks them, lists and removes what they have of a run.
 *
 * On one server they are MergeTree tables. In a cluster each server has the
 * rows of its shard in TABLE_local, and a Distributed table TABLE over the
 * TABLE_local of all servers. */
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
	struct clickhouse *c; /* all[0], to which rows are sent */
	struct clickhouse **all;
	size_t n;
	char cluster[256]; /* "": the tables are on one server */
};

/* Opens the server at url, and n others. Returns 0, or -1 and *err; call
 * push_server_close() in either case. */
int push_server_open(struct push_server *s, const char *url,
		     const char *const *others, size_t n,
		     const struct clickhouse_options *o, struct err *err);
void push_server_close(struct push_server *s);

/* Makes missing tables and columns on each server; cluster: NULL for none.
 * Returns 0, or -1 and *err. */
int push_server_create(struct push_server *s, const char *cluster,
		       struct err *err);
/* Prints the statements that make the tables. */
void push_server_print(const struct push_server *s, const char *cluster);
/* Sets s->cluster, and checks columns and version of the tables. Returns 0, or
 * -1 and *err. */
int push_server_check(struct push_server *s, struct err *err);

/* A block is the next PUSH_BLOCK_ROWS rows in order, or fewer once they have
 * PUSH_BLOCK_BYTES. It is stored whole or not at all: it is one insert, of one
 * run, for one partition of one shard, and has fewer rows than
 * max_insert_block_size (1,048,576), at which servers split an insert. If these
 * numbers change, all has to be pushed again, so they are part of the version
 * of the tables. */
#define PUSH_BLOCK_ROWS 262144
#define PUSH_BLOCK_BYTES ((size_t)64 << 20)

/* What the server has of a run. */
struct push_ledger {
	struct push_blocks {
		uint64_t *rows; /* of each block, by its number */
		size_t n, cap;
		uint64_t foreign; /* rows of blocks that are not ours */
	} of[FLEET_TABLES];
	bool committed; /* table run has one row of it */
	uint64_t rows;	/* in table sample, by that row */
};
/* Returns the value of column `block` for block k of the run. */
uint64_t push_block_name(const struct fleet_run *run, uint64_t k);
/* Sets *l after waiting until no server inserts or removes rows of the run: an
 * insert has the query_id "backstitch-", fleet_run.hex, "-", the table, "-" and
 * the block. Returns 0, or -1 and *err; *l, all 0 or of an earlier call, is to
 * be released in either case. */
int push_server_ledger(struct push_server *s, const struct fleet_run *run,
		       struct push_ledger *l, struct err *err);
void push_ledger_release(struct push_ledger *l);
/* Returns the rows that the server has of a block. */
uint64_t push_ledger_rows(const struct push_ledger *l, enum fleet_table_id t,
			  uint64_t k);

/* Remove a block, or all rows of the run, those of table run first, and wait
 * until they are removed. Return 0, or -1 and *err. */
int push_server_remove_block(struct push_server *s, const struct fleet_run *run,
			     enum fleet_table_id t, uint64_t k,
			     struct err *err);
int push_server_remove_run(struct push_server *s, const struct fleet_run *run,
			   struct err *err);
/* Writes the statement that inserts rows of a table. */
void push_sql_insert(FILE *f, enum fleet_table_id t);
