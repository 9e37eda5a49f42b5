/* choice.h - the filters as view's user types them, and as arguments of other
 * commands. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/samples/filter.h"

struct opt;

/* Writes the filter as text: "comm=server cpu=0". */
void choice_text(const struct filter *f, char *buf, size_t size);
/* Sets the filter from such a text. Returns 0, or -1 and *err if it is none;
 * the filter is as before then. */
int choice_set(struct filter *f, const char *text, struct err *err);
/* Stores those of the options in the table opts that were given, and that a
 * command has as well, in argv, which has room for CHOICE_ARGS. Returns how
 * many there are. */
#define CHOICE_ARGS 32
size_t choice_args(const struct opt *opts, const char *command,
		   const char **argv);
/* Runs a command of this program with its output in a new file "view-N.ending".
 * Writes the file and the command line to said. Returns 0, or -1 and *err. */
int choice_write(const char *const *argv, const char *ending, char *said,
		 size_t size, struct err *err);
