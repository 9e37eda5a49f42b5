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
void pd_u8(struct pd_buf *b, uint8_t v);
void pd_u16(struct pd_buf *b, uint16_t v);
void pd_u32(struct pd_buf *b, uint32_t v);
void pd_u64(struct pd_buf *b, uint64_t v);
void pd_bytes(struct pd_buf *b, const void *p, size_t n);
/* Adds at most max bytes of s, a 0, and zeros up to a multiple of align. */
void pd_text(struct pd_buf *b, const char *s, size_t max, size_t align);
/* Adds a string after its length, as in feature sections. */
void pd_string(struct pd_buf *b, const char *s);
