/* output_opts.c - the options that choose how rows are written. */
#include "cli/commands/output_opts.h"

#include <string.h>

#include "stitch/base/err.h"

static const char *const names[] = { "table",	 "lines", "csv", "json",
				     "markdown", "sql",	  NULL };

static const char *format;
static bool json, spreadsheet;

const struct opt output_opts[] = {
	OPT_HEADING("Output"),
	OPT_CHOICE(0, "format", "FORMAT", &format, names,
		   "table, lines, csv, json, markdown or sql"),
	OPT_FLAG(0, "json", &json, "the same as --format json"),
	OPT_FLAG(0, "spreadsheet", &spreadsheet,
		 "csv: put ' before texts that a spreadsheet would take for "
		 "formulas"),
	{ .kind = OPT_END }
};

bool output_asked(void)
{
	return json || format;
}

int output_check(struct err *err)
{
	if (!json || !format || !strcmp(format, "json"))
		return 0;
	return err_set(err, ERR_USAGE,
		       "--json is --format json: leave out --json or --format "
		       "%s",
		       format);
}

const struct output *output_chosen(void)
{
	const char *name = json ? "json" : format ? format : names[0];

	return output_find(spreadsheet && output_is_csv(name) ? "spreadsheet"
							      : name);
}
