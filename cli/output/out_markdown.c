/* out_markdown.c - rows as a table of GitHub-flavoured Markdown. */

#include "cli/output/output.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"

/* Longer than any run of them that begins a line: a thread's name, which has 15
 * bytes, may. */
#define FENCE "````````````````````"

static void markdown_put_ticks(FILE *out, size_t n)
{
	while (n--)
		putc('`', out);
}

/* Writes the text of a cell of a table: a code span, in which names of captures
 * are no HTML, link or mention, unless it is plain words. */
static void markdown_put_cell(FILE *out, const char *s, size_t len)
{
	char *text OWNED = NULL;
	size_t n;
	FILE *clean = mem_stream(&text, &n);

	safe_text_clean(clean, s, len);
	mem_stream_end(clean);
	if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789 .,%+") == n) {
		fputs(text, out);
		return;
	}

	const char *str = text;
	size_t most = 0;
	size_t count = 0;

	for (; *str; str++) {
		count = *str == '`' ? count + 1 : 0;
		raise_to(most, count);
	}
	size_t ticks = most + 1;
	bool pad = text[0] == '`' || text[n - 1] == '`';

	markdown_put_ticks(out, ticks);
	fputs(pad ? " " : "", out);
	for (const char *p = text; *p; p++) {
		if (*p == '|')
			putc('\\', out);
		putc(*p, out);
		/* would escape what follows, which is not of it */
		if (*p == '\\' && p[1] == '|')
			putc(' ', out);
	}
	fputs(pad ? " " : "", out);
	markdown_put_ticks(out, ticks);
}

void markdown_fence(FILE *out, bool begin)
{
	fputs(begin ? FENCE "text\n" : FENCE "\n\n", out);
}

const struct output out_markdown = {
	.name = "markdown",
	.text = markdown_put_cell,
	.first = "| ",
	.before = " ",
	.behind = " |",
	.end = "\n",
	.rule = { " --- |", " ---: |" },
};
