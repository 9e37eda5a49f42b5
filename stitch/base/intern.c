/* intern.c - strings stored once, each known by a dense id. */
#include "stitch/base/intern.h"

struct intern_key {
	const char *s;
	size_t len;
};

/* The length of a string is stored right before its bytes. */
size_t intern_length(const struct intern *in, uint32_t id)
{
	size_t len;

	memcpy(&len, in->string[id] - sizeof(len), sizeof(len));
	return len;
}

static bool intern_is_same(const void *owner, uint32_t id, const void *key)
{
	const struct intern *in = owner;
	const struct intern_key *k = key;

	return intern_length(in, id) == k->len &&
	       !memcmp(in->string[id], k->s, k->len);
}

static uint32_t intern_find_hash(const struct intern *in, const void *s,
				 size_t len, uint64_t hash)
{
	struct intern_key key = { s, len };

	return table_find(&in->index, hash, intern_is_same, in, &key);
}

uint32_t intern_find(const struct intern *in, const char *s)
{
	size_t len = strlen(s);

	return intern_find_hash(in, s, len, hash_bytes(s, len, 0));
}

uint32_t intern_add_bytes(struct intern *in, const void *s, size_t len)
{
	uint64_t hash = hash_bytes(s, len, 0);
	uint32_t id = intern_find_hash(in, s, len, hash);

	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)in->n;
	char *p = arena_take(&in->text, sizeof(len) + len + 1);

	memcpy(p, &len, sizeof(len));
	p += sizeof(len);
	memcpy(p, s, len);
	p[len] = '\0';
	*mem_add(in->string, in->n, in->cap) = p;
	table_add(&in->index, hash, id);
	return id;
}

uint32_t intern_add(struct intern *in, const char *s)
{
	return intern_add_bytes(in, s, strlen(s));
}

const char *intern_get(const struct intern *in, uint32_t id)
{
	return in->string[id];
}

void intern_release(struct intern *in)
{
	arena_release(&in->text);
	free(in->string);
	table_release(&in->index);
	memset(in, 0, sizeof(*in));
}
