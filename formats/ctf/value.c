/* value.c - converts any field to text: numbers, lists and structures to JSON,
 * which SQL can parse. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"

#define DEPTH_MAX 32
/* A payload holds less, and longer text is cut there. */
#define TEXT_MAX ((size_t)1 << 17)

static void ctf_value_put(struct ctf_graph *g, const char *s, size_t n)
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

static void ctf_value_print(struct ctf_graph *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void ctf_value_print(struct ctf_graph *g, const char *fmt, ...)
{
	char buf[64];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf, sizeof(buf), fmt, ap);

	va_end(ap);
	if (n > 0)
		ctf_value_put(g, buf,
			      (size_t)n < sizeof(buf) ? (size_t)n
						      : sizeof(buf) - 1);
}

static void ctf_value_quoted(struct ctf_graph *g, const char *s)
{
	ctf_value_put(g, "\"", 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			ctf_value_put(g, "\\", 1);
			ctf_value_put(g, s, 1);
		} else if (c < ' ') {
			ctf_value_print(g, "\\u%04x", c);
		} else {
			ctf_value_put(g, s, 1);
		}
	}
	ctf_value_put(g, "\"", 1);
}

/* Lists have mostly numbers, and formatted output took half of the time. */
static void ctf_value_decimal(struct ctf_graph *g, uint64_t v, bool minus)
{
	char buf[24];
	size_t at = sizeof(buf);

	do
		buf[--at] = (char)('0' + v % 10);
	while (v /= 10);
	if (minus)
		buf[--at] = '-';
	ctf_value_put(g, buf + at, sizeof(buf) - at);
}

static void ctf_value_signed_decimal(struct ctf_graph *g, int64_t v)
{
	ctf_value_decimal(g, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

static void ctf_value_hexadecimal(struct ctf_graph *g, uint64_t v, bool quote)
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
	ctf_value_put(g, buf + at, sizeof(buf) - at);
}

/* Prints `some` digits, as people do, if they parse to the same number, else
 * `all` digits, which always do. */
static void ctf_value_real(struct ctf_graph *g, double v, int some, int all)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%.*g", some, v);
	double back = strtod(buf, NULL);

	if (some < 10 ? (float)back != (float)v : back != v)
		snprintf(buf, sizeof(buf), "%.*g", all, v);
	ctf_value_put(g, buf, strlen(buf));
}

static void ctf_value_field(struct ctf_graph *g, const bt_field *f,
			    unsigned int depth, bool top);

/* SQLite's JSON reads integers above 2^63 as floating-point: write text. */
static void ctf_value_number(struct ctf_graph *g, const bt_field *f, bool top)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t v = bt_field_integer_unsigned_get_value(f);
	bool hex = bt_field_class_integer_get_preferred_display_base(fc) ==
		   BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
	bool quote = !top && v > INT64_MAX;

	if (hex) {
		ctf_value_hexadecimal(g, v, !top);
		return;
	}
	if (quote)
		ctf_value_put(g, "\"", 1);
	ctf_value_decimal(g, v, false);
	if (quote)
		ctf_value_put(g, "\"", 1);
}

static void ctf_value_list(struct ctf_graph *g, const bt_field *f,
			   unsigned int depth)
{
	uint64_t n = bt_field_array_get_length(f);

	ctf_value_put(g, "[", 1);
	for (uint64_t i = 0; i < n && g->text_len < TEXT_MAX; i++) {
		if (i)
			ctf_value_put(g, ",", 1);
		ctf_value_field(
			g,
			bt_field_array_borrow_element_field_by_index_const(f,
									   i),
			depth, false);
	}
	ctf_value_put(g, "]", 1);
}

static void ctf_value_structure(struct ctf_graph *g, const bt_field *f,
				unsigned int depth)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	ctf_value_put(g, "{", 1);
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(
				fc, i);

		if (i)
			ctf_value_put(g, ",", 1);
		ctf_value_quoted(g,
				 bt_field_class_structure_member_get_name(m));
		ctf_value_put(g, ":", 1);
		ctf_value_field(
			g,
			bt_field_structure_borrow_member_field_by_index_const(
				f, i),
			depth, false);
	}
	ctf_value_put(g, "}", 1);
}

static void ctf_value_field(struct ctf_graph *g, const bt_field *f,
			    unsigned int depth, bool top)
{
	bt_field_class_type t = f ? bt_field_get_class_type(f) : 0;

	if (!f || ++depth > DEPTH_MAX)
		ctf_value_put(g, "null", 4);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_BOOL))
		ctf_value_decimal(g, bt_field_bool_get_value(f) != 0, false);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		ctf_value_decimal(g, bt_field_bit_array_get_value_as_integer(f),
				  false);
	else if (bt_field_class_type_is(t,
					BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		ctf_value_number(g, f, top);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		ctf_value_signed_decimal(g,
					 bt_field_integer_signed_get_value(f));
	else if (bt_field_class_type_is(
			 t, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		ctf_value_real(
			g, (double)bt_field_real_single_precision_get_value(f),
			6, 9);
	else if (bt_field_class_type_is(
			 t, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		ctf_value_real(g, bt_field_real_double_precision_get_value(f),
			       15, 17);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRING))
		ctf_value_quoted(g, ctf_field_string(f));
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRUCTURE))
		ctf_value_structure(g, f, depth);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_ARRAY))
		ctf_value_list(g, f, depth);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_OPTION))
		ctf_value_field(g, bt_field_option_borrow_field_const(f), depth,
				top);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_VARIANT))
		ctf_value_field(
			g,
			bt_field_variant_borrow_selected_option_field_const(f),
			depth, top);
	else
		ctf_value_put(g, "null", 4);
}

void ctf_value_text(struct ctf_graph *g, const bt_field *f)
{
	bt_field_class_type t = bt_field_get_class_type(f);

	g->text_len = 0;
	/* a string stands without quotes */
	if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_VARIANT)) {
		f = bt_field_variant_borrow_selected_option_field_const(f);
		t = f ? bt_field_get_class_type(f) : 0;
	}
	if (f && bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_STRING)) {
		const char *s = ctf_field_string(f);

		ctf_value_put(g, s, strlen(s));
		return;
	}
	ctf_value_field(g, f, 0, true);
}
