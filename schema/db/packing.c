/* packing.c - packed rows as cells again, for SQLite. */
#include "schema/db/packing.h"

/* Stores a value as a cell. Returns its bytes. */
static size_t packing_plain_value(struct row *r, unsigned int i, uint64_t type,
				  const unsigned char *value)
{
	static const unsigned char bytes[PACKED_ZERO] = { 0, 1, 2, 3, 4, 6, 8 };

	if (type >= PACKED_BLOB) {
		size_t len = (size_t)(type - PACKED_BLOB) / 2;

		row_bytes(r, i, type & 1 ? CELL_TEXT : CELL_BLOB, value, len);
		return len;
	}
	if (type >= PACKED_ZERO) {
		row_int(r, i, (int64_t)(type - PACKED_ZERO));
		return 0;
	}
	if (type != PACKED_NULL) {
		/* a number with a sign, the highest byte first */
		uint64_t v = bytes[type] && *value & 0x80 ? UINT64_MAX : 0;

		for (unsigned int k = 0; k < bytes[type]; k++)
			v = v << 8 | value[k];
		row_int(r, i, (int64_t)v);
	}
	return bytes[type];
}

struct block *packing_plain(const struct block *b)
{
	const unsigned char *at = (const unsigned char *)b->word;
	struct block *out =
		block_make(b->table, block_need(b->table, 0) * b->n + b->data);

	out->dense = b->dense;
	for (uint32_t i = 0; i < b->n; i++) {
		struct packing_head h;
		const unsigned char *type = packing_row(at, &h);
		const unsigned char *end = type + h.types;
		const unsigned char *value = type + h.room;
		struct row r;

		block_row(out, &r);
		row_int(&r, 0, h.key);
		type++; /* of the key */
		for (unsigned int c = 1; type < end; c++) {
			uint64_t t;

			type += packed_row_number_at(type, &t);
			value += packing_plain_value(&r, c, t, value);
		}
		at += packing_size(&h);
	}
	return out;
}
