/* tsdl_type.c - reads the types of TSDL: integer {...}, struct {...}, unsigned
 * long; and the blocks of its metadata. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/tsdl.h"
#include "stitch/base/bytes.h"
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
	case TSDL_BASE: {
		static const struct {
			uint8_t base;
			const char *names;
		} known[] = {
			{ 10, "decimal dec d i u 10" },
			{ 16, "hexadecimal hex x X p 16" },
			{ 8, "octal oct o 8" },
			{ 2, "binary b 2" },
		};
		const char *s =
			v->kind == TSDL_NUMBER ? "" : tsdl_text(t, v->name);

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (v->kind == TSDL_NUMBER
				    ? v->num == known[i].base
				    : words_find(known[i].names, s,
						 strlen(s)) >= 0) {
				c->node.base = known[i].base;
				return 0;
			}
		return raw_fail(t->r, v->at, "base is not 2, 8, 10 or 16");
	}
	case TSDL_ENCODING:
		return tsdl_encoding(t, v, &c->encoded);
	case TSDL_MAP: {
		/* the name of the clock from clock.NAME.value */
		struct scan s = scan_of("", 0);

		if (v->kind == TSDL_IDENT)
			s = scan_of(tsdl_text(t, v->name),
				    intern_length(&t->r->names, v->name));
		if (!scan_take(&s, "clock.") || s.n <= strlen(".value") ||
		    !scan_is(scan_tail(s, s.n - strlen(".value")), ".value"))
			return raw_fail(t->r, v->at,
					"map is not clock.NAME.value");
		c->clock = intern_add_bytes(&t->r->names, s.p,
					    s.n - strlen(".value"));
		return 0;
	}
	default:
		return 0;
	}
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

/* Reads the attributes {...} after "floating_point". */
static int tsdl_float(struct tsdl *t, const struct raw_class **out)
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

static int tsdl_typealias(struct tsdl *t);
static int tsdl_typedef(struct tsdl *t);
static int tsdl_declarator(struct tsdl *t, const struct raw_class *type,
			   uint32_t *name, const struct raw_class **out);

static int tsdl_declare(struct tsdl *t, enum tsdl_space space, uint32_t name,
			const struct raw_class *type, uint32_t at)
{
	uint32_t key = name * TSDL_SPACES + space;

	if (name >= UINT32_MAX / TSDL_SPACES - 1)
		return raw_fail(t->r, at, "too many names");
	mem_reach(t->top, t->n_top, t->cap_top, key + 1);
	if (t->top[key] > t->block)
		return raw_fail(t->r, at, "'%s' is declared twice",
				tsdl_text(t, name));
	*mem_add(t->symbol, t->n_symbol, t->cap_symbol) =
		(struct tsdl_symbol){ type, key, t->top[key] };
	t->top[key] = (uint32_t)t->n_symbol;
	return 0;
}

/* Returns the class that this name has in the innermost block, or NULL. */
static const struct raw_class *tsdl_find(const struct tsdl *t,
					 enum tsdl_space space, uint32_t name)
{
	uint64_t key = (uint64_t)name * TSDL_SPACES + space;

	if (key >= t->n_top || !t->top[key])
		return NULL;
	return t->symbol[t->top[key] - 1].type;
}

/* tsdl_enter() opens a block of names and returns the outer one, which
 * tsdl_leave() restores. */
static size_t tsdl_enter(struct tsdl *t)
{
	size_t block = t->block;

	t->block = t->n_symbol;
	return block;
}

static void tsdl_leave(struct tsdl *t, size_t block)
{
	while (t->n_symbol > t->block) {
		const struct tsdl_symbol *s = &t->symbol[--t->n_symbol];

		t->top[s->key] = s->hidden;
	}
	t->block = block;
}

static bool tsdl_is_c_word(const struct tsdl *t)
{
	return tsdl_is(t, TSDL_IDENT) && t->tok.name >= TSDL_VOID &&
	       t->tok.name < TSDL_N_WORDS;
}

