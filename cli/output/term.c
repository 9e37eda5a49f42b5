/* term.c - what the terminal can do: its width, and whether it has color. */
#include "cli/output/term.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stitch/base/mem.h"

const char *term_color_option;

bool term_is_terminal(FILE *out)
{
	return isatty(out == stderr ? 2 : 1);
}

static int term_at_least(int n)
{
	return n < 20 ? 20 : n;
}

int term_limit(FILE *out)
{
	struct winsize ws;
	const char *env = getenv("COLUMNS");

	if (ioctl(out == stderr ? 2 : 1, TIOCGWINSZ, &ws) == 0 && ws.ws_col)
		return term_at_least(ws.ws_col);
	if (env && *env >= '1' && *env <= '9') {
		long n = strtol(env, NULL, 10);

		if (n > 0 && n < 100000)
			return term_at_least((int)n);
	}
	return term_is_terminal(out) ? 80 : INT_MAX;
}

int term_columns(FILE *out)
{
	int n = term_limit(out);

	return n < INT_MAX ? n : 80;
}

int term_rows(FILE *out)
{
	struct winsize ws;

	if (ioctl(out == stderr ? 2 : 1, TIOCGWINSZ, &ws))
		return 0;
	return ws.ws_row;
}

bool term_color(FILE *out)
{
	const char *when = term_color_option ? term_color_option : "auto";
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (!strcmp(when, "always"))
		return true;
	if (!strcmp(when, "never") || (no && *no))
		return false;
	if (!term || !strcmp(term, "dumb"))
		return false;
	return term_is_terminal(out);
}

const char *term_on(FILE *out, enum term_style s)
{
	static const char *const code[] = { "\033[1m", "\033[2m", "\033[31m",
					    "\033[33m", "\033[32m" };

	return term_color(out) ? code[s] : "";
}

const char *term_off(FILE *out)
{
	return term_color(out) ? "\033[0m" : "";
}

/* Returns the length of the first word; "12.50 %" is one. */
static int term_word(const char *text)
{
	size_t n = strcspn(text, " ");

	if (!strncmp(text + n, " %", 2))
		n += 1 + strcspn(text + n + 1, " ");
	return (int)n;
}

void term_wrap(FILE *out, const char *text, int at, int indent, int width)
{
	bool first = true;

	if (width - indent < 16)
		width = indent + 16;
	while (*text) {
		int n = term_word(text);

		if (!first && at + 1 + n > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", n, text);
		at += n + !first;
		first = false;
		text += n;
		while (*text == ' ')
			text++;
	}
	putc('\n', out);
}

FILE *term_lines_begin(struct term_lines *l, FILE *out)
{
	*l = (struct term_lines){ .out = out };
	if (term_limit(out) < INT_MAX)
		l->stream = mem_stream(&l->text, &l->len);
	return l->stream ? l->stream : out;
}

void term_lines_end(struct term_lines *l)
{
	if (!l->stream)
		return;
	mem_stream_end(l->stream);
	for (char *line = l->text; line && *line;) {
		size_t n = strcspn(line, "\n");
		bool more = line[n] != '\0';

		line[n] = '\0';
		term_wrap(l->out, line, 0, 2, term_columns(l->out));
		line += n + more;
	}
	free(l->text);
}
