/* say.c - messages on standard error. */
#include "cli/output/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stacks.h"
#include "cli/output/term.h"
#include "stitch/text/safe_text.h"

static void say_list(const char *fmt, va_list ap)
{
	size_t format = strlen(fmt);
	bool ends = format && fmt[format - 1] == '\n';
	char *text OWNED = NULL;
	int n = vasprintf(&text, fmt, ap);

	if (n < 0)
		return;
	safe_text_clean(stderr, text, (size_t)n - ends);
	if (ends)
		putc('\n', stderr);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_list(fmt, ap);
	va_end(ap);
}

void say_note(const char *fmt, ...)
{
	va_list ap;

	fputs("note: ", stderr);
	va_start(ap, fmt);
	say_list(fmt, ap);
	va_end(ap);
}

void say_lines(const char *lines)
{
	struct term_lines l;

	if (!lines)
		return;
	fputs(lines, term_lines_begin(&l, stderr));
	term_lines_end(&l);
}

int say_choice(const struct stacks *s, const char *doing)
{
	char *note OWNED = NULL;
	int event = stacks_choose(s, doing, &note);

	say_lines(note);
	return event;
}
