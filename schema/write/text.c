/* text.c - names made safe for one line of folded stacks. */
#include <string.h>

#include "schema/inner.h"
#include "stitch/base/utf8.h"

/* ';' parts frames, a newline parts stacks, and what a terminal would obey or
 * not show is no name: names come from captures. */
size_t text_label(const char *s, char *out, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	while (*s && n + 5 < size) {
		unsigned char c = (unsigned char)*s;
		size_t len = utf8_safe(s, strnlen(s, 4));

		if (len) {
			memcpy(out + n, s, len);
			if (c == ';')
				out[n] = ':';
			n += len;
			s += len;
			continue;
		}
		out[n++] = '\\';
		out[n++] = 'x';
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
		s++;
	}
	out[n] = '\0';
	return n;
}
