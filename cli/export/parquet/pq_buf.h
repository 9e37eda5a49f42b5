/* pq_buf.h - bytes of a Parquet file while they are made: plain values, the
 * encodings of pages, and the thrift compact protocol of headers and footer
 * (backstitch-fleet(7) says which parts of the format are written). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* All zeros is empty. */
struct pq_buf {
	unsigned char *data;
	size_t len, cap;
};

void pq_buf_release(struct pq_buf *b);
/* Returns the place of n more bytes, not set; valid until the next call. */
unsigned char *pq_buf_take(struct pq_buf *b, size_t n);
void pq_put_bytes(struct pq_buf *b, const void *p, size_t n);
void pq_put_byte(struct pq_buf *b, unsigned int v);
void pq_put_u32(struct pq_buf *b, uint32_t v);
void pq_put_u64(struct pq_buf *b, uint64_t v);

/* Returns the bits that numbers up to v need. */
unsigned int pq_width(uint64_t v);
/* The hybrid of runs and packed groups, without a length in front. */
void pq_put_hybrid(struct pq_buf *b, const uint32_t *v, size_t n,
		   unsigned int width);
/* DELTA_BINARY_PACKED of 64-bit numbers. */
void pq_put_delta(struct pq_buf *b, const uint64_t *v, size_t n);

/* Structs of the thrift compact protocol. */
#define PQ_DEPTH 8
struct pq_thrift {
	struct pq_buf *out;
	int last[PQ_DEPTH]; /* the id of the field before, of each struct */
	unsigned int depth;
};
enum pq_item {
	PQ_ITEM_I32 = 5,
	PQ_ITEM_TEXT = 8,
	PQ_ITEM_STRUCT = 12
};

void pq_begin(struct pq_thrift *t, struct pq_buf *out);
/* Begin a struct: as a field, or as the next item of a list. */
void pq_struct(struct pq_thrift *t, int id);
void pq_struct_item(struct pq_thrift *t);
/* Ends a struct, and the text if it is the outermost. */
void pq_end(struct pq_thrift *t);
void pq_i8(struct pq_thrift *t, int id, int v);
void pq_i16(struct pq_thrift *t, int id, int v);
void pq_i32(struct pq_thrift *t, int id, int64_t v);
void pq_i64(struct pq_thrift *t, int id, int64_t v);
void pq_bool(struct pq_thrift *t, int id, int v);
void pq_bytes(struct pq_thrift *t, int id, const void *p, size_t n);
void pq_text(struct pq_thrift *t, int id, const char *s);
/* Begins a list of n items, which follow. */
void pq_list(struct pq_thrift *t, int id, enum pq_item kind, size_t n);
void pq_item_i32(struct pq_thrift *t, int64_t v);
void pq_item_text(struct pq_thrift *t, const char *s);
