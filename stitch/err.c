/* err.c - what went wrong, where, in words a user can act on. */
#include "stitch/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names in messages come from captures: nothing of them may reach a terminal
 * as a control sequence. UTF-8 passes, C0 and DEL do not. */
static void make_printable(char *msg, size_t size)
{
	char out[sizeof(((struct err *)0)->msg)];
	size_t n = 0;

	for (const char *s = msg; *s && n + 5 < sizeof(out); s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= 0x20 && c != 0x7f)
			out[n++] = (char)c;
		else
			n += (size_t)snprintf(out + n, sizeof(out) - n,
					      "\\x%02x", c);
	}
	out[n] = '\0';
	snprintf(msg, size, "%s", out);
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	make_printable(err->msg, sizeof(err->msg));
	return -1;
}

int err_at(struct err *err, const char *path, uint64_t off, const char *fmt,
	   ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = ERR_FORMAT;
	int n = snprintf(err->msg, sizeof(err->msg), "%s+0x%" PRIx64 ": ",
			 path ? path : "?", off);
	if (n < 0 || (size_t)n >= sizeof(err->msg))
		n = 0;
	va_start(ap, fmt);
	vsnprintf(err->msg + n, sizeof(err->msg) - (size_t)n, fmt, ap);
	va_end(ap);
	make_printable(err->msg, sizeof(err->msg));
	return -1;
}

int err_while(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;

	if (!err)
		return -1;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	int n = snprintf(err->msg, sizeof(err->msg), "while ");
	n += vsnprintf(err->msg + n, sizeof(err->msg) - (size_t)n, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg) - 2)
		snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %.*s",
			 (int)(sizeof(err->msg) - (size_t)n - 3), old);
	make_printable(err->msg, sizeof(err->msg));
	return -1;
}
