/* pq_buf.h - bytes of a Parquet file while they are made: the encodings of
 * pages, and the thrift compact protocol of headers and footer
 * (backstitch-fleet(7) says which parts of the format are written). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/blob.h"

/* Returns the bits that numbers up to v need. */
unsigned int pq_width(uint64_t v);
/* Writes the hybrid of runs and packed groups, without a length in front. */
void pq_put_hybrid(struct blob *b, const uint32_t *v, size_t n,
		   unsigned int width);
/* Writes 64-bit numbers as DELTA_BINARY_PACKED. */
void pq_put_delta(struct blob *b, const uint64_t *v, size_t n);

/* Structs of the thrift compact protocol. */
#define PQ_DEPTH 8
struct pq_thrift {
	struct blob *out;
	int last[PQ_DEPTH]; /* by depth: id of the previous field */
	unsigned int depth;
};
enum pq_kind {
	PQ_TRUE = 1,
	PQ_FALSE = 2,
	PQ_I8 = 3,
	PQ_I16 = 4,
	PQ_I32 = 5,
	PQ_I64 = 6,
	PQ_BINARY = 8,
	PQ_LIST = 9,
	PQ_STRUCT = 12
};

/* Starts the outermost struct, which is appended to out. */
void pq_begin(struct pq_thrift *t, struct blob *out);
/* Begin a struct: as a field, or as the next item of a list. */
void pq_struct(struct pq_thrift *t, int id);
void pq_struct_item(struct pq_thrift *t);
/* Ends the innermost struct. */
void pq_end(struct pq_thrift *t);
/* Write a field of the innermost struct. */
void pq_i8(struct pq_thrift *t, int id, int v);
void pq_int(struct pq_thrift *t, int id, enum pq_kind kind, int64_t v);
#define pq_i16(t, id, v) pq_int(t, id, PQ_I16, v)
#define pq_i32(t, id, v) pq_int(t, id, PQ_I32, v)
#define pq_i64(t, id, v) pq_int(t, id, PQ_I64, v)
void pq_bool(struct pq_thrift *t, int id, int v);
void pq_bytes(struct pq_thrift *t, int id, const void *p, size_t n);
void pq_text(struct pq_thrift *t, int id, const char *s);
/* Begins a list of n items, which follow. */
void pq_list(struct pq_thrift *t, int id, enum pq_kind kind, size_t n);
void pq_item_i32(struct pq_thrift *t, int64_t v);
void pq_item_text(struct pq_thrift *t, const char *s);
