/* help.c - the help texts, generated from the tables of commands and
 * options. */
#include "cli/commands/help.h"

#include <sys/stat.h>

#include "cli/args/command.h"
#include "cli/args/options.h"
#include "cli/output/term.h"
#include "cli/commands/topics.h"
#include "cli/args/nearest.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

#define NAME_WIDTH 14

static const char *const overview_examples[] = {
	"backstitch perf.data", "hot functions; --open: in the browser", NULL
};

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
	/* all of it is at most 23 lines of 80 columns, a small terminal's */
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
	if (c->examples)
		fprintf(out, "%sExamples:\n", c->opts ? "\n" : "");
	for (size_t i = 0; c->examples && c->examples[i] && i < most; i++)
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

static void list_option(void *arg, const struct opt *o)
{
	FILE *out = arg;

	fprintf(out, " --%s", o->name);
	if (o->letter)
		fprintf(out, " -%c", o->letter);
}

void help_list_options(FILE *out)
{
	for (size_t i = 0; commands[i]; i++) {
		fputs(commands[i]->name, out);
		options_walk_ranked(commands[i]->opts, commands[i]->common,
				    list_option, out);
		options_walk(common_opts, list_option, out);
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

/* What commands of perf are here, where they have another name. */
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
	for (size_t i = 0; topics[i].name; i++) {
		if (!strcmp(topics[i].name, argv[0])) {
			topics[i].print(stdout);
			return STATUS_OK;
		}
	}
	const struct command *c = help_find(argv[0], err);
	if (!c)
		return -1;
	help_command(stdout, c, false);
	return STATUS_OK;
}

static const char *const examples[] = { "backstitch help ingest",
					"backstitch help verdicts", NULL };

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND | TOPIC]",
	.summary = "explain a command, or one of the topics",
	.examples = examples,
	.pages = true,
	.run = run_help,
};
