/* text_out.c - builds text in a buffer of fixed size. */
#include "stitch/base/text_out.h"

#include <stdarg.h>
#include <stdio.h>

void text_out_add(struct text_out *o, const char *fmt, ...)
{
	size_t room = o->size - o->len;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(o->buf + o->len, room, fmt, ap);

	va_end(ap);
	if (n < 0 || (size_t)n >= room) {
		o->cut = true;
		n = n < 0 || !room ? 0 : (int)(room - 1);
	}
	o->len += (size_t)n;
}
