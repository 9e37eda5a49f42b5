/* text.c - names made safe for one line of folded stacks. */
#include <string.h>

#include "schema/inner.h"

/* ';' parts frames, a newline parts stacks, and a control byte (C0, DEL, or
 * C1 in UTF-8) in a terminal is a command: names come from captures. */
size_t text_label(const char *s, char *out, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	for (; *s && n + 5 < size; s++) {
		unsigned char c = (unsigned char)*s;
		bool c1 = c == 0xc2 && (unsigned char)s[1] >= 0x80 &&
			  (unsigned char)s[1] < 0xa0;

		if (c == ';') {
			out[n++] = ':';
		} else if (c >= 0x20 && c != 0x7f && !c1) {
			out[n++] = (char)c;
		} else {
			if (c1)
				c = (unsigned char)*++s;
			out[n++] = '\\';
			out[n++] = 'x';
			out[n++] = hex[c >> 4];
			out[n++] = hex[c & 15];
		}
	}
	out[n] = '\0';
	return n;
}
