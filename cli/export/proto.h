/* proto.h - messages of Protocol Buffers, as bytes.
 *
 * A message is made in a buffer, which grows as needed and is reused after
 * proto_clear(); a nested message is made first and then added. Default values
 * (0, "") are left out, as in proto3; use proto_item() or proto_packed() for
 * repeated fields. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct proto {
	unsigned char *buf;
	size_t n, cap;
};

void proto_release(struct proto *p);
static inline void proto_clear(struct proto *p)
{
	p->n = 0;
}
/* Adds a uint64, int64 (in two's complement), bool or enum; 0 is left out. */
void proto_uint(struct proto *p, unsigned int field, uint64_t v);
/* Like proto_uint(), also if it is 0. */
void proto_item(struct proto *p, unsigned int field, uint64_t v);
/* Adds a packed array of numbers. */
void proto_packed(struct proto *p, unsigned int field, const uint64_t *v,
		  size_t n);
/* Adds a string or bytes, even if empty. */
void proto_bytes(struct proto *p, unsigned int field, const void *data,
		 size_t n);
void proto_message(struct proto *p, unsigned int field, const struct proto *m);
/* Appends the fields of another message. */
void proto_add(struct proto *p, const struct proto *fields);
