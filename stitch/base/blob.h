/* blob.h - builds a sequence of bytes in memory. Numbers are little-endian. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Empty if zero-initialised. */
struct blob {
	unsigned char *at;
	size_t n, cap;
};

void blob_release(struct blob *b);
/* Appends n bytes, which the caller sets, and returns their address, valid
 * until the next call. */
unsigned char *blob_room(struct blob *b, size_t n);
void blob_add(struct blob *b, const void *p, size_t n);
/* blob_put() appends the n lowest bytes of a number, at most 8; blob_set()
 * overwrites those at `at`. */
void blob_put(struct blob *b, uint64_t v, size_t n);
void blob_set(struct blob *b, size_t at, uint64_t v, size_t n);
#define blob_u8(b, v) blob_put(b, v, 1)
#define blob_u16(b, v) blob_put(b, v, 2)
#define blob_u32(b, v) blob_put(b, v, 4)
#define blob_u64(b, v) blob_put(b, v, 8)
/* Appends a number as unsigned LEB128. */
void blob_leb(struct blob *b, uint64_t v);
/* Appends a signed number, given as its two's complement, as zigzag LEB128. */
void blob_zigzag(struct blob *b, uint64_t v);
