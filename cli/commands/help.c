/* help.c - the help texts, generated from the tables of commands and
 * options. */
#include "cli/commands/help.h"

#include <sys/stat.h>

#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "analyze/stacks/word_meanings.h"
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/export/export.h"
#include "cli/output/term.h"
#include "formats/formats.h"
#include "stitch/audit/rules.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"
#include "stitch/source.h"

struct option_print {
	FILE *out;
	int width, column;
	const char *heading; /* of the next option; NULL: it has none */
	const char *printed; /* the last heading; NULL: none yet */
};

static struct option_print option_print_init(FILE *out)
{
	struct option_print p = { .out = out, .width = term_columns(out) };

	p.column = p.width < 64 ? 8 : 28;
	p.heading = "Options";
	return p;
}

/* An option_fn: prints an option, or notes a heading for the next one. */
static void print_option(void *arg, const struct opt *o)
{
	struct option_print *p = arg;
	char left[80];

	if (o->kind == OPT_HEADING) {
		p->heading = o->help;
		return;
	}
	/* a heading is printed once, above its first option */
	if (p->heading && (!p->printed || strcmp(p->heading, p->printed) != 0))
		fprintf(p->out, "%s%s:\n", p->printed ? "\n" : "", p->heading);
	if (p->heading)
		p->printed = p->heading;
	p->heading = NULL;
	if (o->kind == OPT_GROUP) {
		fputs("  ", p->out);
		term_wrap(p->out, o->help, 2, 2, p->width);
		return;
	}
	int n = snprintf(left, sizeof(left), "  %c%c%s --%s%s%s",
			 o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? "," : " ", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");

	fputs(left, p->out);
	if (n + 2 > p->column) {
		putc('\n', p->out);
		n = 0;
	}
	fprintf(p->out, "%*s", p->column - n, "");
	term_wrap(p->out, o->help, p->column, p->column, p->width);
}

/* Prints all options below their headings, except those of every command. */
static void help_options_all(FILE *out, const struct command *c)
{
	struct option_print p = option_print_init(out);

	options_walk_listed(c->opts, print_option, &p);
}

/* Prints the options of command.common; if that is NULL, all options. */
static void help_options_common(FILE *out, const struct command *c)
{
	struct option_print p = option_print_init(out);

	if (!c->common)
		help_options_all(out, c);
	else
		options_walk_named(c->opts, c->common, print_option, &p);
}

/* Prints the options of every command, of a file in place of a command, and of
 * most commands, for which their own help has a sentence. */
static void help_options_shared(FILE *out)
{
	struct option_print p = option_print_init(out);

	p.heading = "Every command takes";
	options_walk(common_opts, print_option, &p);
	p.heading = "Without a command, 'backstitch perf.data' takes what "
		    "'ingest' does, and";
	options_walk_named(cmd_default.opts, "open", print_option, &p);
	p.heading = "Commands that read samples choose them by";
	options_walk(filter_opts, print_option, &p);
	p.heading = "Commands that read databases choose some of several by";
	options_walk(database_set_opts, print_option, &p);
}

/* Prints words, and texts from a column on; without a word, a paragraph. */
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
		{ NULL, "Each may be compressed with gzip, xz, bzip2 or zstd. "
			"'-' reads standard input, as in 'perf record -o - "
			"... | backstitch ingest -'." },
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
	struct help_line lines[96] = {
		{ NULL, "How far user stacks can be trusted: a sample has one "
			"class of view 'trust', in words:" },
	};
	size_t n = 1;

	print_lines(out, verdict_words, 18);
	putc('\n', out);
	for (const struct trust_word *w = trust_words; w->name && n + 2 < 96;
	     w++) {
		lines[n++] = (struct help_line){ w->name, w->phrase };
		lines[n++] = (struct help_line){ "", w->meaning };
	}
	print_lines(out, lines, 34);
	putc('\n', out);
	print_lines(out, mark_words, 25);
	putc('\n', out);
	/* Print the tables of the page. */
	struct help_line line[MARK_KINDS + BAND_KINDS + 2] = {
		{ NULL, "On the page's timeline, events and times:" },
	};
	size_t count = 1;

	for (size_t i = 0; i < MARK_KINDS; i++, count++)
		line[count] = (struct help_line){ loss_mark_words[i].name,
						  loss_mark_words[i].says };
	for (size_t i = 0; i < BAND_KINDS; i++, count++)
		line[count] = (struct help_line){ loss_band_words[i].name,
						  loss_band_words[i].says };
	print_lines(out, line, 34);
}

