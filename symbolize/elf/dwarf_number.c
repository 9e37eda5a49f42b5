/* dwarf_number.c - reads the numbers of DWARF: LEB128 and of fixed size. */
#include "symbolize/elf/dwarf_number.h"

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

int dwarf_number_fixed(struct bytes *b, unsigned int size, bool sign,
		       uint64_t *out)
{
	const bool big = b->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint64_t v = 0;
	uint32_t word;
	uint8_t byte;

	if (!size || size > 8)
		return -1;
	if (size == 8)
		return bytes_u64(b, out, NULL);
	if (size == 4) {
		if (bytes_u32(b, &word, NULL))
			return -1;
		v = word;
	}
	for (unsigned int i = 0; size != 4 && i < size; i++) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		v |= (uint64_t)byte << 8 * (big ? size - 1 - i : i);
	}
	if (sign && v >> (8 * size - 1))
		v |= ~(uint64_t)0 << 8 * size;
	*out = v;
	return 0;
}
