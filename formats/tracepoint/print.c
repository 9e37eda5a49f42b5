/* print.c - makes the text of a tracepoint's payload, as the kernel would print
 * it.
 *
 * libtraceevent does this too, but it crashes on malformed formats
 * (version 1.7.1: an out-of-bounds access in its parser within seconds of
 * fuzzing), and formats come from the capture. So they are interpreted here. If
 * something is not understood (%pI4, bitmasks, ...), the text shows the fields
 * instead. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "formats/tracepoint/text.h"
#include "stitch/source.h"

#define WIDTH_MAX 200

/* These do without vsnprintf(), which took half the time of a payload. */
static void tp_out_bytes(struct text_out *o, const char *s, size_t n)
{
	if (o->len + 1 >= o->size)
		return;
	if (n > o->size - o->len - 1)
		n = o->size - o->len - 1;
	memcpy(o->buf + o->len, s, n);
	o->len += n;
	o->buf[o->len] = '\0';
}

void tp_out_char(struct text_out *o, char c)
{
	tp_out_bytes(o, &c, 1);
}

static void tp_out_fill(struct text_out *o, char c, int n)
{
	while (n-- > 0)
		tp_out_char(o, c);
}

/* Writes the digits of v so that they end at end. Returns where they begin. */
static char *tp_digits(char *end, uint64_t v, unsigned int base, bool upper)
{
	const char *digit = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do {
		*--end = digit[v % base];
		v /= base;
	} while (v);
	return end;
}

static int tp_print_small_number(const char **s)
{
	int v = 0;

	for (; isdigit((unsigned char)**s); ++*s)
		if (v <= WIDTH_MAX)
			v = v * 10 + (**s - '0');
	return v > WIDTH_MAX ? WIDTH_MAX : v;
}

void tp_conversion(const char **s, struct tp_conversion *c, bool long32)
{
	*c = (struct tp_conversion){ .precision = -1, .bytes = 4 };
	for (;; ++*s) {
		if (**s == '-')
			c->left = true;
		else if (**s == '0')
			c->zero = true;
		else if (**s == '#')
			c->alt = true;
		else if (**s == '+')
			c->plus = true;
		else if (**s == ' ')
			c->blank = true;
		else
			break;
	}
	c->width = tp_print_small_number(s);
	if (**s == '.') {
		++*s;
		c->precision = tp_print_small_number(s);
	}
	for (; **s && strchr("hlzLqjt", **s); ++*s) {
		if (**s == 'h')
			c->bytes = c->bytes == 2 ? 1 : 2;
		else if (**s == 'l' && c->bytes != 8 && long32)
			c->bytes = (*s)[1] == 'l' ? 8 : 4;
		else
			c->bytes = 8;
	}
	c->type = **s;
	if (**s)
		++*s;
}

/* Prints sign, base and digits, padded. */
void tp_out_number(struct text_out *o, const struct tp_conversion *c,
		   uint64_t v)
{
	bool is_signed = c->type == 'd' || c->type == 'i';
	const char *sign = "";
	char buf[24];
	char *end = buf + sizeof(buf);

	v = tp_narrow(v, c->bytes, is_signed);
	if (is_signed && (int64_t)v < 0) {
		sign = "-";
		v = -v;
	} else if (is_signed && (c->plus || c->blank)) {
		sign = c->plus ? "+" : " ";
	} else if (c->alt && v && (c->type == 'x' || c->type == 'X')) {
		sign = c->type == 'x' ? "0x" : "0X";
	}
	unsigned int base = c->type == 'x' || c->type == 'X' ? 16
			    : c->type == 'o'		     ? 8
							     : 10;
	const char *digits = tp_digits(end, v, base, c->type == 'X');
	int n = (int)(end - digits);
	int zeros = c->precision > n ? c->precision - n : 0;

	n += (int)strlen(sign) + zeros;
	int fill = c->width > n ? c->width - n : 0;

	if (c->zero && !c->left && c->precision < 0) {
		zeros += fill;
		fill = 0;
	}
	tp_out_fill(o, ' ', c->left ? 0 : fill);
	tp_out_bytes(o, sign, strlen(sign));
	tp_out_fill(o, '0', zeros);
	tp_out_bytes(o, digits, (size_t)(end - digits));
	tp_out_fill(o, ' ', c->left ? fill : 0);
}

void tp_out_text(struct text_out *o, const struct tp_conversion *c,
		 const char *s)
{
	size_t n = c->precision >= 0 ? strnlen(s, (size_t)c->precision)
				     : strlen(s);
	int fill = (size_t)c->width > n ? c->width - (int)n : 0;

	tp_out_fill(o, ' ', c->left ? 0 : fill);
	tp_out_bytes(o, s, n);
	tp_out_fill(o, ' ', c->left ? fill : 0);
}

