/* tsdl_number.c - types of TSDL that have attributes: integer {...},
 * floating_point {...}, string {...}. */
#include <string.h>

#include "formats/ctf/meta/tsdl.h"
#include "stitch/base/words.h"

static int tsdl_encoding(struct tsdl *t, const struct tsdl_value *v,
			 bool *encoded)
{
	const char *s = v->kind == TSDL_NUMBER ? "" : tsdl_text(t, v->name);

	*encoded = words_find("UTF8 ASCII utf8 ascii UTF-8 utf-8", s,
			      strlen(s)) >= 0;
	if (!*encoded && strcmp(s, "none"))
		return raw_fail(t->r, v->at,
				"encoding is not 'UTF8', 'ASCII' or 'none'");
	return 0;
}

static int tsdl_base(struct tsdl *t, const struct tsdl_value *v, uint8_t *out)
{
	static const struct {
		uint8_t base;
		const char *names;
	} known[] = {
		{ 10, "decimal dec d i u 10" },
		{ 16, "hexadecimal hex x X p 16" },
		{ 8, "octal oct o 8" },
		{ 2, "binary b 2" },
	};
	const char *s = v->kind == TSDL_NUMBER ? "" : tsdl_text(t, v->name);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (v->kind == TSDL_NUMBER
			    ? v->num == known[i].base
			    : words_find(known[i].names, s, strlen(s)) >= 0) {
			*out = known[i].base;
			return 0;
		}
	return raw_fail(t->r, v->at, "base is not 2, 8, 10 or 16");
}

/* clock.NAME.value */
static int tsdl_map(struct tsdl *t, const struct tsdl_value *v, uint32_t *clock)
{
	struct scan s = scan_of("", 0);

	if (v->kind == TSDL_IDENT)
		s = scan_of(tsdl_text(t, v->name),
			    intern_length(&t->r->names, v->name));
	if (!scan_take(&s, "clock.") || s.n <= strlen(".value") ||
	    !scan_is(scan_tail(s, s.n - strlen(".value")), ".value"))
		return raw_fail(t->r, v->at, "map is not clock.NAME.value");
	*clock = intern_add_bytes(&t->r->names, s.p, s.n - strlen(".value"));
	return 0;
}

static int tsdl_set_integer(struct tsdl *t, void *to, uint32_t key,
			    const struct tsdl_value *v)
{
	struct raw_class *c = to;
	uint64_t n = 0;
	bool is_signed;

	switch (key) {
	case TSDL_SIZE:
		if (tsdl_unsigned(t, v, 1, 64, &n))
			return -1;
		c->node.bits = (uint32_t)n;
		return 0;
	case TSDL_ALIGN:
		return tsdl_alignment(t, v, &c->node.align);
	case TSDL_SIGNED_KEY:
		if (tsdl_bool(t, v, &is_signed))
			return -1;
		c->node.kind = is_signed ? CTF_SINT : CTF_UINT;
		return 0;
	case TSDL_BYTE_ORDER:
		c->native = true;
		return tsdl_byte_order(t, v, &c->native, &c->node.big);
	case TSDL_BASE:
		return tsdl_base(t, v, &c->node.base);
	case TSDL_ENCODING:
		return tsdl_encoding(t, v, &c->encoded);
	case TSDL_MAP:
		return tsdl_map(t, v, &c->clock);
	default:
		return 0;
	}
}

int tsdl_integer(struct tsdl *t, const struct raw_class **out)
{
	struct raw_class *c = raw_class(t->r, CTF_UINT, t->tok.at);

	*out = c;
	c->native = true;
	c->node.align = 0;
	if (tsdl_next(t) || tsdl_attributes(t, tsdl_set_integer, c))
		return -1;
	if (!c->node.bits)
		return raw_fail(t->r, c->at, "integer has no 'size'");
	if (!c->node.align)
		c->node.align = c->node.bits % 8 ? 1 : 8;
	return 0;
}

struct tsdl_float {
	struct raw_class *type;
	uint64_t exp, mant;
};

static int tsdl_set_float(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	struct tsdl_float *f = to;

	if (key == TSDL_EXP_DIG)
		return tsdl_unsigned(t, v, 1, 15, &f->exp);
	if (key == TSDL_MANT_DIG)
		return tsdl_unsigned(t, v, 1, 113, &f->mant);
	if (key == TSDL_BYTE_ORDER || key == TSDL_ALIGN)
		return tsdl_set_integer(t, f->type, key, v);
	return 0;
}

int tsdl_float(struct tsdl *t, const struct raw_class **out)
{
	static const uint8_t ieee[][2] = {
		{ 5, 11 }, { 8, 24 }, { 11, 53 }, { 15, 113 }
	};
	struct tsdl_float f = { raw_class(t->r, CTF_REAL, t->tok.at), 0, 0 };
	struct ctf_node *n = &f.type->node;

	*out = f.type;
	f.type->native = true;
	n->align = 0;
	if (tsdl_next(t) || tsdl_attributes(t, tsdl_set_float, &f))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(ieee); i++)
		if (ieee[i][0] == f.exp && ieee[i][1] == f.mant)
			n->bits = ieee[i][0] + ieee[i][1];
	if (!n->bits)
		return raw_fail(t->r, f.type->at,
				"number has %d bits of exponent and %d of "
				"mantissa, needs 5+11, 8+24, 11+53 or 15+113",
				(int)f.exp, (int)f.mant);
	if (!n->align)
		n->align = 8;
	return 0;
}

static int tsdl_set_string(struct tsdl *t, void *to UNUSED, uint32_t key,
			   const struct tsdl_value *v)
{
	bool encoded;

	return key == TSDL_ENCODING ? tsdl_encoding(t, v, &encoded) : 0;
}

int tsdl_string(struct tsdl *t, const struct raw_class **out)
{
	struct raw_class *c = raw_class(t->r, CTF_STRING, t->tok.at);

	*out = c;
	c->node.align = 8;
	if (tsdl_next(t))
		return -1;
	return tsdl_is(t, '{') ? tsdl_attributes(t, tsdl_set_string, NULL) : 0;
}
