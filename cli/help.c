/* help.c - the help texts, generated from the tables of commands and
 * options. */
#include "cli/help.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output/term.h"
#include "cli/topics.h"
#include "stitch/base/err.h"

#define NAME_WIDTH 14

static const char *const overview_examples[] = {
	"backstitch perf.data", "the hot functions, and how to go on",
	"backstitch --open perf.data", "all of it in the browser", NULL
};

static void print_commands(FILE *out)
{
	int width = term_columns(out);

	for (size_t i = 0; commands[i]; i++) {
		/* the last line of the screen tells of it */
		if (commands[i] == &cmd_help)
			continue;
		fprintf(out, "  %s%-*s%s ", term_on(out, STYLE_BOLD),
			NAME_WIDTH - 3, commands[i]->name, term_off(out));
		term_wrap(out, commands[i]->summary, NAME_WIDTH, NAME_WIDTH,
			  width);
	}
}

void help_overview(FILE *out)
{
	int width = term_columns(out);

	fputs("usage: backstitch ", out);
	term_wrap(out, "[COMMAND] [options] FILE...", 18, 7, width);
	/* all of it is at most 23 lines of 80 columns */
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
	putc('\n', out);
	print_commands(out);
	term_wrap(out,
		  "More: 'backstitch COMMAND -h', 'backstitch help TOPIC', and "
		  "its manual page.",
		  0, 0, width);
}

struct option_print {
	FILE *out;
	int width, column;
};

static void print_option(void *arg, const struct opt *o)
{
	struct option_print *p = arg;
	char left[80];
	int n;

	if (o->kind == OPT_GROUP) {
		fputs("  ", p->out);
		term_wrap(p->out, o->help, 2, 2, p->width);
		return;
	}
	n = snprintf(left, sizeof(left), "  %c%c%s --%s%s%s",
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

void help_command(FILE *out, const struct command *c)
{
	struct option_print p = { .out = out, .width = term_columns(out) };

	p.column = p.width < 64 ? 8 : 28;
	fprintf(out, "usage: backstitch %s%s", c->name, *c->name ? " " : "");
	term_wrap(out, c->args, (int)strlen(c->name) + 19, 7, p.width);
	putc('\n', out);
	term_wrap(out, c->summary, 0, 0, p.width);
	fputs("\nOptions:\n", out);
	options_walk_told(c->opts, print_option, &p);
	options_walk(common_opts, print_option, &p);
	if (!c->examples)
		return;
	fputs("\nExamples:\n", out);
	for (size_t i = 0; c->examples[i]; i++)
		fprintf(out, "  %s\n", c->examples[i]);
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
		options_walk(commands[i]->opts, list_option, out);
		options_walk(common_opts, list_option, out);
		putc('\n', out);
	}
}

void help_list_commands(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s\t%s\n", commands[i]->name,
			commands[i]->summary);
}

const struct command *help_find(const char *name, struct err *err)
{
	struct nearest near = { .typed = name };
	struct stat st;

	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		nearest_offer(&near, commands[i]->name);
	}
	if (stat("perf.data", &st) == 0)
		nearest_offer(&near, "perf.data");
	if (stat(name, &st) == 0)
		err_set(err, ERR_USAGE,
			"'%s' is a file; 'backstitch %s' reads it", name, name);
	else if (near.best)
		err_set(err, ERR_USAGE,
			"no command or file '%s'; did you mean '%s'?", name,
			near.best);
	else
		err_set(err, ERR_USAGE, "no command or file '%s'", name);
	return NULL;
}

static void print_topics(FILE *out)
{
	int width = term_columns(out);

	fputs("\nOther things to ask about:\n", out);
	for (size_t i = 0; topics[i].name; i++) {
		fprintf(out, "  %-12s ", topics[i].name);
		term_wrap(out, topics[i].summary, 15, 15, width);
	}
}

static int run_help(int argc, char **argv, struct err *err)
{
	const struct command *c;

	if (!argc) {
		help_overview(stdout);
		print_topics(stdout);
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
	c = help_find(argv[0], err);
	if (!c)
		return -1;
	help_command(stdout, c);
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
