/* proto.c - messages of Protocol Buffers, as bytes. */
#include "cli/export/proto.h"

#include "stitch/base/mem.h"

/* The last three bits of a field's key. */
enum wire {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2
};

#define VARINT_MAX 10 /* bytes of 64 bits */

void proto_release(struct proto *p)
{
	free(p->buf);
	*p = (struct proto){ 0 };
}

static void proto_put_varint(struct proto *p, uint64_t v)
{
	mem_grow(p->buf, p->cap, p->n + VARINT_MAX);
	for (; v >= 0x80; v >>= 7)
		p->buf[p->n++] = (unsigned char)(v | 0x80);
	p->buf[p->n++] = (unsigned char)v;
}

static size_t varint_len(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

static void proto_put_key(struct proto *p, unsigned int field, enum wire wire)
{
	proto_put_varint(p, (uint64_t)field << 3 | wire);
}

void proto_item(struct proto *p, unsigned int field, uint64_t v)
{
	proto_put_key(p, field, WIRE_VARINT);
	proto_put_varint(p, v);
}

void proto_uint(struct proto *p, unsigned int field, uint64_t v)
{
	if (v)
		proto_item(p, field, v);
}

void proto_packed(struct proto *p, unsigned int field, const uint64_t *v,
		  size_t n)
{
	size_t len = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		len += varint_len(v[i]);
	proto_put_key(p, field, WIRE_BYTES);
	proto_put_varint(p, len);
	for (size_t i = 0; i < n; i++)
		proto_put_varint(p, v[i]);
}

static void proto_append_bytes(struct proto *p, const void *data, size_t n)
{
	if (!n)
		return;
	mem_append(p->buf, p->n, p->cap, data, n);
}

void proto_bytes(struct proto *p, unsigned int field, const void *data,
		 size_t n)
{
	proto_put_key(p, field, WIRE_BYTES);
	proto_put_varint(p, n);
	proto_append_bytes(p, data, n);
}

void proto_add(struct proto *p, const struct proto *fields)
{
	proto_append_bytes(p, fields->buf, fields->n);
}

void proto_message(struct proto *p, unsigned int field, const struct proto *m)
{
	proto_bytes(p, field, m->buf, m->n);
}
