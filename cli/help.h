/* help.h - every word of help, made from the tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H
#include <stdio.h>

struct command;
struct err;

/* What this program is, three examples, the commands. */
void help_overview(FILE *out);
void help_command(FILE *out, const struct command *c);
/* For tests and scripts: "COMMAND OPTION..." and "COMMAND<tab>SUMMARY". */
void help_list_options(FILE *out);
void help_list_commands(FILE *out);
/* The command with this name; NULL and *err with the nearest one. */
const struct command *help_find(const char *name, struct err *err);

extern const struct command cmd_help;
#endif