/* Prints the table of rules. */
static void print_rules(FILE *out)
{
	struct help_line lines[64] = {
		{ NULL, "Conditions that must not occur in a capture; "
			"'backstitch check' reports where they did:" },
	};
	size_t n = 1;

	for (const struct rule *r = rules; r->name && n + 2 < 64; r++)
		lines[n++] = (struct help_line){ r->name, r->proves };
	lines[n++] = (struct help_line){
		NULL, "The view findings has each of them; 'backstitch query "
		      "DB \"SELECT * FROM findings\"' prints it."
	};
	print_lines(out, lines, 18);
}

static const struct help_line status_lines[] = {
	{ "0", "done" },
	{ "1", "failed; standard error says why" },
	{ "2", "wrong usage" },
	{ "3", "done, but part of the input was damaged and was "
	       "skipped" },
	{ "4", "check found lost records or causality errors, a "
	       "comparison a growth by --fail-above, or path too much "
	       "by --fail-unknown; 4 wins over 3" },
	{ "5", "a comparison cannot tell whether something grew by "
	       "more than --fail-above; give several runs of a side" },
	{ "130", "ended by Ctrl-C, no unfinished file is left" },
	{ NULL, NULL }
};

static const struct help_line environment_lines[] = {
	{ "BACKSTITCH_CLICKHOUSE_PASSWORD",
	  "the password for a server, clickhouse://user@host" },
	{ "BACKSTITCH_LOG",
	  "what is logged: ingest,align,join,files,advice (see the manual)" },
	{ "BACKSTITCH_NO_SYNC",
	  "if set: no file waits for the disk (for tests)" },
	{ "BACKSTITCH_ROWS",
	  "if set: JSON and a tab before the rows of tables (for view)" },
	{ "BACKSTITCH_PAGER, PAGER",
	  "the pager for what is longer than the screen (less)" },
	{ "COLUMNS", "width of what is not written to a terminal" },
	{ "DEBUGINFOD_URLS", "the servers that --debuginfod asks" },
	{ "DEBUGINFOD_CACHE_PATH", "the folder with their files" },
	{ "HOME", "the folder with perf's cache of programs, .debug" },
	{ "LD_LIBRARY_PATH", "where record looks for libraries, too" },
	{ "LESS", "options of the pager (FRX)" },
	{ "NO_COLOR", "if set: no color" },
	{ "PATH", "where the pager and xdg-open are looked for" },
	{ "TERM", "if it is dumb: no color, no progress line" },
	{ "TMPDIR", "the folder for temporary files (/tmp)" },
	{ "XDG_CACHE_HOME", "the folder with remembered names, in "
			    "backstitch/names" },
	{ NULL, NULL }
};

/* The keys of backstitch-view(1), in fewer words. */
static const struct help_line key_lines[] = {
	{ NULL, "In 'backstitch view':" },
	{ "1 to 9", "functions, tree, flame graph, code, threads, "
		    "what was lost, events, info, latency" },
	{ "arrows, j, k, <, >", "move; Page Up, Page Down, Home, End" },
	{ "Return, e", "open or close a row; zoom into a frame; follow "
		       "a call or a thread" },
	{ "q, Esc", "back; q on the first screen ends the program" },
	{ "/", "search; n, N: the next place, and the one before" },
	{ "f", "filter: comm=, pid=, tid=, cgroup=, cpu=, event= and "
	       "time=" },
	{ "T", "choose a time" },
	{ "u", "the filter before this one" },
	{ "c", "rows open into callers, or into what they call" },
	{ "h", "open the hottest way below this row" },
	{ "s", "sort functions by self, total, name or image" },
	{ "p", "percent of the row above, or of all samples" },
	{ "d", "only functions of this row's image, and back" },
	{ "a", "the code of this function" },
	{ "o", "in code, the next function of the same name" },
	{ "w", "of a thread: its time off the CPU, by cause" },
	{ "b, B", "compare with a database recorded before, or after" },
	{ "s, w, o, e, l, r", "of a comparison: samples, time by wall, waits, "
			      "who ended them, latency, ready" },
	{ "x", "write a flame graph, page, JSON or text" },
	{ "P", "write this screen as text" },
	{ "z", "with --live: no newer segment, and on again" },
	{ NULL, "More: man backstitch-view; options: 'backstitch view "
		"-h'." },
	{ NULL, NULL }
};

