/* make.c - makes a tracepoint's format and payload as perf.data files store
 * them: with the common fields first, which events of other tracers do not
 * have. */
#include <inttypes.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/mem.h"
#include "stitch/base/words.h"
#include "stitch/source.h"

/* the bytes of common_type, common_flags, common_preempt_count and
 * common_pid */
#define COMMON_BYTES 8u
#define LINE_MAX_BYTES 240u
/* A record is smaller than 64 KiB, which also limits the offset of a dynamic
 * field. */
#define PAYLOAD_MAX 60000u

static bool tp_make_has_common(const struct tp_format *fmt)
{
	return strstr(fmt->text, "common_type;") != NULL;
}

static bool tp_make_is_common(const struct tp_format *fmt, size_t i)
{
	return !strncmp(fmt->def[i].name, "common_", 7);
}

static bool tp_make_is_added(const struct tp_format *fmt, size_t i)
{
	return fmt->field[i].off >= TP_ADDED_OFF;
}

static void tp_make_field_line(const struct tp_field *f, const char *name,
			       struct text_out *o)
{
	const char *type = f->kind == FMT_TEXT || f->kind == FMT_DYN_TEXT
				   ? "char"
				   : "unsigned char";

	if (f->kind == FMT_NUM)
		text_out_add(o, "\tfield:%c%u %s;", f->is_signed ? 's' : 'u',
			     f->size * 8, name);
	else if (tp_field_is_dynamic(f))
		text_out_add(o, "\tfield:__data_loc %s[] %s;", type, name);
	else
		text_out_add(o, "\tfield:%s %s[%u];", type, name, f->size);
	text_out_add(o, "\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		     f->off + COMMON_BYTES, f->size, f->is_signed);
}

/* Returns whether the print format shows the field; it does not show a stack,
 * whose bytes are not readable. */
static bool tp_make_is_printed(const struct tp_format *fmt, size_t i)
{
	return !fmt->def[i].is_stack && !tp_make_is_common(fmt, i) &&
	       !tp_make_is_added(fmt, i);
}

static const char *tp_make_conversion(const struct tp_field *f)
{
	if (f->kind != FMT_NUM)
		return "%s";
	switch (f->size) {
	case 1:
		return f->is_signed ? "%hhd" : "%hhu";
	case 2:
		return f->is_signed ? "%hd" : "%hu";
	case 4:
		return f->is_signed ? "%d" : "%u";
	default:
		return f->is_signed ? "%lld" : "%llu";
	}
}

/* Prints "a=%d b=%s", REC->a, __get_str(b); a single field "text" is printed
 * without its name. */
static void tp_make_print_line(const struct tp_format *fmt, struct text_out *o)
{
	const char *gap = "";
	size_t n = 0;

	for (size_t i = 0; i < fmt->n; i++)
		n += tp_make_is_printed(fmt, i);
	bool alone = n == 1 && !strcmp(fmt->def[0].name, "text");

	text_out_add(o, "\nprint fmt: \"");
	for (size_t i = 0; i < fmt->n; i++) {
		if (!tp_make_is_printed(fmt, i))
			continue;
		text_out_add(o, "%s%s%s%s", gap, alone ? "" : fmt->def[i].name,
			     alone ? "" : "=",
			     tp_make_conversion(&fmt->field[i]));
		gap = " ";
	}
	text_out_add(o, "\"");
	for (size_t i = 0; i < fmt->n; i++) {
		const struct tp_field *f = &fmt->field[i];
		const char *name = fmt->def[i].name;

		if (!tp_make_is_printed(fmt, i))
			continue;
		if (f->kind == FMT_DYN_TEXT)
			text_out_add(o, ", __get_str(%s)", name);
		else if (f->kind == FMT_DYN_BLOB)
			text_out_add(
				o,
				", __print_hex_str(__get_dynamic_array(%s),"
				" __get_dynamic_array_len(%s))",
				name, name);
		else if (f->kind == FMT_BLOB)
			text_out_add(o, ", __print_hex_str(REC->%s, %u)", name,
				     f->size);
		else
			text_out_add(o, ", REC->%s", name);
	}
	text_out_add(o, "\n");
}

/* Returns whether perf can print the format: it prints nothing at all for one
 * with other functions than these. */
static bool tp_make_perf_prints(const char *text)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

