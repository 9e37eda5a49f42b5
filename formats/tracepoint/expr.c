/* expr.c - evaluates the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr.h"

#include <inttypes.h>
#include <stdarg.h>

#include "formats/tracepoint/pointed.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/text_out.h"
#include "stitch/source.h"

static struct expr_value expr_number(uint64_t n)
{
	return (struct expr_value){ .kind = EXPR_NUM, .num = n };
}

static struct expr_value expr_fail(struct expr *e)
{
	e->failed = true;
	return expr_number(0);
}

/* Appends to the output; fails the expression if it does not fit. */
static void expr_append(struct expr *e, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static void expr_append(struct expr *e, const char *fmt, ...)
{
	size_t room = sizeof(e->text) - e->n_text;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(e->text + e->n_text, room, fmt, ap);

	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		e->failed = true;
	else
		e->n_text += (size_t)n;
}

/* Begins a new text after those of earlier arguments. */
static const char *expr_begin_text(struct expr *e)
{
	if (e->n_text + 2 < sizeof(e->text) && e->n_text)
		e->n_text++; /* keep the final 0 of the last text */
	e->text[e->n_text] = 0;
	return e->text + e->n_text;
}

static struct expr_value expr_field(struct expr *e, const struct expr_node *n)
{
	const struct field *f = &e->field[n->num];
	struct expr_value v = { .elem = n->size,
				.is_signed = n->type.is_signed };

	if (!f->present)
		return expr_fail(e);
	v.kind = f->text ? EXPR_TEXT : f->blob ? EXPR_BLOB : EXPR_NUM;
	v.num = (uint64_t)f->num;
	v.text = f->text;
	v.blob = f->text ? (const void *)f->text : f->blob;
	v.len = f->len;
	return v;
}

/* Most are numbers of the format. */
static uint64_t expr_number_of(struct expr *e, uint32_t node)
{
	const struct expr_node *n = &e->tree->node[node];

	return n->op == EXPR_NUMBER ? n->num : expr_evaluate(e, node).num;
}

/* Sets *out to the number of a pair. Returns false if the capture does not tell
 * it, as the number of an enum's name. */
static bool expr_pair_number(struct expr *e, const struct expr_node *pair,
			     uint64_t *out)
{
	const bool was = e->unknown;

	*out = expr_number_of(e, pair->a);
	if (was || !e->unknown)
		return true;
	e->unknown = false;
	return false;
}

/* Prints the names of all bits that are set, as trace_print_flags_seq() of
 * Linux does: nothing of 0. What remains may be bits of a name without a
 * number. */
static struct expr_value expr_flags(struct expr *e, const struct expr_node *of)
{
	uint64_t v = expr_number_of(e, of->a);
	const struct expr_node *pair;
	const char *start = expr_begin_text(e);
	bool any = false;
	bool unknown = false;
	uint64_t mask;

	for (uint32_t i = of->b; i && v; i = pair->b) {
		pair = &e->tree->node[i];
		if (!expr_pair_number(e, pair, &mask)) {
			unknown = true;
			continue;
		}
		if ((v & mask) != mask)
			continue;
		expr_append(e, "%s%s", any ? of->text : "", pair->text);
		any = true;
		v &= ~mask;
	}
	e->failed |= v && unknown;
	if (v)
		expr_append(e, "%s0x%" PRIx64, any ? of->text : "", v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Returns the name of the equal value. */
static struct expr_value expr_symbolic(struct expr *e,
				       const struct expr_node *of)
{
	uint64_t v = expr_number_of(e, of->a);
	const struct expr_node *pair;
	uint64_t number;

	for (uint32_t i = of->b; i; i = pair->b) {
		pair = &e->tree->node[i];
		if (!expr_pair_number(e, pair, &number))
			return expr_fail(e);
		if (number == v)
			return (struct expr_value){ .kind = EXPR_TEXT,
						    .text = pair->text };
	}
	const char *start = expr_begin_text(e);

	expr_append(e, "0x%" PRIx64, v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints "01 02 03". */
static struct expr_value expr_hex(struct expr *e, const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	uint64_t n = expr_number_of(e, of->b);
	const char *start = expr_begin_text(e);

	if (n > v.len || !v.blob)
		return expr_fail(e);
	for (uint64_t i = 0; i < n; i++)
		expr_append(e, "%s%02x", i ? of->text : "", v.blob[i]);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints "{0x1,0x2}". */
static struct expr_value expr_array(struct expr *e, const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	uint64_t elem = expr_number_of(e, of->c);
	uint64_t n = of->b ? expr_number_of(e, of->b) : elem ? v.len / elem : 0;
	const char *start = expr_begin_text(e);
	bool ok = elem <= 8;

	expr_append(e, "{");
	for (uint64_t i = 0; i < n && ok; i++) {
		uint64_t x = expr_element(&e->on, &v, (uint32_t)elem, i, &ok);

		expr_append(e, "%s0x%" PRIx64, i ? "," : "", x);
	}
	expr_append(e, "}");
	e->failed |= !ok;
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints the addresses of a field that is a stack, after their count; or its
 * text, if it was made before. */
static struct expr_value expr_addresses(struct expr *e,
					const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	bool ok = true;

	if (v.kind == EXPR_TEXT)
		return v;
	if (v.kind != EXPR_BLOB)
		return expr_fail(e);
	const char *start = expr_begin_text(e);

	for (uint64_t i = 0; ok; i++) {
		uint64_t addr =
			expr_element(&e->on, &v, e->on.long32 ? 4 : 8, i, &ok);

		ok &= addr != 0;
		if (ok && (i || addr >= v.len))
			expr_append(e, " => %" PRIx64, addr);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints the words of a bitmap, the highest first: "00000000,00000003". */
static struct expr_value expr_bitmask(struct expr *e,
				      const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	const char *start = expr_begin_text(e);
	struct text_out o = { .buf = e->text + e->n_text,
			      .size = sizeof(e->text) - e->n_text };

	if (v.kind != EXPR_BLOB || v.len > UINT16_MAX ||
	    !tp_out_bitmap(&o, &e->on, &v, v.len * 8, false) ||
	    o.len + 1 >= o.size)
		return expr_fail(e);
	e->n_text += o.len;
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* The bytes of a field that is a number, as they are in the payload. */
static struct expr_value expr_address(struct expr *e, const struct expr_node *n)
{
	const struct expr_node *f = &e->tree->node[n->a];
	struct expr_value v = expr_evaluate(e, n->a);
	const bool big = e->on.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (v.kind != EXPR_NUM)
		return v;
	expr_begin_text(e);
	if (f->op != EXPR_FIELD || e->n_text + f->type.bytes >= sizeof(e->text))
		return expr_fail(e);
	v = (struct expr_value){
		.kind = EXPR_BLOB,
		.num = v.num,
		.blob = (const unsigned char *)e->text + e->n_text,
		.len = f->type.bytes,
		.elem = f->type.bytes,
		.is_signed = f->type.is_signed,
	};
	for (uint32_t i = 0; i < v.len; i++)
		e->text[e->n_text + (big ? v.len - 1 - i : i)] =
			(char)(v.num >> (8 * i));
	e->n_text += v.len;
	return v;
}

/* Both numbers have the type of the result, or that of the comparison. */
static uint64_t expr_apply(struct expr *e, const struct expr_node *n,
			   uint64_t a, uint64_t b)
{
	const uint64_t sign = n->size ? (uint64_t)1 << 63 : 0;
	const unsigned int bits = n->type.bytes * 8u;

	switch (n->op) {
	case EXPR_NOT:
		return !a;
	case EXPR_COMPLEMENT:
		return ~a;
	case EXPR_NEGATE:
		return -a;
	case EXPR_OR:
		return a || b;
	case EXPR_AND:
		return a && b;
	case EXPR_BIT_OR:
		return a | b;
	case EXPR_BIT_XOR:
		return a ^ b;
	case EXPR_BIT_AND:
		return a & b;
	case EXPR_EQUAL:
		return a == b;
	case EXPR_UNEQUAL:
		return a != b;
	case EXPR_LESS: /* with signs: as without, from the least on */
		return (a ^ sign) < (b ^ sign);
	case EXPR_LESS_EQUAL:
		return (a ^ sign) <= (b ^ sign);
	case EXPR_MORE:
		return (a ^ sign) > (b ^ sign);
	case EXPR_MORE_EQUAL:
		return (a ^ sign) >= (b ^ sign);
	case EXPR_LEFT:
		return b < bits ? a << b : 0;
	case EXPR_RIGHT:
		if (n->type.is_signed)
			return (uint64_t)((int64_t)a >> (b < bits ? b : 63));
		return b < bits ? a >> b : 0;
	case EXPR_PLUS:
		return a + b;
	case EXPR_MINUS:
		return a - b;
	case EXPR_TIMES:
		return a * b;
	case EXPR_DIVIDE:
	case EXPR_REST: {
		const bool rest = n->op == EXPR_REST;

		if (!b)
			return expr_fail(e).num;
		if (!n->type.is_signed)
			return rest ? a % b : a / b;
		if (b == UINT64_MAX) /* the least number has no opposite */
			return rest ? 0 : -a;
		return (uint64_t)(rest ? (int64_t)a % (int64_t)b
				       : (int64_t)a / (int64_t)b);
	}
	default:
		return expr_fail(e).num;
	}
}

/* The element of an array, or what a pointer leads to. */
static struct expr_value expr_index(struct expr *e, const struct expr_node *n)
{
	struct expr_value v = expr_evaluate(e, n->a);
	bool ok;
	uint64_t num =
		expr_element(&e->on, &v, v.elem, expr_number_of(e, n->b), &ok);

	if (!ok)
		return expr_fail(e);
	return expr_number(tp_narrow(num, (int)v.elem, v.is_signed));
}

static bool expr_is_true(const struct expr_value *v)
{
	return v->num || (v->kind != EXPR_NUM && (v->text || v->len));
}

struct expr_value expr_evaluate(struct expr *e, uint32_t node)
{
	struct expr_value v;
	uint64_t num;

	if (e->failed)
		return expr_number(0);
	const struct expr_node *n = &e->tree->node[node];

	switch (n->op) {
	case EXPR_NUMBER:
		return expr_number(n->num);
	case EXPR_STRING:
		return (struct expr_value){
			.kind = EXPR_TEXT,
			.text = n->text,
			.blob = (const unsigned char *)n->text,
			.len = (uint32_t)strlen(n->text),
			.elem = 1,
		};
	case EXPR_FIELD:
		return expr_field(e, n);
	case EXPR_UNKNOWN:
		e->unknown = true;
		return expr_number(0);
	case EXPR_CHOICE:
		v = expr_evaluate(e, n->a);
		if (!n->b)
			return expr_is_true(&v) ? v : expr_evaluate(e, n->c);
		return expr_evaluate(e, expr_is_true(&v) ? n->b : n->c);
	case EXPR_CAST: /* of a text: it stays one */
		v = expr_evaluate(e, n->a);
		v.num = tp_narrow(v.num, n->type.bytes, n->type.is_signed);
		return v;
	case EXPR_POINTER:
		v = expr_evaluate(e, n->a);
		v.elem = n->size;
		v.is_signed = n->type.is_signed;
		return v;
	case EXPR_ADDRESS:
		return expr_address(e, n);
	case EXPR_LENGTH:
		return expr_number(expr_evaluate(e, n->a).len);
	case EXPR_INDEX:
		return expr_index(e, n);
	case EXPR_FLAGS:
		return expr_flags(e, n);
	case EXPR_SYMBOLIC:
		return expr_symbolic(e, n);
	case EXPR_HEX:
		return expr_hex(e, n);
	case EXPR_ARRAY:
		return expr_array(e, n);
	case EXPR_BITMASK:
		return expr_bitmask(e, n);
	case EXPR_ADDRESSES:
		return expr_addresses(e, n);
	default:
		num = expr_apply(e, n, expr_number_of(e, n->a),
				 n->b ? expr_number_of(e, n->b) : 0);
		return expr_number(n->type.bytes < 8
					   ? tp_narrow(num, n->type.bytes,
						       n->type.is_signed)
					   : num);
	}
}
