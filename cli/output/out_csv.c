/* out_csv.c - rows as comma-separated values (RFC 4180), with a head line. */
#include <string.h>

#include "cli/output/output.h"
#include "stitch/text/safe_text.h"

static bool spreadsheet;

const struct opt csv_opts[] = {
	OPT_FLAG(0, "spreadsheet", &spreadsheet,
		 "csv: put ' before texts that a spreadsheet would take for "
		 "formulas"),
	{ .kind = OPT_END }
};

/* Returns whether a program such as Excel or LibreOffice would calculate what
 * somebody called his process. */
static bool out_csv_is_formula(const char *s, size_t len)
{
	return len && strchr("=+-@\t\r", s[0]) && s[0];
}

/* Writes a value, in quotes if it needs them. Newlines are escaped: RFC 4180
 * allows them in quotes, but they break line-based tools. */
static void out_csv_put_text(FILE *out, const char *s, size_t len)
{
	bool quote = !len;

	for (size_t i = 0; i < len; i++)
		if (strchr(",\"\r\n ", s[i]))
			quote = true;
	if (quote)
		putc('"', out);
	if (spreadsheet && out_csv_is_formula(s, len))
		putc('\'', out);
	safe_text_doubled(out, s, len, '"');
	if (quote)
		putc('"', out);
}

const struct output out_csv = {
	.name = "csv",
	.text = out_csv_put_text,
	.before = ",",
	.end = "\n",
};
