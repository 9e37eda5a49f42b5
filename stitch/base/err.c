/* err.c - error codes, and messages that a user can act on. */
#include "stitch/base/err.h"

/* The functions behind these macros are defined here. */
#undef err_set
#undef err_at
#undef err_while

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stitch/base/utf8.h"

/* Messages contain names from captures. Escape everything that a terminal could
 * take for a control sequence. */
static void make_printable(char *msg, size_t size)
{
	char out[sizeof(((struct err *)0)->msg)];
	size_t n = 0;

	/* fast path for nearly all messages, of which a damaged file may have
	 * thousands */
	while ((unsigned char)(msg[n] - 0x20) < 0x5f)
		n++;
	if (!msg[n])
		return;
	memcpy(out, msg, n);
	const char *end = msg + n + strlen(msg + n);

	for (const char *s = msg + n; *s && n + 5 < sizeof(out);) {
		size_t len = utf8_safe(s, (size_t)(end - s));

		if (len) {
			memcpy(out + n, s, len);
			n += len;
			s += len;
		} else {
			n += (size_t)snprintf(out + n, sizeof(out) - n,
					      "\\x%02x", (unsigned char)*s++);
		}
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
	/* The prefix must leave room for the original message. */
	char doing[sizeof(err->msg) / 2];
	vsnprintf(doing, sizeof(doing), fmt, ap);
	va_end(ap);
	snprintf(err->msg, sizeof(err->msg), "while %s: %.*s", doing,
		 (int)(sizeof(err->msg) - sizeof(doing) - 9), old);
	make_printable(err->msg, sizeof(err->msg));
	return -1;
}
