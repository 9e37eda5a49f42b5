/* term.c - what the terminal can do: its width, and whether it has color. */
#include "cli/output/term.h"

#include <inttypes.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

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
	return !term || !strcmp(term, "dumb") ? false : term_is_terminal(out);
}

/* All that this program sends to a terminal besides text. */
static const char *const term_code[] = {
	[STYLE_BOLD] = "\033[1m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_RED] = "\033[31m",
	[STYLE_YELLOW] = "\033[33m",
	[STYLE_GREEN] = "\033[32m",
	[STYLE_NONE] = "\033[0m",
	[LINE_START] = "\r",
	[LINE_REST] = "\033[K",
	[WHOLE_SCREEN] = "\033[H\033[2J",
};
enum {
	TERM_CODES = ARRAY_SIZE(term_code)
};

/* Returns the mark that is replaced by a sequence on output: ESC, a number that
 * no text of a capture can guess, and a letter. */
const char *term_mark(enum term_style s)
{
	static char mark[TERM_CODES][TERM_MARK + 1];
	uint64_t secret = 0;

	if (!*mark[0]) {
		/* without the number a text could have a color, or erase the
		 * line that it is in; the time is not in a capture either */
		if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) < 8)
			secret = (uint64_t)now_wall_ns();
		for (unsigned int i = 0; i < TERM_CODES; i++)
			snprintf(mark[i], sizeof(mark[i]),
				 "\033%016" PRIx64 "%c", secret, 'a' + i);
	}
	return mark[s];
}

size_t term_find_mark(const char *s, size_t len, const char **code)
{
	size_t n = len < TERM_MARK ? len : TERM_MARK;

	for (unsigned int i = 0; i < TERM_CODES; i++) {
		if (memcmp(s, term_mark(i), n))
			continue;
		*code = n == TERM_MARK ? term_code[i] : NULL;
		return n;
	}
	return 0;
}

const char *term_on(FILE *out, enum term_style s)
{
	return term_color(out) ? term_mark(s) : "";
}

const char *term_off(FILE *out)
{
	return term_on(out, STYLE_NONE);
}

void term_wrap(FILE *out, const char *text, int at, int indent, int width)
{
	bool first = true;

	if (width - indent < 16)
		width = indent + 16;
	while (*text) {
		size_t count = strcspn(text, " ");

		if (!strncmp(text + count, " %", 2))
			count += 1 + strcspn(text + count + 1, " ");
		int n = (int)count;

		if (!first && at + 1 + n > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		fputs(first ? "" : " ", out);
		safe_text_clean(out, text, (size_t)n);
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

FILE *term_lines_begin_at(struct term_lines *l, FILE *out, int width)
{
	*l = (struct term_lines){ .out = out, .width = width };
	return l->stream = mem_stream(&l->text, &l->len);
}

void term_lines_end(struct term_lines *l)
{
	int width = l->width ? l->width : term_columns(l->out);

	if (!l->stream)
		return;
	mem_stream_end(l->stream);
	for (char *line = l->text; line && *line;) {
		size_t n = strcspn(line, "\n");
		bool more = line[n] != '\0';

		line[n] = '\0';
		if (n || !l->width)
			term_wrap(l->out, line, 0, l->width ? 0 : 2, width);
		line += n + more;
	}
	free(l->text);
}
