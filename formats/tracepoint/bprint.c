/* bprint.c - makes the text of a trace_printk() from its format and packed
 * arguments (lib/vsprintf.c, vbin_printf): each argument has its own alignment,
 * 8 bytes that of 4, with strings between them. */
#include <ctype.h>
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/text.h"

static bool tp_bprint_take_number(struct bytes *args, int size, uint64_t *out)
{
	uint64_t align = size == 8 ? 4 : (uint64_t)size;
	uint64_t at = (uint64_t)(args->pos - args->base);
	const struct tp_field as = { .kind = FMT_NUM, .size = (uint32_t)size };
	struct bytes number;
	int64_t v;

	if (bytes_skip(args, (align - at % align) % align, NULL) ||
	    bytes_take(args, (uint32_t)size, &number, NULL) ||
	    !tp_field_number(&number, &as, &v))
		return false;
	*out = (uint64_t)v;
	return true;
}

/* The width of "%*d" is an argument of its own. */
static bool tp_bprint_take_given(struct bytes *args, int *out)
{
	uint64_t v;

	if (!tp_bprint_take_number(args, 4, &v))
		return false;
	*out = v > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : (int)v;
	return true;
}

static bool tp_bprint_one(const struct tp *tp, struct bytes *args,
			  const char **s, struct text_out *o)
{
	struct tp_conversion c;
	const char *text;
	uint64_t v = 0;
	bool stored;

	tp_conversion(s, &c, tp->long32);
	if (c.width_given && !tp_bprint_take_given(args, &c.width))
		return false;
	if (c.precision_given && !tp_bprint_take_given(args, &c.precision))
		return false;
	switch (c.type) {
	case '%':
		tp_out_char(o, '%');
		return true;
	case 'p':
		/* for %pS and the like the kernel stores the pointer, for
		 * other letters the text */
		c.letter = **s;
		stored = !isalnum((unsigned char)c.letter) ||
			 strchr("SsFfBxKe", c.letter);
		while (isalnum((unsigned char)**s))
			++*s;
		if (stored ? !tp_bprint_take_number(args, tp->long32 ? 4 : 8,
						    &v)
			   : bytes_str(args, &text, NULL))
			return false;
		if (stored)
			tp_out_pointer(o, tp, &c, v);
		else
			tp_out_text(o, &c, text);
		return true;
	case 's':
		if (bytes_str(args, &text, NULL))
			return false;
		tp_out_text(o, &c, text);
		return true;
	case 'c':
		if (!tp_bprint_take_number(args, 1, &v))
			return false;
		if (v >= ' ' && v < 0x7f)
			tp_out_char(o, (char)v);
		return true;
	default:
		if (!c.type || !strchr("diuxXo", c.type) ||
		    !tp_bprint_take_number(args, c.bytes, &v))
			return false;
		tp_out_number(o, &c, v);
		return true;
	}
}

void tp_bprint(const struct tp *tp, const char *format,
	       const struct bytes *args, char *buf, size_t size)
{
	struct text_out o = { .buf = buf, .size = size };
	struct bytes b = *args;
	const char *s = format;

	b.base = b.pos;
	buf[0] = '\0';
	while (*s) {
		const char *from = s;

		if (*s != '%') {
			tp_out_char(&o, *s++);
			continue;
		}
		s++;
		if (!tp_bprint_one(tp, &b, &s, &o)) {
			/* Not understood: show the rest as written. */
			text_out_add(&o, "%s", from);
			break;
		}
	}
	while (o.len && buf[o.len - 1] == '\n')
		buf[--o.len] = '\0';
}
