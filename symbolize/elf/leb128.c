/* leb128.c - reads LEB128, the variable-length numbers of DWARF. */
#include "symbolize/elf/leb128.h"

#include "stitch/base/bytes.h"

int leb128_unsigned(struct bytes *b, uint64_t *out)
{
	uint8_t byte;

	*out = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		*out |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return 0;
	}
	return -1;
}

int leb128_signed(struct bytes *b, int64_t *out)
{
	uint64_t v = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte >= 128)
			continue;
		if (byte & 64 && shift + 7 < 64)
			v |= ~(uint64_t)0 << (shift + 7);
		*out = (int64_t)v;
		return 0;
	}
	return -1;
}