/* Reads the name of a type, such as unsigned long, uint32_t or char *. */
static int tsdl_type_name(struct tsdl *t, uint32_t *name)
{
	char text[256];
	size_t n = 0;
	bool one = false;

	while (tsdl_is_word(t, TSDL_CONST) || tsdl_is_c_word(t) ||
	       (tsdl_is(t, TSDL_IDENT) && !n) || (tsdl_is(t, '*') && n)) {
		const char *s =
			tsdl_is(t, '*') ? "*" : tsdl_text(t, t->tok.name);
		size_t len = strlen(s);

		if (!tsdl_is_word(t, TSDL_CONST)) {
			if (one && tsdl_is_c_word(t))
				break;
			if (n + len + 2 > sizeof(text))
				return tsdl_fail(t, "type has a long name");
			one = one || (!n && !tsdl_is_c_word(t));
			if (n)
				text[n++] = ' ';
			memcpy(text + n, s, len);
			n += len;
		}
		if (tsdl_next(t))
			return -1;
	}
	if (!n)
		return tsdl_unexpected(t, "a type");
	*name = intern_add_bytes(&t->r->names, text, n);
	return 0;
}

static bool tsdl_is_compound(const struct tsdl *t)
{
	return tsdl_is_word(t, TSDL_STRUCT) || tsdl_is_word(t, TSDL_VARIANT) ||
	       tsdl_is_word(t, TSDL_ENUM);
}

/* Reads a type without a declared name, such as integer {...}, struct x or
 * unsigned long. */
static int tsdl_type(struct tsdl *t, const struct raw_class **out);

/* Reads members, TYPE NAME, NAME; or the declaration of a type. */
static int tsdl_members(struct tsdl *t)
{
	const struct raw_class *type;
	bool compound = tsdl_is_compound(t);
	uint32_t at;

	if (tsdl_is_word(t, TSDL_TYPEALIAS))
		return tsdl_typealias(t);
	if (tsdl_is_word(t, TSDL_TYPEDEF))
		return tsdl_typedef(t);
	if (tsdl_type(t, &type))
		return -1;
	if (compound && tsdl_is(t, ';'))
		return tsdl_next(t);
	for (;;) {
		struct raw_part p = { .at = t->tok.at };

		if (tsdl_declarator(t, type, &p.name, &p.type))
			return -1;
		*mem_add(t->part, t->n_part, t->cap_part) = p;
		at = t->tok.at;
		if (!tsdl_is(t, ','))
			break;
		if (tsdl_next(t) || raw_room(t->r, at))
			return -1;
	}
	return tsdl_need(t, ';', "';' after a member");
}

/* Reads { members } into the class c. */
static int tsdl_body(struct tsdl *t, struct raw_class *c)
{
	size_t mark = t->n_part;
	size_t block = tsdl_enter(t);

	if (tsdl_next(t))
		return -1;
	while (!tsdl_is(t, '}'))
		if (tsdl_members(t))
			return -1;
	tsdl_leave(t, block);

	const struct raw_part *part = t->part ? t->part + mark : NULL;
	size_t n = t->n_part - mark;

	if (raw_unique(t->r, part, n))
		return -1;
	c->part = raw_copy(&t->r->scratch, part, n, sizeof(*part));
	c->node.n_child = (uint32_t)n;
	t->n_part = mark;
	return tsdl_next(t);
}

/* Reads NAME, if there is one, after struct, variant or enum. */
static int tsdl_tag(struct tsdl *t, uint32_t *name)
{
	*name = RAW_NONE;
	if (!tsdl_is(t, TSDL_IDENT))
		return 0;
	*name = t->tok.name;
	return tsdl_next(t);
}

/* Sets *out to the class that was declared as NAME, for a use without a body.
 * Returns -1 with an error if there is none. */
static int tsdl_use(struct tsdl *t, enum tsdl_space space, uint32_t name,
		    const char *what, const struct raw_class **out)
{
	if (name == RAW_NONE)
		return tsdl_unexpected(t, "a name or '{'");
	*out = tsdl_find(t, space, name);
	if (!*out)
		return tsdl_fail(t, "%s '%s' is not declared", what,
				 tsdl_text(t, name));
	return 0;
}

/* Prefixes of a path that name a scope. */
static const struct {
	const char *prefix;
	int8_t scope;
} tsdl_scopes[] = {
	{ "trace.packet.header.", RAW_HEADER },
	{ "stream.packet.context.", RAW_PACKET },
	{ "stream.event.header.", RAW_EVENT_HEADER },
	{ "stream.event.context.", RAW_COMMON },
	{ "event.context.", RAW_SPECIFIC },
	{ "event.fields.", RAW_PAYLOAD },
};

