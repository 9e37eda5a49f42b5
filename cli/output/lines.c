/* lines.c - lines of text with a label in front. */
#include "cli/output/lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cli/output/safe_text.h"

#define INDENT 15

static void lines_add_list(struct lines *l, const char *fmt, va_list ap)
{
	int n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);

	if (n > 0)
		l->len += (size_t)n;
	if (l->len >= sizeof(l->text))
		l->len = sizeof(l->text) - 1;
}

void lines_add(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, ap);
	va_end(ap);
}

void lines_print(struct lines *l, const char *label, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, ap);
	va_end(ap);
	lines_put(l, label);
}

void lines_clean(struct lines *l, const char *text)
{
	char clean[1024];

	safe_text_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	lines_add(l, "%s", clean);
}

void lines_seconds(struct lines *l, int64_t ns)
{
	lines_add(l, "%" PRId64 ".%06" PRId64, ns / 1000000000,
		  ns % 1000000000 / 1000);
}

void lines_share(struct lines *l, int64_t part, int64_t whole)
{
	if (whole > 0)
		lines_add(l, " (%.1f %%)", (double)part * 100 / (double)whole);
}

void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many)
{
	lines_add(l, "%s%" PRId64 " %s", before, n, n == 1 ? one : many);
}

void lines_put(struct lines *l, const char *label)
{
	fprintf(l->out, "  %-12s ", label);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	l->text[l->len = 0] = '\0';
}

void lines_put_styled(struct lines *l, const char *label, enum term_style style)
{
	fprintf(l->out, "  %-12s ", label);
	fputs(term_on(l->out, style), l->out);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	fputs(term_off(l->out), l->out);
	l->text[l->len = 0] = '\0';
}
