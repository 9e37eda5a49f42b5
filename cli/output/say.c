/* say.c - messages on standard error. */
#include "cli/output/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/safe_text.h"

void say(const char *fmt, ...)
{
	size_t format = strlen(fmt);
	bool ends = format && fmt[format - 1] == '\n';
	char *text;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);

	va_end(ap);
	if (n < 0)
		return;
	safe_text_clean(stderr, text, (size_t)n - ends);
	if (ends)
		putc('\n', stderr);
	free(text);
}
