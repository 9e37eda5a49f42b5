/* check_say.c - a row of a statement in words, by a text with its columns. */
#include <inttypes.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "cli/output/lines.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"

#define LINE_TEXT 1024 /* bytes of a column's text in a line of the screen */

/* Writes the column at *at, and moves *at to its '}'. Returns false if it is
 * NULL. */
static bool say_column(FILE *out, const struct check_row *r, const char **at,
		       bool line)
{
	const char *name = *at + 1;
	char column[32], clean[LINE_TEXT];

	*at += strcspn(*at, "}");
	snprintf(column, sizeof(column), "%.*s", (int)strcspn(name, ":|}"),
		 name);
	name += strlen(column);
	const char kind = *name == ':' ? name[1] : '\0';
	const char *noun = kind && name[2] == ' ' ? name + 2 : "";
	const char *other = memchr(name, '|', (size_t)(*at - name));
	const bool null = check_null(r, column);
	const int64_t n = check_int(r, column);
	const char *text = check_text(r, column);

	if (null && other)
		fprintf(out, "%.*s", (int)(*at - other - 1), other + 1);
	else if (kind == 'd')
		fprintf(out, "%" PRId64, n);
	else if (kind == ',')
		fputs(HUMAN_GROUPED(n), out);
	else if (kind == 's')
		fputs(HUMAN_SECONDS(n), out);
	else if (kind == 'n')
		fputs(HUMAN_NS(n), out);
	else if (!line)
		safe_text_clean(out, text, strlen(text));
	else if (safe_text_clean_buf(clean, sizeof(clean), text, strlen(text),
				     NULL))
		fputs(clean, out);
	if (*noun)
		fprintf(out, "%.*s%s", (int)strcspn(noun, "}"), noun,
			n == 1 ? "" : "s");
	return !null || other;
}

/* Writes the text at *at, and moves *at to its end or a ']' of others. Returns
 * false if a column of it is NULL. */
static bool say_part(FILE *out, const struct check_row *r, const char **at,
		     bool line)
{
	bool whole = true;

	for (; **at && **at != ']'; ++*at) {
		if (**at == '{') {
			whole &= say_column(out, r, at, line);
		} else if (**at == '[') {
			char *text OWNED = NULL;
			FILE *part = mem_stream(&text, NULL);

			++*at;
			const bool has = say_part(part, r, at, line);

			mem_stream_end(part);
			fputs(has ? text : "", out);
		} else {
			putc(**at, out);
		}
	}
	return whole;
}

void check_say(FILE *out, const struct check_row *r, const char *text)
{
	say_part(out, r, &text, false);
}

void check_say_line(struct lines *l, const struct check_row *r,
		    const char *text)
{
	char *said OWNED = NULL;
	FILE *out = mem_stream(&said, NULL);

	say_part(out, r, &text, true);
	mem_stream_end(out);
	lines_add(l, "%s", said);
}
