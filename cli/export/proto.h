/* proto.h - messages of Protocol Buffers, as bytes.
 *
 * A message is a blob, which is reused after its n is set to 0; a nested
 * message is made first and then added. Default values (0, "") are left out, as
 * in proto3; use proto_item() or proto_packed() for repeated fields. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/blob.h"

/* Adds a uint64, int64 (in two's complement), bool or enum; 0 is left out. */
void proto_uint(struct blob *p, unsigned int field, uint64_t v);
/* Like proto_uint(), also if it is 0. */
void proto_item(struct blob *p, unsigned int field, uint64_t v);
/* Adds a packed array of numbers. */
void proto_packed(struct blob *p, unsigned int field, const uint64_t *v,
		  size_t n);
/* Add a string or bytes, or a nested message, even if empty. */
void proto_bytes(struct blob *p, unsigned int field, const void *data,
		 size_t n);
void proto_message(struct blob *p, unsigned int field, const struct blob *m);