	for (const char *p = strstr(text, "__"); p; p = strstr(p, "__")) {
		size_t len = strspn(p, word);

		if (p[len] == '(' &&
		    words_find("__get_str __get_dynamic_array __get_bitmask "
			       "__get_dynamic_array_len __get_rel_str "
			       "__get_rel_dynamic_array __get_rel_bitmask "
			       "__get_rel_dynamic_array_len __print_flags "
			       "__print_symbolic __print_hex __print_hex_str "
			       "__print_array",
			       p, len) < 0)
			return false;
		p += len;
	}
	return true;
}

/* Returns the line of the first added field in the text, or `none` if there is
 * none. */
static const char *tp_make_added_line(const struct tp_format *fmt,
				      const char *text, const char *none)
{
	char line[LINE_MAX_BYTES];

	for (size_t i = 0; i < fmt->n; i++) {
		if (!tp_make_is_added(fmt, i))
			continue;
		snprintf(line, sizeof(line), "\tfield:__data_loc char[] %s;",
			 fmt->def[i].name);
		const char *at = strstr(text, line);

		return at && at < none ? at : none;
	}
	return none;
}

char *tp_make_format(const struct tp_format *fmt, const char *name, uint32_t id)
{
	struct tp_format as = *fmt;
	struct text_out o = { .size = fmt->len + strlen(name) + 1024 };

	for (size_t i = 0; i < fmt->n; i++)
		o.size += LINE_MAX_BYTES + 4 * strlen(fmt->def[i].name);
	o.buf = mem_new(o.size, 1);
	as.name = name;
	if (tp_make_has_common(fmt)) {
		/* Copy the format with another id and, if perf cannot print it,
		 * with another print format. */
		static const char recorded[] = "\n" TP_RECORDED_PRINT;
		const char *at = strstr(fmt->text, "\nID: ");
		const char *behind =
			at ? at + 5 + strspn(at + 5, "0123456789") : NULL;
		const char *print = at ? strstr(behind, "\nprint fmt: ") : NULL;
		const char *was = print ? strstr(print, recorded) : NULL;
		const char *end = print;

		if (at) {
			if (was) {
				end = tp_make_added_line(fmt, behind, print);
				print = was + sizeof(recorded) - 1;
			} else if (!print || tp_make_perf_prints(print)) {
				const char *strings =
					strstr(behind, "\n" TP_STRINGS);

				end = strings ? strings + 1
					      : behind + strlen(behind);
			}
			text_out_add(&o, "%.*s\nID: %" PRIu32 "%.*s",
				     (int)(at - fmt->text), fmt->text, id,
				     (int)(end - behind), behind);
			if (was && tp_make_perf_prints(print))
				text_out_add(&o, "\nprint fmt: %s", print);
			else if (end == print)
				tp_make_print_line(fmt, &o);
		}
	} else {
		static const char common[] =
			"\tfield:unsigned short common_type;"
			"\toffset:0;\tsize:2;\tsigned:0;\n"
			"\tfield:unsigned char common_flags;"
			"\toffset:2;\tsize:1;\tsigned:0;\n"
			"\tfield:unsigned char common_preempt_count;"
			"\toffset:3;\tsize:1;\tsigned:0;\n"
			"\tfield:int common_pid;"
			"\toffset:4;\tsize:4;\tsigned:1;\n\n";

		text_out_add(&o, "name: %s\nID: %" PRIu32 "\nformat:\n%s",
			     as.name ? as.name : "event", id, common);
		for (size_t i = 0; i < as.n; i++)
			if (!tp_make_is_common(&as, i))
				tp_make_field_line(&as.field[i], as.def[i].name,
						   &o);
		tp_make_print_line(&as, &o);
	}
	return o.buf;
}

