/* out_csv.c - rows as comma-separated values (RFC 4180), with a head line. */
#include <string.h>

#include "cli/output/output.h"
#include "stitch/text/safe_text.h"

/* Writes a mark and a value, in quotes if it needs them. Newlines are escaped:
 * RFC 4180 allows them in quotes, but they break line-based tools. */
static void out_csv_put(FILE *out, const char *s, size_t len, const char *mark)
{
	bool quote = !len;

	for (size_t i = 0; i < len; i++)
		if (strchr(",\"\r\n ", s[i]))
			quote = true;
	if (quote)
		putc('"', out);
	fputs(mark, out);
	safe_text_doubled(out, s, len, '"');
	if (quote)
		putc('"', out);
}

static void out_csv_put_text(FILE *out, const char *s, size_t len)
{
	out_csv_put(out, s, len, "");
}

/* With ' in front of what such a program would calculate. */
static void out_csv_put_safe(FILE *out, const char *s, size_t len)
{
	out_csv_put(out, s, len,
		    len && strchr("=+-@\t\r", s[0]) && s[0] ? "'" : "");
}

const struct output out_csv = {
	.name = "csv",
	.text = out_csv_put_text,
	.before = ",",
	.end = "\n",
};

const struct output out_spreadsheet = {
	.name = "spreadsheet",
	.text = out_csv_put_safe,
	.before = ",",
	.end = "\n",
};
