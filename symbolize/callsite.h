/* callsite.h - does an address lie behind a call instruction? */
#ifndef SYMBOLIZE_CALLSITE_H
#define SYMBOLIZE_CALLSITE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest call of any machine here, with prefixes. */
#define CALLSITE_MAX 8

/* code: the n bytes before the address, n <= CALLSITE_MAX. A direct call's
 * target, counted from the address, into *target (NULL: not wanted), and
 * *direct says whether it is one. */
bool callsite_before(uint16_t machine, const unsigned char *code, size_t n,
		     bool *direct, int64_t *target);
#endif