/* In the order in which a program asks. tests/cli/agent.sh runs each line. */
static const struct help_line agent_lines[] = {
	{ NULL, "For programs that ask: each command prints one JSON "
		"document, of a database or a capture. FILE.db is what "
		"'backstitch ingest FILE' makes of a capture, once." },
	{ "backstitch info --json DB", "what was recorded, and lost" },
	{ "backstitch report --json --limit 40 DB",
	  "hot functions, and how far stacks can be trusted; --off-cpu; "
	  "likewise latency, and diff DB DB" },
	{ "backstitch path --json --limit 40 DB",
	  "why threads waited, and how much of it is proved; --comm "
	  "NAME, --worst 3" },
	{ "backstitch check --json --limit 20 DB",
	  "which stacks are missing or false, and why" },
	{ "backstitch query --json DB \"SELECT * FROM samples LIMIT 40\"",
	  "all else; 'query --views DB' lists the views, 'query "
	  "--schema' says what each column means" },
	{ NULL, "With these limits an answer is below 100,000 bytes, or "
		"25,000 tokens. Its numbers are of what is known: repeat "
		"how much is not, as the answer does. Words are in "
		"'backstitch help verdicts', schemas in "
		"share/backstitch/json, the meaning of a status in "
		"'backstitch help exit-status'; messages on standard "
		"error end with what to do next." },
	{ NULL, NULL }
};

const struct topic topics[] = {
	{ .name = "options", .print = help_options_shared },
	{ .name = "formats", .print = print_formats },
	{ .name = "exports", .print = print_exports },
	{ .name = "verdicts", .print = print_verdicts },
	{ .name = "rules", .print = print_rules },
	{ "exit-status", NULL, status_lines, 7 },
	{ "environment", NULL, environment_lines, 27 },
	{ "keys", NULL, key_lines, 22 },
	{ "agent", NULL, agent_lines, 6 },
	{ .name = NULL },
};

#define NAME_WIDTH 14

static const char *const overview_examples[] = {
	"backstitch perf.data", "hot functions; --open: in the browser", NULL
};

/* Prints the commands in groups; a group with a title has no summaries. */
static void print_commands(FILE *out)
{
	const struct command_group *next = command_groups;
	bool names_only = false;
	int width = term_columns(out);
	int at = 0; /* columns of the line of names so far */

	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];

		if (c == &cmd_help)
			continue; /* the last lines of the screen describe it */
		if (c == next->first) {
			if (names_only)
				putc('\n', out);
			names_only = *next->title;
			at = fprintf(out, "%s", next++->title);
		}
		if (names_only) {
			at += 1 + (int)strlen(c->name);
			if (at > width)
				at = fprintf(out, "\n ") + (int)strlen(c->name);
		}
		fprintf(out, "%s%s%-*s%s", names_only ? " " : "  ",
			term_on(out, STYLE_BOLD),
			names_only ? 0 : NAME_WIDTH - 2, c->name,
			term_off(out));
		if (!names_only)
			term_wrap(out, c->summary, NAME_WIDTH, NAME_WIDTH,
				  width);
	}
	putc('\n', out);
}

void help_overview(FILE *out)
{
	int width = term_columns(out);

	fputs("usage: backstitch ", out);
	term_wrap(out, "[COMMAND] [options] FILE...", 18, 7, width);
	/* all lines are at most 23 of 80 columns, for a small terminal */
	term_wrap(out,
		  "Profiles by perf, ftrace and LTTng, with a reason for each "
		  "missing stack.",
		  0, 0, width);
	for (size_t i = 0; overview_examples[i]; i += 2) {
		int at = (int)strlen(overview_examples[i]) + 2;

		fprintf(out, "  %s", overview_examples[i]);
		if (width < 80) {
			fputs("\n      ", out);
			at = 6;
		} else {
			fprintf(out, "%*s", 42 - at, "");
			at = 42;
		}
		term_wrap(out, overview_examples[i + 1], at, at, width);
	}
	print_commands(out);
	term_wrap(out,
		  "More: 'backstitch COMMAND -h', 'backstitch help COMMAND' or "
		  "TOPIC, man pages.",
		  0, 0, width);
	char line[200];
	struct text_out o = { .buf = line, .size = sizeof(line) };

	for (size_t i = 0; topics[i].name; i++)
		text_out_add(&o, "%s%s", i ? " " : "TOPIC: ", topics[i].name);
	term_wrap(out, line, 0, 7, term_columns(out));
}

