/* pd_buf.h - bytes of a perf.data file, little-endian. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define PD_NAME_MAX 4000u

/* Zero-initialised is empty; the caller frees at. */
struct pd_buf {
	unsigned char *at;
	size_t n, cap;
};

/* Appends n bytes, which the caller sets, and returns their address, valid
 * until the next call. */
unsigned char *pd_buf_room(struct pd_buf *b, size_t n);
/* Writes the n lowest bytes of a number over those at a place; appends them. */
void pd_set(struct pd_buf *b, size_t at, uint64_t v, size_t n);
void pd_put(struct pd_buf *b, uint64_t v, size_t n);
#define pd_u8(b, v) pd_put(b, v, 1)
#define pd_u16(b, v) pd_put(b, v, 2)
#define pd_u32(b, v) pd_put(b, v, 4)
#define pd_u64(b, v) pd_put(b, v, 8)
void pd_bytes(struct pd_buf *b, const void *p, size_t n);
/* Adds at most max bytes of s, a 0, and zeros up to a multiple of align. */
void pd_text(struct pd_buf *b, const char *s, size_t max, size_t align);
/* Adds a string after its length, as in feature sections. */
void pd_string(struct pd_buf *b, const char *s);
