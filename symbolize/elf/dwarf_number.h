/* dwarf_number.h - reads the numbers of DWARF: LEB128 and of fixed size. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct bytes;

/* Read a number and step over it. Return 0, or -1 if the bytes end first or the
 * number is longer than 64 bits. */
int leb128_unsigned(struct bytes *b, uint64_t *out);
int leb128_signed(struct bytes *b, int64_t *out);
/* Reads a number of 1 to 8 bytes in the same way; sign: it is sign-extended. */
int dwarf_number_fixed(struct bytes *b, unsigned int size, bool sign,
		       uint64_t *out);