void help_command(FILE *out, const struct command *c, bool brief)
{
	size_t most = brief ? 4 : SIZE_MAX;
	int width = term_columns(out);

	fprintf(out, "usage: backstitch %s%s", c->name, *c->name ? " " : "");
	term_wrap(out, c->args, (int)strlen(c->name) + 19, 7, width);
	putc('\n', out);
	term_wrap(out, c->summary, 0, 0, width);
	putc('\n', out);
	if (brief)
		help_options_common(out, c);
	else
		help_options_all(out, c);
	if (c->examples[0])
		fprintf(out, "%sExamples:\n", c->opts ? "\n" : "");
	for (size_t i = 0; c->examples[i] && i < most; i++)
		fprintf(out, "  %s\n", c->examples[i]);
	putc('\n', out);
	if (brief)
		fprintf(out, "all: backstitch help %s\n",
			*c->name ? c->name : "ingest");
	else
		term_wrap(out,
			  "Options of every command: 'backstitch help options'",
			  0, 0, width);
}

void help_put_option(void *arg, const struct opt *o)
{
	FILE *out = arg;

	fprintf(out, " --%s", o->name);
	if (o->letter)
		fprintf(out, " -%c", o->letter);
}

void help_walk_options(const struct command *c, option_fn *fn, void *arg)
{
	options_walk_ranked(c->opts, c->common, fn, arg);
	options_walk(common_opts, fn, arg);
}

void help_list_options(FILE *out)
{
	for (size_t i = 0; commands[i]; i++) {
		fputs(commands[i]->name, out);
		help_walk_options(commands[i], help_put_option, out);
		putc('\n', out);
	}
}

void help_list_common(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->common)
			fprintf(out, "%s %s\n", commands[i]->name,
				commands[i]->common);
}

void help_list_commands(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s\t%s\n", commands[i]->name,
			commands[i]->summary);
}

/* Commands of perf that have another name here. */
static const struct {
	const char *perfs, *ours;
} perf_commands[] = {
	{ "archive", "bundle" },
	{ "data", "export" },
	{ "kwork", "latency work" },
	{ "lock", "latency lock" },
	{ "timechart", "export --format chrome" },
	{ "top", "follow --top" },
	{ "trace", "latency syscall" },
};

const struct command *help_find(const char *name, struct err *err)
{
	struct nearest near = { .typed = name };
	const char *perfs = NULL;
	struct stat st;

	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		nearest_offer(&near, commands[i]->name);
	}
	if (stat("perf.data", &st) == 0)
		nearest_offer(&near, "perf.data");
	for (size_t i = 0; i < ARRAY_SIZE(perf_commands); i++)
		if (!strcmp(perf_commands[i].perfs, name))
			perfs = perf_commands[i].ours;
	if (stat(name, &st) == 0)
		err_set(err, ERR_USAGE,
			"'%s' is a file; 'backstitch %s' reads it", name, name);
	else if (perfs)
		err_set(err, ERR_USAGE,
			"what perf calls '%s' is 'backstitch %s'", name, perfs);
	else if (near.best)
		err_set(err, ERR_USAGE,
			"no command or file '%s'; did you mean '%s'?", name,
			near.best);
	else
		err_set(err, ERR_USAGE, "no command or file '%s'", name);
	return NULL;
}

static int run_help(int argc, char **argv, struct err *err)
{
	if (!argc) {
		help_overview(stdout);
		return STATUS_OK;
	}
	if (argc > 1)
		return err_set(err, ERR_USAGE,
			       "help explains one thing at a "
			       "time");
	for (const struct topic *t = topics; t->name; t++) {
		if (strcmp(t->name, argv[0]) != 0)
			continue;
		if (t->print)
			t->print(stdout);
		else
			print_lines(stdout, t->lines, t->column);
		return STATUS_OK;
	}
	const struct command *c = help_find(argv[0], err);
	if (!c)
		return -1;
	help_command(stdout, c, false);
	return STATUS_OK;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND | TOPIC]",
	.summary = "explain a command, or one of the topics",
	.examples = { "backstitch help ingest", "backstitch help verdicts" },
	.pages = true,
	.run = run_help,
};
