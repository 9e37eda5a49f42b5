/* lines.c - lines of text with a label in front. */
#include "cli/output/lines.h"

#include <stdarg.h>
#include <string.h>

#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"

#define INDENT 15

/* Appends as much as fits. */
static void lines_add_list(struct lines *l, const char *fmt, va_list ap)
{
	size_t room = sizeof(l->text) - l->len;
	int n = vsnprintf(l->text + l->len, room, fmt, ap);

	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
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
	lines_add(l, "%s", HUMAN_SECONDS(ns));
}

void lines_share(struct lines *l, int64_t part, int64_t whole)
{
	if (whole > 0)
		lines_add(l, " (%s)", HUMAN_PERCENT(part, whole));
}

void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many)
{
	lines_add(l, "%s%s %s", before, HUMAN_GROUPED(n), n == 1 ? one : many);
}

static void lines_put_label(const struct lines *l, const char *label)
{
	size_t cells = safe_text_cells(label);

	safe_text_say(l->out, "  ", label, "");
	fprintf(l->out, "%*s ", cells < 12 ? (int)(12 - cells) : 0, "");
}

void lines_put(struct lines *l, const char *label)
{
	lines_put_label(l, label);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	l->text[l->len = 0] = '\0';
}

void lines_waited(struct lines *l, int64_t p50, int64_t p90, int64_t p99,
		  int64_t max)
{
	const int64_t ns[] = { p50, p90, p99, max };
	char text[4][32];

	for (int i = 0; i < 4; i++)
		human_ns(text[i], sizeof(text[i]), ns[i]);
	lines_add(l, "median %s, 90 %% by %s, 99 %% by %s, all by %s", text[0],
		  text[1], text[2], text[3]);
}

void lines_put_styled(struct lines *l, const char *label, enum term_style style)
{
	lines_put_label(l, label);
	fputs(term_on(l->out, style), l->out);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	fputs(term_off(l->out), l->out);
	l->text[l->len = 0] = '\0';
}
