/* expr.c - evaluates the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/text.h"
#include "stitch/base/bytes.h"
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
	struct expr_value v = { .elem = n->size };

	if (!f->present)
		return expr_fail(e);
	v.kind = f->text ? EXPR_TEXT : f->blob ? EXPR_BLOB : EXPR_NUM;
	v.num = (uint64_t)f->num;
	v.text = f->text;
	v.blob = f->text ? (const void *)f->text : f->blob;
	v.len = f->len;
	return v;
}

/* Returns element i of an array; sets *ok to false if there is none. */
static uint64_t expr_element(const struct expr *e, const struct expr_value *v,
			     uint32_t elem, uint64_t i, bool *ok)
{
	struct bytes b;
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;

	*ok = v->blob && elem && i < v->len / elem;
	if (!*ok)
		return 0;
	bytes_init(&b, v->blob + i * elem, elem, "", 0, e->swap);
	switch (elem) {
	case 1:
		bytes_u8(&b, &u8, NULL);
		return u8;
	case 2:
		bytes_u16(&b, &u16, NULL);
		return u16;
	case 4:
		bytes_u32(&b, &u32, NULL);
		return u32;
	case 8:
		bytes_u64(&b, &u64, NULL);
		return u64;
	default:
		*ok = false;
		return 0;
	}
}

/* Most are numbers of the format. */
static uint64_t expr_number_of(struct expr *e, uint32_t node)
{
	const struct expr_node *n = &e->tree->node[node];

	return n->op == EXPR_NUMBER ? n->num : expr_evaluate(e, node).num;
}

/* Prints the names of all bits that are set. */
static struct expr_value expr_flags(struct expr *e, const struct expr_node *of)
{
	uint64_t v = expr_number_of(e, of->a);
	const struct expr_node *pair;
	char names[1024] = "";
	size_t len = 0;
	bool done = false;

	for (uint32_t i = of->b; i && !done; i = pair->b) {
		pair = &e->tree->node[i];
		uint64_t mask = expr_number_of(e, pair->a);

		if (!pair->text || (mask ? (v & mask) != mask : v || len))
			continue;
		int n = snprintf(names + len, sizeof(names) - len, "%s%s",
				 len ? of->text : "", pair->text);

		len += (size_t)n < sizeof(names) - len ? (size_t)n : 0;
		v &= ~mask;
		done = !mask;
	}
	const char *start = expr_begin_text(e);

	expr_append(e, "%s", names);
	if (v)
		expr_append(e, "%s0x%" PRIx64, len ? of->text : "", v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Returns the name of the equal value. */
static struct expr_value expr_symbolic(struct expr *e,
				       const struct expr_node *of)
{
	uint64_t v = expr_number_of(e, of->a);
	const struct expr_node *pair;

	for (uint32_t i = of->b; i; i = pair->b) {
		pair = &e->tree->node[i];
		if (pair->text && expr_number_of(e, pair->a) == v)
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
	uint64_t n = expr_number_of(e, of->b);
	uint64_t elem = expr_number_of(e, of->c);
	const char *start = expr_begin_text(e);
	bool ok = elem <= 8;

	expr_append(e, "{");
	for (uint64_t i = 0; i < n && ok; i++) {
		uint64_t x = expr_element(e, &v, (uint32_t)elem, i, &ok);

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
		uint64_t addr = expr_element(e, &v, e->long32 ? 4 : 8, i, &ok);

		ok &= addr != 0;
		if (ok && (i || addr >= v.len))
			expr_append(e, " => %" PRIx64, addr);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

static uint64_t expr_apply(struct expr *e, const struct expr_node *n,
			   uint64_t a, uint64_t b)
{
	const int64_t x = (int64_t)a;
	const int64_t y = (int64_t)b;

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
	case EXPR_LESS:
		return x < y;
	case EXPR_LESS_EQUAL:
		return x <= y;
	case EXPR_MORE:
		return x > y;
	case EXPR_MORE_EQUAL:
		return x >= y;
	case EXPR_LEFT:
		return b < 64 ? a << b : 0;
	case EXPR_RIGHT:
		return b < 64 ? a >> b : 0;
	case EXPR_PLUS:
		return a + b;
	case EXPR_MINUS:
		return a - b;
	case EXPR_TIMES:
		return a * b;
	case EXPR_DIVIDE:
	case EXPR_REST:
		if (!b)
			return expr_fail(e).num;
		return n->op == EXPR_DIVIDE ? a / b : a % b;
	default:
		return expr_fail(e).num;
	}
}

struct expr_value expr_evaluate(struct expr *e, uint32_t node)
{
	struct expr_value v;
	bool ok;

	if (e->failed)
		return expr_number(0);
	const struct expr_node *n = &e->tree->node[node];

	switch (n->op) {
	case EXPR_NUMBER:
		return expr_number(n->num);
	case EXPR_STRING:
		return (struct expr_value){ .kind = EXPR_TEXT,
					    .text = n->text };
	case EXPR_FIELD:
		return expr_field(e, n);
	case EXPR_CHOICE:
		v = expr_evaluate(e, n->a);
		return expr_evaluate(e, v.num || (v.kind != EXPR_NUM && v.len)
						? n->b
						: n->c);
	case EXPR_CAST: /* of a text: it stays one */
		v = expr_evaluate(e, n->a);
		v.num = tp_narrow(v.num, n->size, n->num);
		return v;
	case EXPR_LENGTH:
		return expr_number(expr_evaluate(e, n->a).len);
	case EXPR_INDEX:
		v = expr_evaluate(e, n->a);
		v.num = expr_element(e, &v, v.elem, expr_number_of(e, n->b),
				     &ok);
		return ok ? expr_number(v.num) : expr_fail(e);
	case EXPR_FLAGS:
		return expr_flags(e, n);
	case EXPR_SYMBOLIC:
		return expr_symbolic(e, n);
	case EXPR_HEX:
		return expr_hex(e, n);
	case EXPR_ARRAY:
		return expr_array(e, n);
	case EXPR_ADDRESSES:
		return expr_addresses(e, n);
	default:
		return expr_number(
			expr_apply(e, n, expr_number_of(e, n->a),
				   n->b ? expr_number_of(e, n->b) : 0));
	}
}
