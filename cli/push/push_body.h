/* push_body.h - the rows of an insert, as RowBinary packed with gzip. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/blob.h"

struct err;
struct fleet_batch;
struct pack;

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
/* Ends a body that is to be sent: packed is whole. Returns 0, or -1 and
 * *err. */
int push_body_finish(struct push_body *b, struct err *err);
/* Packs what waits, so that buf stays small. Returns 0, or -1 and *err. */
int push_body_flush(struct push_body *b, struct err *err);
