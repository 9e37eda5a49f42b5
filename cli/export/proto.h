/* proto.h - messages of Protocol Buffers, as bytes.
 *
 * A message is made in a buffer, which grows as needed and is used again
 * after proto_clear(); a message inside another is made first and then put
 * into it. Values that are a field's default (0, "") are left out, as proto3
 * wants them; repeated fields take theirs with proto_item() or proto_packed().
 */
#ifndef CLI_EXPORT_PROTO_H
#define CLI_EXPORT_PROTO_H
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
/* For uint64, int64 (as it is in two's complement), bool and enum. */
void proto_uint(struct proto *p, unsigned int field, uint64_t v);
/* The same, also when it is 0: where presence says something. */
void proto_item(struct proto *p, unsigned int field, uint64_t v);
/* Repeated numbers. */
void proto_packed(struct proto *p, unsigned int field, const uint64_t *v,
		  size_t n);
/* Strings and bytes, also empty ones. */
void proto_bytes(struct proto *p, unsigned int field, const void *data,
		 size_t n);
void proto_message(struct proto *p, unsigned int field, const struct proto *m);
/* The fields of another message behind those of p. */
void proto_add(struct proto *p, const struct proto *fields);
#endif