static void tp_make_number(const struct tp *tp, unsigned char *at, size_t size,
			   uint64_t v)
{
	bool big = tp->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	for (size_t i = 0; i < size; i++)
		at[big ? size - 1 - i : i] = (unsigned char)(v >> (8 * i));
}

/* Returns n bytes of the payload that is made, at off, or NULL if that exceeds
 * a payload. */
static unsigned char *tp_make_room(struct tp *tp, size_t off, size_t n)
{
	if (off > PAYLOAD_MAX || n > PAYLOAD_MAX - off)
		return NULL;
	mem_reach(tp->made, tp->n_made, tp->cap_made, off + n);
	return tp->made + off;
}

const void *tp_make_payload(struct tp *tp, const struct tp_format *fmt,
			    const struct field *field, uint32_t id,
			    uint32_t tid, size_t *len)
{
	bool common = tp_make_has_common(fmt);
	size_t shift = common ? 0 : COMMON_BYTES;

	tp->n_made = 0;
	tp_make_room(tp, 0, COMMON_BYTES);
	/* a format with common fields has common_pid as a field */
	if (!common)
		tp_make_number(tp, tp->made + 4, 4, tid);
	for (size_t i = 0; i < fmt->n; i++) {
		const struct tp_field *f = &fmt->field[i];
		const struct field *v = &field[i];

		if (!common && tp_make_is_common(fmt, i)) {
			tp_make_number(tp, tp->made + 2, 1, (uint64_t)v->num);
			continue;
		}
		if (tp_field_is_dynamic(f)) {
			tp_make_room(tp, f->off + shift, 4);
			continue;
		}
		const void *from = v->text ? (const void *)v->text : v->blob;
		const size_t size = f->size ? f->size : v->len;
		unsigned char *to = tp_make_room(tp, f->off + shift, size);

		if (to && f->kind == FMT_NUM)
			tp_make_number(tp, to, size, (uint64_t)v->num);
		else if (to && from)
			memcpy(to, from, v->len < size ? v->len : size);
	}
	/* Append the bytes of dynamic fields, and store their places in the
	 * fields. */
	for (size_t i = 0; i < fmt->n; i++) {
		const struct tp_field *f = &fmt->field[i];
		const struct field *v = &field[i];
		const size_t off = f->off + shift;

		if (!tp_field_is_dynamic(f) || !v->present ||
		    off + 4 > tp->n_made)
			continue;
		/* the text of a stack is not recorded, only its bytes */
		const bool text = f->kind == FMT_DYN_TEXT;
		const void *from = text ? (const void *)v->text : v->blob;
		const size_t n = (size_t)v->len + text;
		const size_t at = tp->n_made;
		unsigned char *to = from ? tp_make_room(tp, at, n) : NULL;

		if (!to)
			continue;
		memcpy(to, from, v->len);
		tp_make_number(tp, tp->made + off, 4,
			       (common && f->relative ? at - off - 4 : at) |
				       (uint64_t)n << 16);
	}
	tp_make_number(tp, tp->made, 2, id);
	*len = tp->n_made;
	return tp->made;
}

const void *tp_copy_payload(struct tp *tp, const struct tp_format *fmt,
			    const void *raw, size_t raw_len, uint32_t id,
			    uint32_t tid, size_t *len)
{
	if (!tp_make_has_common(fmt)) {
		mem_grow(tp->field, tp->cap_field, fmt->n + 1);
		tp_fields_take(tp, fmt, raw, raw_len, tp->field);
		return tp_make_payload(tp, fmt, tp->field, id, tid, len);
	}
	tp->n_made = 0;
	unsigned char *to = tp_make_room(tp, 0, raw_len < 2 ? 2 : raw_len);
	if (!to)
		to = tp_make_room(tp, 0, raw_len = PAYLOAD_MAX);
	if (raw_len)
		memcpy(to, raw, raw_len);
	tp_make_number(tp, to, 2, id);
	*len = tp->n_made;
	return to;
}
