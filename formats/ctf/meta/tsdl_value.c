/* tsdl_value.c - values of TSDL: key = value; and what they mean. */
#include <string.h>
#include <strings.h>

#include "formats/ctf/meta/tsdl.h"

const char *tsdl_text(const struct tsdl *t, uint32_t name)
{
	return intern_get(&t->r->names, name);
}

static void tsdl_append(struct tsdl *t, size_t *n, const char *s)
{
	size_t len = strlen(s);

	mem_append(t->path, *n, t->cap_path, s, len);
}

int tsdl_path(struct tsdl *t, uint32_t *name)
{
	size_t n = 0;

	for (;;) {
		if (!tsdl_is(t, TSDL_IDENT))
			return tsdl_unexpected(t, "a name");
		*name = t->tok.name;
		const char *s = tsdl_text(t, *name);

		if (tsdl_next(t))
			return -1;
		if (!n && !tsdl_is(t, '.'))
			return 0;
		tsdl_append(t, &n, s);
		if (!tsdl_is(t, '.'))
			break;
		tsdl_append(t, &n, ".");
		if (tsdl_next(t))
			return -1;
	}
	*name = intern_add_bytes(&t->r->names, t->path, n);
	return 0;
}

int tsdl_value(struct tsdl *t, struct tsdl_value *v)
{
	*v = (struct tsdl_value){ .at = t->tok.at };
	while (tsdl_is(t, '-') || tsdl_is(t, '+')) {
		v->negative ^= tsdl_is(t, '-');
		if (tsdl_next(t))
			return -1;
		if (!tsdl_is(t, TSDL_NUMBER))
			return tsdl_unexpected(t, "a number");
	}
	v->kind = t->tok.kind;
	v->num = t->tok.num;
	v->name = t->tok.name;
	if (tsdl_is(t, TSDL_IDENT))
		return tsdl_path(t, &v->name);
	if (!tsdl_is(t, TSDL_NUMBER) && !tsdl_is(t, TSDL_TEXT))
		return tsdl_unexpected(t, "a value");
	return tsdl_next(t);
}

int tsdl_unsigned(struct tsdl *t, const struct tsdl_value *v, uint64_t lo,
		  uint64_t hi, uint64_t *out)
{
	if (v->kind != TSDL_NUMBER || (v->negative && v->num) || v->num < lo ||
	    v->num > hi)
		return raw_fail(t->r, v->at,
				"value is not a number from %llu to %llu",
				(unsigned long long)lo, (unsigned long long)hi);
	*out = v->num;
	return 0;
}

int tsdl_signed(struct tsdl *t, const struct tsdl_value *v, int64_t *out)
{
	if (v->kind != TSDL_NUMBER ||
	    v->num > (uint64_t)INT64_MAX + v->negative)
		return raw_fail(t->r, v->at,
				"value is not a signed number of 64 bits");
	*out = (int64_t)(v->negative ? -v->num : v->num);
	return 0;
}

int tsdl_bool(struct tsdl *t, const struct tsdl_value *v, bool *out)
{
	if (v->kind == TSDL_NUMBER) {
		*out = v->num != 0;
		return 0;
	}
	const char *s = v->kind == TSDL_IDENT ? tsdl_text(t, v->name) : "";

	*out = !strcasecmp(s, "true");
	if (!*out && strcasecmp(s, "false"))
		return raw_fail(t->r, v->at, "value is not 'true' or 'false'");
	return 0;
}

int tsdl_byte_order(struct tsdl *t, const struct tsdl_value *v, bool *native,
		    bool *big)
{
	const char *s = v->kind == TSDL_IDENT ? tsdl_text(t, v->name) : "";

	*native = !strcmp(s, "native");
	*big = !strcmp(s, "be") || !strcmp(s, "network");
	if (!*big && !*native && strcmp(s, "le"))
		return raw_fail(t->r, v->at,
				"byte order is not 'le', 'be' or 'network'");
	return 0;
}

int tsdl_alignment(struct tsdl *t, const struct tsdl_value *v, uint32_t *out)
{
	uint64_t n = 0;

	if (tsdl_unsigned(t, v, 1, CTF_ALIGN_MAX, &n))
		return -1;
	if (n & (n - 1))
		return raw_fail(t->r, v->at, "alignment is no power of two");
	*out = (uint32_t)n;
	return 0;
}

int tsdl_attribute(struct tsdl *t, uint32_t key, tsdl_set_fn *set, void *to)
{
	struct tsdl_value v;

	if (tsdl_need(t, '=', "'='") || tsdl_value(t, &v) ||
	    set(t, to, key, &v))
		return -1;
	return tsdl_need(t, ';', "';' after a value");
}

int tsdl_attributes(struct tsdl *t, tsdl_set_fn *set, void *to)
{
	uint32_t key;

	if (tsdl_need(t, '{', "'{'"))
		return -1;
	while (!tsdl_is(t, '}'))
		if (tsdl_path(t, &key) || tsdl_attribute(t, key, set, to))
			return -1;
	return tsdl_next(t);
}
