/* proto.c - messages of Protocol Buffers, as bytes. */
#include "cli/export/proto.h"

/* The last three bits of a field's key. */
enum wire {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2
};

static void proto_put_key(struct blob *p, unsigned int field, enum wire wire)
{
	blob_leb(p, (uint64_t)field << 3 | wire);
}

void proto_item(struct blob *p, unsigned int field, uint64_t v)
{
	proto_put_key(p, field, WIRE_VARINT);
	blob_leb(p, v);
}

void proto_uint(struct blob *p, unsigned int field, uint64_t v)
{
	if (v)
		proto_item(p, field, v);
}

void proto_packed(struct blob *p, unsigned int field, const uint64_t *v,
		  size_t n)
{
	size_t len = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t value = v[i];
		size_t count = 1;

		while (value >>= 7)
			count++;
		len += count;
	}
	proto_put_key(p, field, WIRE_BYTES);
	blob_leb(p, len);
	for (size_t i = 0; i < n; i++)
		blob_leb(p, v[i]);
}

void proto_bytes(struct blob *p, unsigned int field, const void *data, size_t n)
{
	proto_put_key(p, field, WIRE_BYTES);
	blob_leb(p, n);
	blob_add(p, data, n);
}

void proto_message(struct blob *p, unsigned int field, const struct blob *m)
{
	proto_bytes(p, field, m->at, m->n);
}
