/* fields.c - reads the fields of a tracepoint's payload.
 *
 * Offsets and sizes come from the capture, so every access is checked. */
#include "formats/tracepoint/fields.h"

#include <string.h>

#include "stitch/source.h"

int tp_field_index(const struct tp_format *fmt, const char *name)
{
	for (size_t i = 0; name && i < fmt->n; i++)
		if (!strcmp(fmt->def[i].name, name))
			return (int)i;
	return -1;
}

bool tp_field_small(const struct bytes *raw, const struct tp_field *f,
		    int64_t *out)
{
	uint16_t u16;

	if (f->size == 1) {
		*out = f->is_signed ? (int8_t)raw->pos[f->off]
				    : (int64_t)raw->pos[f->off];
		return true;
	}
	if (bytes_peek_u16(raw, f->off, &u16))
		return false;
	*out = f->is_signed ? (int16_t)u16 : (int64_t)u16;
	return true;
}

/* Finds the bytes of a dynamic field. Returns false if they are not inside the
 * entry. */
static bool tp_field_find_dynamic(const struct bytes *raw,
				  const struct tp_field *f, struct bytes *out)
{
	struct bytes b = *raw;
	uint32_t loc;

	if (bytes_peek_u32(raw, f->off, &loc))
		return false;
	uint64_t at = loc & 0xffff;
	if (f->relative)
		at += (uint64_t)f->off + 4;
	return !bytes_skip(&b, at, NULL) &&
	       !bytes_take(&b, loc >> 16, out, NULL);
}

/* Reads a field that is not a number; *out is 0. */
static void tp_field_take_data(struct tp *tp, const struct bytes *raw,
			       const struct tp_field *f, struct field *out)
{
	struct bytes b = *raw;
	struct bytes data;

	if (tp_field_is_dynamic(f)
		    ? !tp_field_find_dynamic(raw, f, &data)
		    : bytes_skip(&b, f->off, NULL) ||
			      bytes_take(&b, f->size ? f->size : bytes_left(&b),
					 &data, NULL))
		return;
	const size_t n = bytes_left(&data);

	/* kernel/trace/trace_probe.c, PRINT_TYPE_FUNC_NAME(string): an empty
	 * string has its final 0 */
	if (!n && f->of_probe) {
		out->text = TP_FAULT;
		return;
	}
	out->present = true;
	out->len = (uint32_t)n;
	if (f->kind != FMT_TEXT && f->kind != FMT_DYN_TEXT) {
		out->blob = data.pos;
		return;
	}
	/* text ends at its first 0; text without one is copied */
	const unsigned char *nul = memchr(data.pos, 0, n);

	if (nul) {
		out->text = (const char *)data.pos;
		out->len = (uint32_t)(nul - data.pos);
		return;
	}
	out->text = arena_strndup(&tp->scratch, (const char *)data.pos, n);
}

void tp_field_take(struct tp *tp, const struct bytes *raw,
		   const struct tp_field *f, struct field *out)
{
	*out = (struct field){ 0 };
	if (f->kind == FMT_NUM)
		out->present = tp_field_number(raw, f, &out->num);
	else
		tp_field_take_data(tp, raw, f, out);
}

void tp_field_take_alone(struct tp *tp, const struct tp_format *fmt, int field,
			 const struct bytes *raw, struct field *out)
{
	*out = (struct field){ 0 };
	if (field < 0)
		return;
	if (tp->scratch.used)
		arena_release(&tp->scratch);
	tp_field_take(tp, raw, &fmt->field[field], out);
}

void tp_fields_take(struct tp *tp, const struct tp_format *fmt, const void *raw,
		    size_t len, struct field *out)
{
	struct bytes b;

	if (tp->scratch.used)
		arena_release(&tp->scratch);
	bytes_init(&b, raw ? raw : "", raw ? len : 0, "payload", 0, tp->swap);
	for (size_t i = 0; i < fmt->n; i++)
		tp_field_take(tp, &b, &fmt->field[i], &out[i]);
}
