/* fields.h - reads the fields of a payload, by the format of its tracepoint. */
#pragma once

#include "formats/tracepoint/tracepoint.h"

/* Returns the index of the field with that name; -1 if there is none or name is
 * NULL. */
int tp_field_index(const struct tp_format *fmt, const char *name);
/* Takes a long of the kernel, of 4 bytes if long32. Returns 0, or -1 and
 * *err. */
static inline int tp_take_long(struct bytes *b, bool long32, uint64_t *out,
			       struct err *err)
{
	uint32_t low;

	if (!long32)
		return bytes_u64(b, out, err);
	if (bytes_u32(b, &low, err))
		return -1;
	*out = low;
	return 0;
}
static inline bool tp_field_is_dynamic(const struct tp_field *f)
{
	return f->kind == FMT_DYN_TEXT || f->kind == FMT_DYN_BLOB;
}
/* Sets *out to one field for each def, borrowed until the next call.
 * raw may be NULL. */
void tp_fields_take(struct tp *tp, const struct tp_format *fmt, const void *raw,
		    size_t len, struct field *out);
/* tp_field_number() for a field of 1 or 2 bytes whose offset is inside the
 * payload. */
bool tp_field_small(const struct bytes *raw, const struct tp_field *f,
		    int64_t *out);
/* Reads a number from a payload. Returns false if the field is not a number or
 * not inside the payload. */
static inline bool tp_field_number(const struct bytes *raw,
				   const struct tp_field *f, int64_t *out)
{
	uint32_t u32;
	uint64_t u64;

	if (f->kind != FMT_NUM || f->off >= bytes_left(raw))
		return false;
	if (f->size == 1 || f->size == 2)
		return tp_field_small(raw, f, out);
	if (f->size == 4) {
		if (bytes_peek_u32(raw, f->off, &u32))
			return false;
		*out = f->is_signed ? (int32_t)u32 : (int64_t)u32;
		return true;
	}
	if (bytes_peek_u64(raw, f->off, &u64))
		return false;
	*out = (int64_t)u64;
	return true;
}
/* Returns the number in the field with this index, or `otherwise` if the field
 * is not a number, or not inside the payload, or the index is negative. */
static inline int64_t tp_field_number_or(const struct tp_format *fmt, int field,
					 const struct bytes *raw,
					 int64_t otherwise)
{
	int64_t v;

	return field >= 0 && tp_field_number(raw, &fmt->field[field], &v)
		       ? v
		       : otherwise;
}
/* Reads the field with this index into *out, which is not present if the index
 * is negative; borrowed until the next call. */
void tp_field_take_alone(struct tp *tp, const struct tp_format *fmt, int field,
			 const struct bytes *raw, struct field *out);