/* Reads the path of a length or tag. */
static int tsdl_place(struct tsdl *t, const struct raw_place **out)
{
	struct raw_place p = { .scope = RAW_RELATIVE, .climb = true };
	uint32_t name[CTF_DEPTH_MAX];
	uint32_t path;

	if (tsdl_path(t, &path))
		return -1;
	struct scan s = scan_of(tsdl_text(t, path), strlen(tsdl_text(t, path)));

	for (size_t i = 0; i < ARRAY_SIZE(tsdl_scopes); i++)
		if (p.climb && scan_take(&s, tsdl_scopes[i].prefix)) {
			p.scope = tsdl_scopes[i].scope;
			p.climb = false;
		}
	for (; s.n; p.n++) {
		size_t n = scan_find_char(s, '.');

		if (p.n == CTF_DEPTH_MAX)
			return tsdl_fail(t, "path has more than %d names",
					 CTF_DEPTH_MAX);
		name[p.n] = intern_add_bytes(&t->r->names, s.p, n);
		scan_skip(&s, n + 1);
	}
	p.name = raw_copy(&t->r->scratch, name, p.n, sizeof(*name));
	*out = raw_copy(&t->r->scratch, &p, 1, sizeof(p));
	return 0;
}

static int tsdl_variant(struct tsdl *t, const struct raw_class **out)
{
	const struct raw_place *from = NULL;
	struct raw_class *c;
	uint32_t at = t->tok.at;
	uint32_t name;

	if (tsdl_next(t) || tsdl_tag(t, &name))
		return -1;
	/* <tag> after "variant" */
	if (tsdl_is(t, '<') && (tsdl_next(t) || tsdl_place(t, &from) ||
				tsdl_need(t, '>', "'>' after the tag")))
		return -1;
	if (tsdl_is(t, '{')) {
		c = raw_class(t->r, CTF_VARIANT, at);
		*out = c;
		c->from = from;
		if (tsdl_body(t, c))
			return -1;
		return name == RAW_NONE
			       ? 0
			       : tsdl_declare(t, TSDL_VARIANTS, name, c, at);
	}
	if (tsdl_use(t, TSDL_VARIANTS, name, "variant", out))
		return -1;
	if (!from)
		return 0;
	c = raw_copy(&t->r->scratch, *out, 1, sizeof(**out));
	c->from = from;
	c->at = at;
	*out = c;
	return 0;
}

/* Returns whether a is less than b. */
static bool tsdl_is_less(const struct tsdl_value *a, const struct tsdl_value *b)
{
	bool minus = a->negative && a->num;

	if (minus != (b->negative && b->num))
		return minus;
	return minus ? a->num > b->num : a->num < b->num;
}

/* Returns the number in two's complement. */
static uint64_t tsdl_bits(const struct tsdl_value *v)
{
	return v->negative ? -v->num : v->num;
}

/* Reads NAME, NAME = 1 or NAME = 1 ... 2. *next is the value of a label that
 * has none. */
static int tsdl_label(struct tsdl *t, bool is_signed, struct tsdl_value *next,
		      struct raw_range *out)
{
	struct tsdl_value v[2];

	if (!tsdl_is(t, TSDL_IDENT) && !tsdl_is(t, TSDL_TEXT))
		return tsdl_unexpected(t, "a label");
	out->name = t->tok.name;
	if (tsdl_next(t))
		return -1;
	v[0] = *next;
	if (tsdl_is(t, '=') && (tsdl_next(t) || tsdl_value(t, &v[0])))
		return -1;
	v[1] = v[0];
	if (tsdl_is(t, TSDL_DOTS) && (tsdl_next(t) || tsdl_value(t, &v[1])))
		return -1;
	/* the range of these values that the integer can have; it may be
	 * empty */
	const struct tsdl_value lo = { .negative = is_signed,
				       .num = is_signed ? (uint64_t)1 << 63
							: 0 };
	const struct tsdl_value hi = { .num = is_signed ? INT64_MAX
							: UINT64_MAX };

	for (int i = 0; i < 2; i++) {
		if (v[i].kind != TSDL_NUMBER)
			return raw_fail(t->r, v[i].at, "value is no number");
	}
	if (tsdl_is_less(&v[1], &v[0]))
		return raw_fail(t->r, v[0].at, "range ends before it begins");
	out->empty = tsdl_is_less(&hi, &v[0]) || tsdl_is_less(&v[1], &lo);
	out->range.lo = tsdl_bits(tsdl_is_less(&v[0], &lo) ? &lo : &v[0]);
	out->range.hi = tsdl_bits(tsdl_is_less(&hi, &v[1]) ? &hi : &v[1]);
	*next = v[1];
	next->num += next->negative ? -1 : 1;
	next->negative = next->negative && next->num;
	return 0;
}

