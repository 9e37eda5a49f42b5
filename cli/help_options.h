/* help_options.h - prints option tables for help. */
#pragma once
#include <stdio.h>

struct command;

/* Prints all options below their headings, but those of every command. */
void help_options_all(FILE *out, const struct command *c);
/* Prints those that most people need; all if the command names none. */
void help_options_common(FILE *out, const struct command *c);
/* Prints those that every command takes, and what only a file in place of a
 * command does. */
void help_options_shared(FILE *out);
