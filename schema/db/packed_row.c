/* packed_row.c - a row in SQLite's record format. */
#include "schema/db/packed_row.h"

unsigned int packed_row_long_varint(unsigned char *to, uint64_t v)
{
	unsigned int n = packed_row_varint_bytes(v);

	if (n == VARINT_MAX) {
		to[8] = (unsigned char)v;
		v >>= 8;
		for (unsigned int i = 8; i-- > 0; v >>= 7)
			to[i] = (unsigned char)(v & 0x7f) | 0x80;
		return n;
	}
	for (unsigned int i = n; i-- > 0; v >>= 7)
		to[i] = (unsigned char)(v & 0x7f) | (i + 1 < n ? 0x80 : 0);
	return n;
}

unsigned int packed_row_number_at(const unsigned char *from, uint64_t *out)
{
	uint64_t v = 0;
	unsigned int n = 0;

	do {
		if (n == VARINT_MAX - 1) {
			*out = v << 8 | from[n];
			return VARINT_MAX;
		}
		v = v << 7 | (from[n] & 0x7f);
	} while (from[n++] & 0x80);
	*out = v;
	return n;
}
