/* addrs.c - packs and unpacks the addresses of a raw chain in
 * raw_chain.addrs. */
#include "schema/db/addrs.h"

unsigned char *addrs_pack(unsigned char *p, const uint64_t *ip, uint32_t n,
			  uint64_t *last)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t d = ip[i] - *last;
		uint64_t v = d << 1 ^ (0 - (d >> 63));

		for (; v >= 0x80; v >>= 7)
			*p++ = (unsigned char)(v | 0x80);
		*p++ = (unsigned char)v;
		*last = ip[i];
	}
	return p;
}

int store_addrs(const void *blob, size_t len, uint64_t *ip, uint32_t max)
{
	const unsigned char *p = blob;
	const unsigned char *end = p ? p + len : p;
	uint64_t last = 0;
	uint32_t n = 0;

	while (p && p < end) {
		uint64_t v = 0;
		unsigned int shift = 0;

		do {
			if (p == end || shift > 63)
				return -1;
			v |= (uint64_t)(*p & 0x7f) << shift;
			shift += 7;
		} while (*p++ & 0x80);
		if (n == max || n == INT32_MAX)
			return -1;
		last += v >> 1 ^ (0 - (v & 1));
		ip[n++] = last;
	}
	return (int)n;
}
