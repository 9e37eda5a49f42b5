/* value.c - the text of any field: numbers, lists and structures as JSON,
 * so that SQL can take them apart again. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"

#define DEPTH_MAX 32
/* What fits into a payload is cut there anyway. */
#define TEXT_MAX ((size_t)1 << 17)

static void put(struct ctf_graph *g, const char *s, size_t n)
{
	if (g->text_len + n > TEXT_MAX)
		return;
	if (g->text_len + n >= g->text_cap)
		g->text =
			mem_grow(g->text, &g->text_cap, g->text_len + n + 1, 1);
	memcpy(g->text + g->text_len, s, n);
	g->text_len += n;
	g->text[g->text_len] = 0;
}

static void say(struct ctf_graph *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void say(struct ctf_graph *g, const char *fmt, ...)
{
	char buf[64];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf, sizeof(buf), fmt, ap);

	va_end(ap);
	if (n > 0)
		put(g, buf,
		    (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

static void quoted(struct ctf_graph *g, const char *s)
{
	put(g, "\"", 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			put(g, "\\", 1);
			put(g, s, 1);
		} else if (c < ' ') {
			say(g, "\\u%04x", c);
		} else {
			put(g, s, 1);
		}
	}
	put(g, "\"", 1);
}

/* Numbers are most of what lists have: printf took half of the time. */
static void decimal(struct ctf_graph *g, uint64_t v, bool minus)
{
	char buf[24];
	size_t at = sizeof(buf);

	do
		buf[--at] = (char)('0' + v % 10);
	while (v /= 10);
	if (minus)
		buf[--at] = '-';
	put(g, buf + at, sizeof(buf) - at);
}

static void signed_decimal(struct ctf_graph *g, int64_t v)
{
	decimal(g, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

static void hexadecimal(struct ctf_graph *g, uint64_t v, bool quote)
{
	char buf[24];
	size_t at = sizeof(buf);

	if (quote)
		buf[--at] = '"';
	do
		buf[--at] = "0123456789abcdef"[v % 16];
	while (v /= 16);
	buf[--at] = 'x';
	buf[--at] = '0';
	if (quote)
		buf[--at] = '"';
	put(g, buf + at, sizeof(buf) - at);
}

/* Text that gives the same number back: with `some` digits where they do, which
 * is what people write, else with `all`, which always do. */
static void real(struct ctf_graph *g, double v, int some, int all)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%.*g", some, v);
	double back = strtod(buf, NULL);

	if (some < 10 ? (float)back != (float)v : back != v)
		snprintf(buf, sizeof(buf), "%.*g", all, v);
	put(g, buf, strlen(buf));
}

static void one(struct ctf_graph *g, const bt_field *f, unsigned int depth,
		bool top);

/* SQL's JSON takes numbers beyond 2^63 for fractions: those are text. */
static void number(struct ctf_graph *g, const bt_field *f, bool top)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t v = bt_field_integer_unsigned_get_value(f);
	bool hex = bt_field_class_integer_get_preferred_display_base(fc) ==
		   BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
	bool quote = !top && v > INT64_MAX;

	if (hex) {
		hexadecimal(g, v, !top);
		return;
	}
	if (quote)
		put(g, "\"", 1);
	decimal(g, v, false);
	if (quote)
		put(g, "\"", 1);
}

static void list(struct ctf_graph *g, const bt_field *f, unsigned int depth)
{
	uint64_t n = bt_field_array_get_length(f);

	put(g, "[", 1);
	for (uint64_t i = 0; i < n && g->text_len < TEXT_MAX; i++) {
		if (i)
			put(g, ",", 1);
		one(g, bt_field_array_borrow_element_field_by_index_const(f, i),
		    depth, false);
	}
	put(g, "]", 1);
}

static void structure(struct ctf_graph *g, const bt_field *f,
		      unsigned int depth)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	put(g, "{", 1);
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(
				fc, i);

		if (i)
			put(g, ",", 1);
		quoted(g, bt_field_class_structure_member_get_name(m));
		put(g, ":", 1);
		one(g,
		    bt_field_structure_borrow_member_field_by_index_const(f, i),
		    depth, false);
	}
	put(g, "}", 1);
}

static void one(struct ctf_graph *g, const bt_field *f, unsigned int depth,
		bool top)
{
	bt_field_class_type t = f ? bt_field_get_class_type(f) : 0;

	if (!f || ++depth > DEPTH_MAX)
		put(g, "null", 4);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_BOOL))
		decimal(g, bt_field_bool_get_value(f) != 0, false);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		decimal(g, bt_field_bit_array_get_value_as_integer(f), false);
	else if (bt_field_class_type_is(t,
					BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		number(g, f, top);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		signed_decimal(g, bt_field_integer_signed_get_value(f));
	else if (bt_field_class_type_is(
			 t, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		real(g, (double)bt_field_real_single_precision_get_value(f), 6,
		     9);
	else if (bt_field_class_type_is(
			 t, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		real(g, bt_field_real_double_precision_get_value(f), 15, 17);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRING))
		quoted(g, ctf_string(f));
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRUCTURE))
		structure(g, f, depth);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_ARRAY))
		list(g, f, depth);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_OPTION))
		one(g, bt_field_option_borrow_field_const(f), depth, top);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_VARIANT))
		one(g, bt_field_variant_borrow_selected_option_field_const(f),
		    depth, top);
	else
		put(g, "null", 4);
}

void ctf_value_text(struct ctf_graph *g, const bt_field *f)
{
	bt_field_class_type t = bt_field_get_class_type(f);

	g->text_len = 0;
	/* nothing around the text of a text */
	if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_VARIANT)) {
		f = bt_field_variant_borrow_selected_option_field_const(f);
		t = f ? bt_field_get_class_type(f) : 0;
	}
	if (f && bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRING)) {
		const char *s = ctf_string(f);

		put(g, s, strlen(s));
		return;
	}
	one(g, f, 0, true);
}
