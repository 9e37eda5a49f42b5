/* pq_pages.h - pages on their way into a Parquet file: compressed, each behind
 * its header. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/export/parquet/pq_buf.h"

struct err;
struct pack_zstd;

enum pq_encoding {
	PQ_PLAIN = 0,
	PQ_RLE = 3,
	PQ_DELTA = 5,
	PQ_DICTIONARY = 8
};

struct pq_pages {
	FILE *out;
	struct pack_zstd *zstd;
	uint64_t at;	  /* bytes written */
	uint64_t plain;	  /* what they were before compression, headers
			   * included, since the caller cleared it */
	struct blob body; /* of the next page; the caller fills it */
	struct blob packed, head;
};

int pq_pages_init(struct pq_pages *p, FILE *out, struct err *err);
void pq_pages_release(struct pq_pages *p);
/* Writes bytes as they are. */
void pq_pages_raw(struct pq_pages *p, const void *data, size_t n);
/* Writes the body as a page and empties it. encoding -1: a dictionary. Returns
 * 0, or -1 and *err. */
int pq_pages_put(struct pq_pages *p, size_t n_values, int encoding,
		 struct err *err);
