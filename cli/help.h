/* help.h - the help texts, generated from the tables of commands and
 * options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H
#include <stdio.h>

struct command;
struct err;

/* Prints what the program is, three examples and the commands. */
void help_overview(FILE *out);
void help_command(FILE *out, const struct command *c);
/* For tests and scripts: lines "COMMAND OPTION..." and
 * "COMMAND<tab>SUMMARY". */
void help_list_options(FILE *out);
void help_list_commands(FILE *out);
/* Returns the command of that name, or NULL and *err, which names the nearest
 * one. */
const struct command *help_find(const char *name, struct err *err);

extern const struct command cmd_help;
#endif
