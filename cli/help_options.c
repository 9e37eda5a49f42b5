/* help_options.c - prints option tables for help. */
#include "cli/help_options.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output/term.h"

struct option_print {
	FILE *out;
	int width, column;
	const char *heading; /* of the next option; NULL: there is none */
	const char *printed; /* the last one; NULL: none yet */
};

static struct option_print option_print_init(FILE *out)
{
	struct option_print p = { .out = out, .width = term_columns(out) };

	p.column = p.width < 64 ? 8 : 28;
	p.heading = "Options";
	return p;
}

static void print_option(void *arg, const struct opt *o)
{
	struct option_print *p = arg;
	char left[80];
	int n;

	if (o->kind == OPT_HEADING) {
		p->heading = o->help;
		return;
	}
	/* a heading stands above its first option only */
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

void help_options_all(FILE *out, const struct command *c)
{
	struct option_print p = option_print_init(out);

	options_walk_told(c->opts, print_option, &p);
}

void help_options_common(FILE *out, const struct command *c)
{
	struct option_print p = option_print_init(out);

	if (!c->common)
		help_options_all(out, c);
	else
		options_walk_named(c->opts, c->common, print_option, &p);
}

void help_options_shared(FILE *out)
{
	struct option_print p = option_print_init(out);

	p.heading = "Every command takes";
	options_walk(common_opts, print_option, &p);
	p.heading = "Without a command, 'backstitch perf.data' takes what "
		    "'ingest' does, and";
	options_walk_named(cmd_look.opts, "open", print_option, &p);
}
