/* push_sender.h - inserts: their rows, and how they go to a server, a few at a
 * time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fleet/fleet_schema.h"
#include "stitch/base/blob.h"
#include "stitch/base/err.h"

struct clickhouse;
struct fleet_batch;
struct pack;

/* The rows of an insert, as RowBinary packed with gzip. */
struct push_body {
	struct blob packed;
	uint32_t rows;
	uint64_t plain;	   /* bytes before they were packed */
	struct pack *pack; /* NULL: rows are only counted */
	struct blob buf;
	struct push_body *next; /* for its sender */
};

/* count_only: the rows are not to be sent. */
struct push_body *push_body_new(bool count_only);
void push_body_free(struct push_body *b); /* NULL is fine */
/* Adds row i of the batch. */
void push_body_row(struct push_body *b, const struct fleet_batch *batch,
		   size_t i);
/* Adds a column of our own to the row, of `size` bytes. */
void push_body_add(struct push_body *b, uint64_t v, size_t size);
/* Packs what waits, so that buf stays small. Returns 0, or -1 and *err. */
int push_body_flush(struct push_body *b, struct err *err);

struct push_sender {
	struct clickhouse *c;
	size_t connections; /* inserts at a time, at most */
	bool failed;	/* one has; then err is set, nothing more is sent, */
	bool may_pass;	/* and this tells whether to try again: once all are
			 * drained, by clearing `failed` */
	struct err err; /* of the first that failed */
	struct push_body *bodies; /* under way */
	/* what was stored */
	uint64_t inserts, rows, plain, packed;
};

/* Finishes a body, which is ours from now on, and sends it unless its rows were
 * only counted. Waits while `connections` are under way. Returns 0, or -1 and
 * *err if this or an earlier one failed. */
int push_sender_put(struct push_sender *s, enum fleet_table_id t,
		    const char *id, struct push_body *b, struct err *err);
/* Lets them go on. Returns 0, or -1 and *err if one failed. */
int push_sender_go_on(struct push_sender *s, struct err *err);
/* Waits for all of them. Returns 0 if all are stored, or -1 and *err. */
int push_sender_drain(struct push_sender *s, struct err *err);
/* Gives up what is under way. */
void push_sender_drop(struct push_sender *s);
