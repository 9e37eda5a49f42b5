/* out_markdown.c - rows as a table of GitHub-flavoured Markdown. */

#include "cli/output/markdown.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

/* Longer than any run of them that begins a line: a thread's name, which has 15
 * bytes, may. */
#define FENCE "````````````````````"

static size_t markdown_longest_run(const char *s)
{
	size_t most = 0;
	size_t n = 0;

	for (; *s; s++) {
		n = *s == '`' ? n + 1 : 0;
		raise_to(most, n);
	}
	return most;
}

static void markdown_put_ticks(FILE *out, size_t n)
{
	while (n--)
		putc('`', out);
}

void markdown_put_cell(FILE *out, const char *s, size_t len)
{
	char *text;
	size_t n;
	FILE *clean = mem_stream(&text, &n);

	safe_text_clean(clean, s, len);
	mem_stream_end(clean);
	if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789 .,%+") == n) {
		fputs(text, out);
		free(text);
		return;
	}

	size_t ticks = markdown_longest_run(text) + 1;
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
	free(text);
}

void markdown_put_rule(FILE *out, bool right)
{
	fputs(right ? " ---: |" : " --- |", out);
}

void markdown_fence(FILE *out, bool begin)
{
	fputs(begin ? FENCE "text\n" : FENCE "\n\n", out);
}

static int out_markdown_write(FILE *out, struct rows *rows, struct err *err)
{
	size_t n = rows_columns(rows);
	int ret;

	putc('|', out);
	for (size_t i = 0; i < n; i++) {
		const char *name = rows_name(rows, i);

		putc(' ', out);
		markdown_put_cell(out, name, strlen(name));
		fputs(" |", out);
	}
	fputs("\n|", out);
	for (size_t i = 0; i < n; i++)
		markdown_put_rule(out, false);
	putc('\n', out);
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		putc('|', out);
		for (size_t i = 0; i < n; i++) {
			struct value v = rows_value(rows, i);

			putc(' ', out);
			if (v.kind == VALUE_TEXT)
				markdown_put_cell(out, v.text, v.len);
			else
				output_value(out, &v);
			fputs(" |", out);
		}
		putc('\n', out);
	}
	return ret < 0 ? -1 : 0;
}

const struct output out_markdown = {
	.name = "markdown",
	.write = out_markdown_write,
};