/* As trace-cmd 3.4 does it (libtraceevent 1.8, print_function()). */
void tp_out_pointer(struct text_out *o, const struct tp *tp,
		    const struct tp_conversion *c, uint64_t v)
{
	struct tp_symbol sym;

	if (!c->letter || !strchr("SsFf", c->letter) || !tp->symbol ||
	    !tp->symbol(tp->symbols_of, v, &sym)) {
		text_out_add(o, "0x%" PRIx64, v);
		return;
	}
	tp_out_bytes(o, sym.name, sym.len);
	if (c->letter == 'S' || c->letter == 'F')
		text_out_add(o, "+0x%" PRIx64, v - sym.start);
}

/* Prints one conversion with the next argument. Returns false if it is not
 * understood. */
static bool tp_print_conversion(struct text_out *o, const struct tp *tp,
				const struct tp_conversion *c,
				struct expr *args)
{
	if (c->type == '%') {
		tp_out_char(o, '%');
		return true;
	}
	if (!strchr("diuxXocsp", c->type) || !c->type || !expr_is(args, ','))
		return false;
	struct expr_value v = expr_take(args);

	if (args->failed)
		return false;
	switch (c->type) {
	case 's':
		if (v.kind == EXPR_BLOB)
			return false;
		if (v.kind == EXPR_TEXT)
			tp_out_text(o, c, v.text ? v.text : "");
		else
			text_out_add(o, "0x%" PRIx64, v.num);
		return true;
	case 'c':
		if (v.num >= ' ' && v.num < 0x7f)
			tp_out_char(o, (char)v.num);
		return true;
	case 'p':
		tp_out_pointer(o, tp, c, v.num);
		return v.kind == EXPR_NUM;
	default:
		tp_out_number(o, c, v.num);
		return v.kind == EXPR_NUM;
	}
}

static bool tp_print_format(struct tp *tp, struct expr *args,
			    struct text_out *o)
{
	const char *s = expr_string(args);
	struct tp_conversion c;

	while (s && *s) {
		if (*s != '%') {
			tp_out_char(o, *s++);
			continue;
		}
		s++;
		tp_conversion(&s, &c, tp->long32);
		/* %pS and the like name a symbol; other letters print what the
		 * pointer leads to */
		if (c.type == 'p' && isalpha((unsigned char)*s)) {
			if (!strchr("SsFfBxK", *s))
				return false;
			c.letter = *s++;
		}
		if (!tp_print_conversion(o, tp, &c, args))
			return false;
	}
	return s != NULL;
}

static void tp_print_field(struct text_out *o, const struct field_def *def,
			   const struct field *f)
{
	text_out_add(o, "%s%s=", o->len ? " " : "", def->name);
	if (f->text)
		text_out_add(o, "%s", f->text);
	else if (f->blob)
		for (uint32_t i = 0; i < f->len; i++)
			text_out_add(o, "%02x",
				     ((const unsigned char *)f->blob)[i]);
	else if (def->is_signed)
		text_out_add(o, "%" PRId64, f->num);
	else
		text_out_add(o, "%" PRIu64, (uint64_t)f->num);
}

/* Returns the print fmt: without what a reader adds to the fields, the one that
 * was recorded. NULL: there is none. */
static const char *tp_print_of(const struct tp_format *fmt,
			       const struct field *field)
{
	const char *text = strstr(fmt->text, "print fmt: ");
	const char *recorded = NULL;

	for (size_t i = fmt->n;
	     i-- && !recorded && fmt->field[i].off >= TP_ADDED_OFF;)
		if (text && !field[i].present)
			recorded = strstr(text, "\n" TP_RECORDED_PRINT);
	if (recorded)
		return recorded + sizeof("\n" TP_RECORDED_PRINT) - 1;
	return text ? text + 11 : NULL;
}

void tp_print_fields(struct tp *tp, const struct tp_format *fmt,
		     const struct field *field, char *buf, size_t size)
{
	struct text_out o = { .buf = buf, .size = size };
	const char *text = tp_print_of(fmt, field);

	if (!tp->expr)
		tp->expr = mem_new(1, sizeof(*tp->expr));
	struct expr *args = tp->expr;

	buf[0] = 0;
	args->s = text ? text : "";
	args->fmt = fmt;
	args->field = field;
	args->swap = tp->swap;
	args->long32 = tp->long32;
	args->depth = 0;
	args->failed = false;
	args->n_text = 0;
	if (!tp_print_format(tp, args, &o)) {
		buf[0] = 0;
		o.len = 0;
		for (size_t i = 0; i < fmt->n; i++)
			if (field[i].present &&
			    strncmp(fmt->def[i].name, "common_", 7))
				tp_print_field(&o, &fmt->def[i], &field[i]);
	}
	/* Text written to trace_marker has its own line feed. */
	while (o.len && buf[o.len - 1] == '\n')
		buf[--o.len] = 0;
}

void tp_print(struct tp *tp, const struct tp_format *fmt, const void *raw,
	      size_t len, char *buf, size_t size)
{
	tp->field =
		mem_grow(tp->field, &tp->cap_field, fmt->n, sizeof(*tp->field));
	tp_fields_take(tp, fmt, raw, len, tp->field);
	tp_print_fields(tp, fmt, tp->field, buf, size);
}
