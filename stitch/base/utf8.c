/* utf8.c - decodes UTF-8 in names from captures, and decides which characters
 * may be shown. */
#include "stitch/base/utf8.h"

size_t utf8_char(const char *s, size_t len, uint32_t *c)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;

	if (!len)
		return 0;
	size_t n = u[0] < 0x80	 ? 1
		   : u[0] < 0xc2 ? 0
		   : u[0] < 0xe0 ? 2
		   : u[0] < 0xf0 ? 3
		   : u[0] < 0xf5 ? 4
				 : 0;
	uint32_t v = n > 1 ? u[0] & (0x7fu >> n) : u[0];

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (u[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*c = v;
	return n;
}

bool utf8_shown(uint32_t c)
{
	return !(c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad ||
		 c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
		 (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
		 c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
		 (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef) ||
		 c >= 0xe0000);
}

size_t utf8_safe(const char *s, size_t len)
{
	uint32_t c = 0;

	if (len && *s >= 0x20 && *s < 0x7f) /* nearly all */
		return 1;
	size_t n = utf8_char(s, len, &c);
	return n && utf8_shown(c) ? n : 0;
}
