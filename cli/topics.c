/* topics.c - what 'backstitch help TOPIC' can explain. */
#include "cli/topics.h"

#include <stddef.h>
#include <string.h>

#include "cli/export/export.h"
#include "cli/model/verdict_words.h"
#include "cli/output/term.h"
#include "formats/formats.h"
#include "stitch/audit/rules.h"
#include "stitch/source.h"

static void print_lines(FILE *out, const struct help_line *lines, int column)
{
	int width = term_columns(out);

	if (width < 60)
		column = 6;
	for (const struct help_line *l = lines; l->text; l++) {
		int at = 0;

		if (!l->word) {
			if (l != lines)
				putc('\n', out);
			term_wrap(out, l->text, 0, 0, width);
			continue;
		}
		at = fprintf(out, "  %s", l->word);
		if (at + 2 > column) {
			putc('\n', out);
			at = 0;
		}
		fprintf(out, "%*s", column - at, "");
		term_wrap(out, l->text, column, column, width);
	}
}

static void print_formats(FILE *out)
{
	static const struct help_line tail[] = {
		{ NULL, "Any of them may be packed with gzip or zstd. '-' "
			"reads standard input, as in 'perf record -o - ... | "
			"backstitch ingest -'." },
		{ NULL, NULL }
	};
	int width = term_columns(out);

	for (size_t i = 0; formats[i]; i++) {
		fprintf(out, "  %-10s ", formats[i]->name);
		term_wrap(out, formats[i]->summary, 13, 13, width);
	}
	putc('\n', out);
	print_lines(out, tail, 0);
}

static void print_exports(FILE *out)
{
	int width = term_columns(out);

	for (size_t i = 0; exporters[i]; i++) {
		fprintf(out, "  %-10s ", exporter_names[i]);
		term_wrap(out, exporters[i]->summary, 13, 13, width);
	}
}

static void print_verdicts(FILE *out)
{
	print_lines(out, verdict_words, 18);
}

/* Printed from the table of rules. */
static void print_rules(FILE *out)
{
	struct help_line lines[64] = {
		{ NULL, "What must not happen in a trace; 'backstitch check' "
			"says where it did:" },
	};
	size_t n = 1;

	for (const struct rule *r = rules; r->name && n + 2 < 64; r++)
		lines[n++] = (struct help_line){ r->name, r->proves };
	lines[n++] =
		(struct help_line){ NULL, "Each has a view of its findings: "
					  "rule_map_lost, ..." };
	print_lines(out, lines, 18);
}

static void print_status(FILE *out)
{
	static const struct help_line lines[] = {
		{ "0", "done" },
		{ "1", "failed; standard error says why" },
		{ "2", "wrong usage" },
		{ "3", "done, but part of the input was damaged and was "
		       "skipped" },
		{ "4", "check, or --strict, found lost records or causality "
		       "errors; 4 wins over 3" },
		{ "130", "ended by Ctrl-C, nothing is left behind" },
		{ NULL, NULL }
	};

	print_lines(out, lines, 7);
}

static void print_environment(FILE *out)
{
	static const struct help_line lines[] = {
		{ "COLUMNS", "width of help and tables when it is no "
			     "terminal" },
		{ "HOME", "where perf's cache of programs, .debug, is looked "
			  "for" },
		{ "NO_COLOR", "when set: no color" },
		{ "TERM", "dumb: no color, no progress line" },
		{ "TMPDIR", "where temporary files go, instead of /tmp" },
		{ NULL, NULL }
	};

	print_lines(out, lines, 12);
}

const struct topic topics[] = {
	{ "formats", "the captures that can be read", print_formats },
	{ "exports", "the forms that export writes", print_exports },
	{ "verdicts", "what became of each user stack", print_verdicts },
	{ "rules", "what check looks for beside user stacks", print_rules },
	{ "exit-status", "what the exit status says", print_status },
	{ "environment", "variables that are looked at", print_environment },
	{ NULL, NULL, NULL }
};
