/* leb128.h - reads LEB128, the variable-length numbers of DWARF. */
#ifndef SYMBOLIZE_ELF_LEB128_H
#define SYMBOLIZE_ELF_LEB128_H
#include <stdint.h>

struct bytes;

/* Read a number and step over it. Return 0, or -1 if the bytes end first or the
 * number is longer than 64 bits. */
int leb128_unsigned(struct bytes *b, uint64_t *out);
int leb128_signed(struct bytes *b, int64_t *out);
#endif
