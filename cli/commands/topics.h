/* topics.h - what 'backstitch help TOPIC' can explain, and the options in a
 * help text. */
#pragma once
#include <stdio.h>

struct command;

struct topic {
	const char *name;
	void (*print)(FILE *out);
};

extern const struct topic topics[]; /* ends with name NULL */

/* Prints all options below their headings, but those of every command. */
void help_options_all(FILE *out, const struct command *c);
/* Prints those that most people need; all if the command names none. */
void help_options_common(FILE *out, const struct command *c);