static int tsdl_labels(struct tsdl *t, struct raw_class *c)
{
	struct tsdl_value next = { .kind = TSDL_NUMBER, .at = t->tok.at };
	struct raw_range *range OWNED = NULL;
	size_t n = 0;
	size_t cap = 0;
	int ret = tsdl_next(t);

	while (!ret && !tsdl_is(t, '}')) {
		ret = tsdl_label(t, c->node.kind == CTF_SINT, &next,
				 mem_add(range, n, cap));
		if (!ret && !tsdl_is(t, '}'))
			ret = tsdl_need(t, ',', "',' or '}' after a label");
		if (!ret && n == RAW_LABELS_MAX)
			ret = tsdl_fail(t,
					"enumeration has more than %u labels",
					RAW_LABELS_MAX);
	}
	if (!ret && !n)
		ret = tsdl_unexpected(t, "a label");
	if (!ret)
		c->node.label = raw_labels(t->r, range, n, &c->node.n_label);
	return ret ? ret : tsdl_next(t);
}

static int tsdl_any_type(struct tsdl *t, const struct raw_class **out)
{
	if (!tsdl_is(t, TSDL_IDENT))
		return tsdl_unexpected(t, "a type");
	switch (t->tok.name) {
	case TSDL_INTEGER: {
		/* Read the attributes {...} after "integer". */
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
	case TSDL_FLOATING:
		return tsdl_float(t, out);
	case TSDL_STRING_WORD: {
		struct raw_class *c = raw_class(t->r, CTF_STRING, t->tok.at);

		*out = c;
		c->node.align = 8;
		if (tsdl_next(t))
			return -1;
		return tsdl_is(t, '{')
			       ? tsdl_attributes(t, tsdl_set_string, NULL)
			       : 0;
	}
	case TSDL_STRUCT: {
		uint32_t at = t->tok.at;
		uint32_t name;

		if (tsdl_next(t) || tsdl_tag(t, &name))
			return -1;
		if (!tsdl_is(t, '{'))
			return tsdl_use(t, TSDL_STRUCTS, name, "struct", out);
		struct raw_class *c = raw_class(t->r, CTF_STRUCT, at);

		*out = c;
		if (tsdl_body(t, c))
			return -1;
		/* align(8) after the body */
		if (tsdl_is_word(t, TSDL_ALIGN)) {
			struct tsdl_value v;

			if (tsdl_next(t) || tsdl_need(t, '(', "'('") ||
			    tsdl_value(t, &v) ||
			    tsdl_alignment(t, &v, &c->node.align) ||
			    tsdl_need(t, ')', "')'"))
				return -1;
		}
		return name == RAW_NONE
			       ? 0
			       : tsdl_declare(t, TSDL_STRUCTS, name, c, at);
	}
	case TSDL_VARIANT:
		return tsdl_variant(t, out);
	case TSDL_ENUM: {
		/* enum NAME : type { labels } */
		const struct raw_class *base = NULL;
		uint32_t at = t->tok.at;
		uint32_t name;

		if (tsdl_next(t) || tsdl_tag(t, &name))
			return -1;
		if (tsdl_is(t, ':') && (tsdl_next(t) || tsdl_type(t, &base)))
			return -1;
		if (!base && !tsdl_is(t, '{'))
			return tsdl_use(t, TSDL_ENUMS, name, "enum", out);
		if (!tsdl_is(t, '{'))
			return tsdl_unexpected(t, "'{' of an enumeration");
		if (!base)
			base = tsdl_find(t, TSDL_TYPES, TSDL_INT);
		if (!base)
			return tsdl_fail(t,
					 "enum has no type, and 'int' is not "
					 "declared");
		if (base->node.kind != CTF_UINT && base->node.kind != CTF_SINT)
			return raw_fail(t->r, at,
					"enum is of a type that is no "
					"integer");
		struct raw_class *c =
			raw_copy(&t->r->scratch, base, 1, sizeof(*c));

		*out = c;
		c->at = at;
		if (tsdl_labels(t, c))
			return -1;
		return name == RAW_NONE
			       ? 0
			       : tsdl_declare(t, TSDL_ENUMS, name, c, at);
	}
	default: {
		uint32_t at = t->tok.at;
		uint32_t name;

		if (tsdl_type_name(t, &name))
			return -1;
		*out = tsdl_find(t, TSDL_TYPES, name);
		if (!*out)
			return raw_fail(t->r, at, "type '%s' is not declared",
					tsdl_text(t, name));
		return 0;
	}
	}
}

static int tsdl_type(struct tsdl *t, const struct raw_class **out)
{
	while (tsdl_is_word(t, TSDL_CONST))
		if (tsdl_next(t))
			return -1;
	if (t->depth >= CTF_DEPTH_MAX)
		return tsdl_fail(t, "types are nested deeper than %d",
				 CTF_DEPTH_MAX);
	t->depth++;
	int ret = tsdl_any_type(t, out);
	t->depth--;
	return ret;
}

/* Reads name[length]... after a type. If `name` is NULL, there is no name to
 * read. */
static int tsdl_declarator(struct tsdl *t, const struct raw_class *type,
			   uint32_t *name, const struct raw_class **out)
{
	struct raw_class *dim[CTF_DEPTH_MAX];
	size_t n = 0;

	*out = type;
	if (name) {
		if (!tsdl_is(t, TSDL_IDENT))
			return tsdl_unexpected(t, "a name");
		*name = t->tok.name;
		if (tsdl_next(t))
			return -1;
	}
	/* a dimension: [3] or [path] */
	while (tsdl_is(t, '[')) {
		if (n == CTF_DEPTH_MAX)
			return tsdl_fail(t, "array has more than %d dimensions",
					 CTF_DEPTH_MAX);
		struct raw_class *c = raw_class(t->r, CTF_ARRAY, t->tok.at);

		dim[n++] = c;
		if (tsdl_next(t))
			return -1;
		if (tsdl_is(t, TSDL_NUMBER)) {
			c->node.count = t->tok.num;
			if (tsdl_next(t))
				return -1;
		} else {
			c->node.kind = CTF_SEQUENCE;
			if (tsdl_place(t, &c->from))
				return -1;
		}
		if (tsdl_need(t, ']', "']' after a length"))
			return -1;
	}
	/* int x[2][3]: two times three numbers */
	while (n--) {
		struct raw_class *c = dim[n];
		const struct ctf_node *e = &(*out)->node;
		struct raw_part part = { RAW_NONE, c->at, *out };

		if ((e->kind == CTF_UINT || e->kind == CTF_SINT) &&
		    !e->n_label && (*out)->encoded && e->bits == 8 &&
		    e->align == 8) {
			c->node.kind = c->node.kind == CTF_ARRAY
					       ? CTF_FIXED_STRING
					       : CTF_LENGTH_STRING;
			c->node.align = 8;
		} else {
			c->part = raw_copy(&t->r->scratch, &part, 1,
					   sizeof(part));
			c->node.n_child = 1;
		}
		*out = c;
	}
	return 0;
}

static int tsdl_typealias(struct tsdl *t)
{
	const struct raw_class *type;
	uint32_t at = t->tok.at;
	uint32_t name;

	if (tsdl_next(t) || tsdl_type(t, &type) ||
	    tsdl_declarator(t, type, NULL, &type) ||
	    tsdl_need(t, TSDL_ASSIGN, "':='") || tsdl_type_name(t, &name) ||
	    tsdl_declare(t, TSDL_TYPES, name, type, at))
		return -1;
	return tsdl_need(t, ';', "';' after typealias");
}

static int tsdl_typedef(struct tsdl *t)
{
	const struct raw_class *type;

	do {
		const struct raw_class *c;
		uint32_t at = t->tok.at;
		uint32_t name = 0;
		bool first = tsdl_is_word(t, TSDL_TYPEDEF);

		if (tsdl_next(t) || (first && tsdl_type(t, &type)) ||
		    tsdl_declarator(t, type, &name, &c) ||
		    tsdl_declare(t, TSDL_TYPES, name, c, at))
			return -1;
	} while (tsdl_is(t, ','));
	return tsdl_need(t, ';', "';' after typedef");
}

/* Reads a declaration of names, typealias, typedef or struct x {...}, and sets
 * *done; sets it to false if there is none. */
static int tsdl_declaration(struct tsdl *t, bool *done)
{
	const struct raw_class *type;

	*done = true;
	if (tsdl_is_word(t, TSDL_TYPEALIAS))
		return tsdl_typealias(t);
	if (tsdl_is_word(t, TSDL_TYPEDEF))
		return tsdl_typedef(t);
	*done = tsdl_is_compound(t);
	if (!*done)
		return 0;
	if (tsdl_type(t, &type))
		return -1;
	return tsdl_need(t, ';', "';' after a declaration");
}

/* ---- TSDL: its packets, then its blocks (trace, env, clock ...) */

#define TSDL_MAGIC 0x75D11D57u
#define TSDL_PACKED_HEADER 37

/* Copies the content of packets. Their header has a magic number, uuid[16],
 * checksum, content and packet size in bits, then a byte each for compression,
 * encryption and checksum scheme, and the version. Of an incomplete packet,
 * what exists is copied, and *cut is set. */
static int tsdl_packets(struct raw *r, struct bytes b, char *text, bool *cut)
{
	while (bytes_left(&b)) {
		struct bytes body = b;
		uint64_t off = bytes_off(&b) - b.base_off;
		uint32_t magic = 0;
		uint32_t content = 0;
		uint32_t packet = 0;
		uint8_t scheme[3] = { 0 };

		*cut = true;
		if (bytes_peek_u32(&b, 0, &magic) ||
		    bytes_peek(&b, 32, scheme, sizeof(scheme)) ||
		    bytes_peek_u32(&b, 24, &content) ||
		    bytes_peek_u32(&b, 28, &packet) ||
		    bytes_skip(&body, TSDL_PACKED_HEADER, NULL))
			return 0;
		if (magic != TSDL_MAGIC)
			return raw_fail(r, (uint32_t)off,
					"found 0x%x, needed the magic number "
					"of a metadata packet",
					magic);
		if (scheme[0] || scheme[1])
			return raw_fail(r, (uint32_t)off,
					"metadata packet is compressed or "
					"encrypted");
		if (content > packet || packet % 8 || content % 8 ||
		    content / 8 < TSDL_PACKED_HEADER)
			return raw_fail(r, (uint32_t)off,
					"metadata packet has %u bits of "
					"content and a size of %u bits",
					content, packet);
		size_t len = content / 8 - TSDL_PACKED_HEADER;

		*cut = packet / 8 > bytes_left(&b);
		if (len > bytes_left(&body))
			len = bytes_left(&body);
		*mem_add(r->span, r->n_span, r->cap_span) = (struct raw_span){
			.text = (uint32_t)r->n_text,
			.file = (uint32_t)(off + TSDL_PACKED_HEADER),
		};
		bytes_peek(&body, 0, text + r->n_text, len);
		r->n_text += len;
		if (*cut)
			return 0;
		bytes_skip(&b, packet / 8, NULL);
	}
	return 0;
}

int tsdl_unpack(struct raw *r, const struct bytes *meta, bool *cut)
{
	struct bytes b = *meta;
	uint32_t magic = 0;

	*cut = false;
	if (bytes_peek(&b, 0, &magic, sizeof(magic)))
		magic = 0;
	b.swap = magic == __builtin_bswap32(TSDL_MAGIC);
	if (magic != TSDL_MAGIC && !b.swap) {
		r->n_text = bytes_left(&b);
		r->text = raw_copy(&r->scratch, b.pos, r->n_text, 1);
		r->text = r->text ? r->text : "";
		return 0;
	}
	char *text = arena_take(&r->scratch, bytes_left(&b));
	int ret = tsdl_packets(r, b, text, cut);

	r->text = ret ? NULL : text;
	return ret;
}

/* Reads { key = value; key := type; } and declarations of types, and calls
 * set() for each value. */
static int tsdl_block(struct tsdl *t, tsdl_set_fn *set, void *to)
{
	size_t block = tsdl_enter(t);
	uint32_t key;
	bool done;

	if (tsdl_need(t, '{', "'{'"))
		return -1;
	while (!tsdl_is(t, '}')) {
		struct tsdl_value v = { .at = t->tok.at, .kind = TSDL_ASSIGN };

		if (tsdl_declaration(t, &done))
			return -1;
		if (done)
			continue;
		if (tsdl_path(t, &key))
			return -1;
		if (!tsdl_is(t, TSDL_ASSIGN)) {
			if (tsdl_attribute(t, key, set, to))
				return -1;
		} else if (tsdl_next(t) || tsdl_type(t, &v.type) ||
			   set(t, to, key, &v) || tsdl_need(t, ';', "';'")) {
			return -1;
		}
	}
	tsdl_leave(t, block);
	return tsdl_next(t);
}

/* Sets *out to the structure. Returns -1 with an error if the value is none. */
static int tsdl_scope(struct tsdl *t, const struct tsdl_value *v,
		      const struct raw_class **out)
{
	if (v->kind != TSDL_ASSIGN || v->type->node.kind != CTF_STRUCT)
		return raw_fail(t->r, v->at, "value is no structure");
	*out = v->type;
	return 0;
}

/* Stores a value of the trace block. to: a bool, set when the byte order is
 * known. */
static int tsdl_set_trace(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	bool *order_known = to;
	struct ctf_tree *tree = t->r->tree;
	bool native = false;
	uint64_t n;

	switch (key) {
	case TSDL_MAJOR:
		return tsdl_unsigned(t, v, 1, 1, &n);
	case TSDL_MINOR:
		return tsdl_unsigned(t, v, 8, 8, &n);
	case TSDL_UUID:
		tree->has_uuid = true;
		struct scan s = scan_of("", 0);

		if (v->kind == TSDL_TEXT)
			s = scan_of(tsdl_text(t, v->name),
				    strlen(tsdl_text(t, v->name)));
		for (size_t i = 0; i < 16; i++) {
			if (i == 4 || i == 6 || i == 8 || i == 10)
				scan_take(&s, "-");
			if (s.n < 2 || scan_hex_digit(s.p[0]) < 0 ||
			    scan_hex_digit(s.p[1]) < 0)
				return raw_fail(t->r, v->at,
						"value is no uuid");
			tree->uuid[i] = (uint8_t)(scan_hex_digit(s.p[0]) << 4 |
						  scan_hex_digit(s.p[1]));
			scan_skip(&s, 2);
		}
		return s.n ? raw_fail(t->r, v->at, "value is no uuid") : 0;
	case TSDL_BYTE_ORDER:
		*order_known = true;
		return tsdl_byte_order(t, v, &native, &tree->big);
	case TSDL_PACKET_HEADER:
		return tsdl_scope(t, v, &t->r->header);
	default:
		return 0;
	}
}

static int tsdl_set_env(struct tsdl *t, void *to UNUSED, uint32_t key,
			const struct tsdl_value *v)
{
	struct raw *r = t->r;
	struct ctf_env e = { .name = raw_keep(r, key) };

	if (v->kind == TSDL_TEXT)
		e.text = raw_keep(r, v->name);
	else if (tsdl_signed(t, v, &e.num))
		return -1;
	*mem_add(r->env, r->n_env, r->cap_env) = e;
	return 0;
}

static int tsdl_set_clock(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	struct raw_clock *c = to;

	switch (key) {
	case TSDL_NAME:
		if (v->kind == TSDL_NUMBER)
			return raw_fail(t->r, v->at, "value is no name");
		c->name = v->name;
		c->clock.name = raw_keep(t->r, v->name);
		return 0;
	case TSDL_UUID:
		if (v->kind == TSDL_TEXT)
			c->clock.uid = raw_keep(t->r, v->name);
		return 0;
	case TSDL_FREQ:
		return tsdl_unsigned(t, v, 1, UINT64_MAX, &c->clock.freq);
	case TSDL_OFFSET:
		return tsdl_signed(t, v, &c->clock.offset);
	case TSDL_OFFSET_S:
		return tsdl_signed(t, v, &c->clock.offset_s);
	case TSDL_ABSOLUTE:
		return tsdl_bool(t, v, &c->clock.unix_epoch);
	default:
		return 0;
	}
}

static int tsdl_set_stream(struct tsdl *t, void *to, uint32_t key,
			   const struct tsdl_value *v)
{
	struct raw_stream *s = to;

	switch (key) {
	case TSDL_ID:
		return tsdl_unsigned(t, v, 0, INT64_MAX, &s->id);
	case TSDL_PACKET_CONTEXT:
		return tsdl_scope(t, v, &s->scope[RAW_PACKET]);
	case TSDL_EVENT_HEADER:
		return tsdl_scope(t, v, &s->scope[RAW_EVENT_HEADER]);
	case TSDL_EVENT_CONTEXT:
		return tsdl_scope(t, v, &s->scope[RAW_COMMON]);
	default:
		return 0;
	}
}

static int tsdl_set_event(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	struct raw_event *e = to;
	int64_t level = 0;

	switch (key) {
	case TSDL_ID:
		return tsdl_unsigned(t, v, 0, INT64_MAX, &e->id);
	case TSDL_NAME:
		if (v->kind == TSDL_NUMBER)
			return raw_fail(t->r, v->at, "value is no name");
		e->name = v->name;
		return 0;
	case TSDL_STREAM_ID:
		e->any_stream = false;
		return tsdl_unsigned(t, v, 0, INT64_MAX, &e->stream);
	case TSDL_CONTEXT:
		return tsdl_scope(t, v, &e->specific);
	case TSDL_FIELDS:
		return tsdl_scope(t, v, &e->payload);
	case TSDL_LOGLEVEL:
		return tsdl_signed(t, v, &level);
	default:
		return 0;
	}
}

static int tsdl_set_nothing(struct tsdl *t UNUSED, void *to UNUSED,
			    uint32_t key UNUSED,
			    const struct tsdl_value *v UNUSED)
{
	return 0;
}

static int tsdl_top(struct tsdl *t)
{
	bool done;
	int ret;

	if (tsdl_is(t, ';'))
		return tsdl_next(t);
	if (tsdl_declaration(t, &done))
		return -1;
	if (done)
		return 0;
	switch (tsdl_is(t, TSDL_IDENT) ? t->tok.name : TSDL_N_WORDS) {
	case TSDL_TRACE: {
		bool order_known = false;
		uint32_t at = t->tok.at;

		if (tsdl_next(t) || tsdl_block(t, tsdl_set_trace, &order_known))
			return -1;
		if (!order_known)
			return raw_fail(t->r, at, "trace has no 'byte_order'");
		t->r->tree->version = 1;
		ret = 0;
		break;
	}
	case TSDL_ENV:
		ret = tsdl_next(t) ? -1
				   : tsdl_attributes(t, tsdl_set_env, NULL);
		break;
	case TSDL_CLOCK: {
		struct raw *r = t->r;
		struct raw_clock c = { RAW_NONE, { .freq = 1000000000 } };
		uint32_t at = t->tok.at;

		if (tsdl_next(t) || tsdl_attributes(t, tsdl_set_clock, &c))
			return -1;
		if (c.name == RAW_NONE)
			return raw_fail(r, at, "clock has no 'name'");
		ret = raw_add_clock(r, at, &c);
		break;
	}
	case TSDL_CALLSITE:
		ret = tsdl_next(t) ? -1 : tsdl_block(t, tsdl_set_nothing, NULL);
		break;
	case TSDL_STREAM: {
		struct raw_stream s = { .at = t->tok.at, .clock = RAW_NONE };

		if (tsdl_next(t) || tsdl_block(t, tsdl_set_stream, &s))
			return -1;
		ret = raw_add_stream(t->r, &s);
		break;
	}
	case TSDL_EVENT: {
		struct raw_event e = { .at = t->tok.at,
				       .name = RAW_NONE,
				       .any_stream = true };

		if (tsdl_next(t) || tsdl_block(t, tsdl_set_event, &e))
			return -1;
		ret = raw_add_event(t->r, &e);
		break;
	}
	default:
		return tsdl_unexpected(t, "a block or a declaration");
	}
	return ret ? ret : tsdl_need(t, ';', "';' after a block");
}

/* Returns whether the statement at this offset of the text has no end. */
static bool tsdl_is_cut(struct raw *r, uint32_t at)
{
	struct tsdl t = { .r = r };
	int depth = 0;
	bool open = true;

	t.rest = scan_tail(scan_of(r->text, r->n_text), at);
	while (!tsdl_next(&t) && !tsdl_is(&t, TSDL_END) && open) {
		depth += tsdl_is(&t, '{') - tsdl_is(&t, '}');
		open = depth > 0 || !tsdl_is(&t, ';');
	}
	free(t.word);
	return open && tsdl_is(&t, TSDL_END);
}

/* A recorder that dies leaves the last statement unfinished. */
int tsdl_read(struct raw *r, bool *cut)
{
#define TSDL_NAME(word, text) text,
	static const char *const words[] = { TSDL_WORDS(TSDL_NAME) };
#undef TSDL_NAME
	struct tsdl t = { .r = r, .rest = scan_of(r->text, r->n_text) };
	uint32_t at = 0;

	/* added first, so that a word's number is that of its name */
	for (size_t i = 0; i < TSDL_N_WORDS; i++)
		intern_add(&r->names, words[i]);
	int ret = tsdl_next(&t);

	while (!ret && !tsdl_is(&t, TSDL_END)) {
		at = t.tok.at;
		ret = tsdl_top(&t);
	}
	if (!ret && !r->tree->version)
		ret = raw_fail(r, t.tok.at, "metadata has no 'trace' block");
	if (ret && r->n_stream && tsdl_is_cut(r, at)) {
		*cut = true;
		ret = 0;
	}
	free_all(t.symbol, t.top, t.part, t.word, t.path);
	return ret;
}
