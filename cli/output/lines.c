/* lines.c - lines of text with a label in front. */
#include "cli/output/lines.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/text_out.h"

#define INDENT 15

static void lines_put_grouped(struct text_out *o, int64_t v, bool is_signed)
{
	bool minus = is_signed && v < 0;

	text_out_add(o, "%s%s", minus ? "-" : "",
		     HUMAN_GROUPED(minus ? -(uint64_t)v : (uint64_t)v));
}

/* Adds the value of one conversion, such as "%s" or "%6.2f", which is
 * spec[0..n). Counts are decimal 64-bit numbers without flags and width. */
static void lines_convert(struct text_out *o, const char *spec, size_t n,
			  va_list *ap)
{
	char one[16];
	char kind = spec[n - 1];
	bool wide = n > 2 && (spec[n - 2] == 'l' || spec[n - 2] == 'z');
	bool stars = memchr(spec, '*', n) != NULL;

	assert(n < sizeof(one));
	memcpy(one, spec, n);
	one[n] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (kind == 's' && stars) {
		int len = va_arg(*ap, int);

		text_out_add(o, one, len, va_arg(*ap, const char *));
	} else if (kind == 's') {
		text_out_add(o, one, va_arg(*ap, const char *));
	} else if (kind == 'f') {
		text_out_add(o, one, va_arg(*ap, double));
	} else if (wide && n == 3 && kind != 'x') {
		lines_put_grouped(o, va_arg(*ap, int64_t), kind == 'd');
	} else if (wide) {
		text_out_add(o, one, va_arg(*ap, int64_t));
	} else {
		assert(strchr("cdux", kind));
		text_out_add(o, one, va_arg(*ap, int));
	}
#pragma GCC diagnostic pop
}

static void lines_add_list(struct lines *l, const char *fmt, va_list *ap)
{
	struct text_out o = { .buf = l->text,
			      .size = sizeof(l->text),
			      .len = l->len };

	while (*fmt) {
		size_t n = strcspn(fmt, "%");

		text_out_add(&o, "%.*s", (int)n, fmt);
		fmt += n;
		if (!*fmt)
			break;
		if (fmt[1] == '%') {
			text_out_add(&o, "%%");
			fmt += 2;
			continue;
		}
		n = strcspn(fmt, "sfcdux") + 1;
		lines_convert(&o, fmt, n, ap);
		fmt += n;
	}
	l->len = o.len;
}

void lines_add(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, &ap);
	va_end(ap);
}

void lines_print(struct lines *l, const char *label, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, &ap);
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
	lines_add(l, "%s%" PRId64 " %s", before, n, n == 1 ? one : many);
}

static void lines_put_label(const struct lines *l, const char *label)
{
	size_t cells = safe_text_cells(label);

	fputs("  ", l->out);
	safe_text_put(l->out, label, 0, 0);
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
