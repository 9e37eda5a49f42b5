/* help.h - the help texts, generated from the tables of commands and
 * options. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "cli/args/options.h"

struct help_line;

/* Prints what the program is, two examples, the commands and the topics. */
void help_overview(FILE *out);
/* Prints the help of a command. brief: usage, the common options and four
 * examples, for one screen; else all options and examples. */
void help_command(FILE *out, const struct command *c, bool brief);
/* Calls fn for all options of a command, those of command.common first. */
void help_walk_options(const struct command *c, option_fn *fn, void *arg);
/* An option_fn: prints " --NAME -LETTER" into arg, a FILE. */
void help_put_option(void *arg, const struct opt *o);
/* For tests and scripts: lines "COMMAND OPTION...", "COMMAND NAME..." of the
 * common options, and "COMMAND<tab>SUMMARY". */
void help_list_options(FILE *out);
void help_list_common(FILE *out);
void help_list_commands(FILE *out);
/* Returns the command of that name, or NULL and *err, which may name the
 * nearest one. */
const struct command *help_find(const char *name, struct err *err);

extern const struct command cmd_help;

struct topic {
	const char *name;
	void (*print)(FILE *out); /* NULL: the lines are printed */
	const struct help_line
		*lines; /* word and text; a NULL text ends them */
	int column;	/* where the texts begin */
};

extern const struct topic topics[]; /* ends with name NULL */
