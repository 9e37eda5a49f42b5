/* say.c - messages on standard error. */
#include "cli/output/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/stacks/stacks.h"
#include "cli/output/term.h"
#include "stitch/base/now.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"

#define NS 1000000000ll

static struct {
	const char *what;
	int64_t start, drawn_at;
	bool on, drawn;
} line;

void progress_start(const char *what)
{
	const char *term = getenv("TERM");

	progress_clear();
	line.what = what;
	line.start = line.drawn_at = now_ns();
	line.on = isatty(2) && term && strcmp(term, "dumb");
}

static void progress_draw(const char *text)
{
	fprintf(stderr, "%s%.*s%s", term_mark(LINE_START),
		term_columns(stderr) - 1, text, term_mark(LINE_REST));
	fflush(stderr);
	line.drawn = true;
}

void progress_start_live(const char *what, const char *hint)
{
	char text[160];

	progress_start(what);
	if (!line.on)
		return;
	snprintf(text, sizeof(text), "%s: %s", what, hint);
	progress_draw(text);
}

void progress_update(uint64_t done, uint64_t total, uint64_t n,
		     const char *unit)
{
	char text[160];
	char rate[32];

	if (!line.on)
		return;
	int64_t t = now_ns();
	if (t - line.start < NS / 2 || t - line.drawn_at < NS / 10)
		return;
	line.drawn_at = t;
	double seconds = (double)(t - line.start) / (double)NS;
	human_count(rate, sizeof(rate),
		    (uint64_t)((double)n / (seconds > 0 ? seconds : 1)));
	/* "12 %, 1.2 M records/s, 3 s left", as far as it is known */
	if (!total || done > total) {
		snprintf(text, sizeof(text), "%s: %s %s, %s/s", line.what,
			 HUMAN_COUNT(n), unit, rate);
	} else {
		int share = (int)((double)done * 100 / (double)total);
		int at = snprintf(text, sizeof(text), "%s: %d %%, %s %s/s",
				  line.what, share, rate, unit);
		if (done && at > 0 && (size_t)at < sizeof(text) && seconds > 1)
			snprintf(text + at, sizeof(text) - (size_t)at,
				 ", %.0f s left",
				 seconds * (double)(total - done) /
					 (double)done);
	}
	progress_draw(text);
}

void progress_clear(void)
{
	if (line.drawn)
		fprintf(stderr, "%s%s", term_mark(LINE_START),
			term_mark(LINE_REST));
	line.drawn = false;
	line.on = false;
}

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
