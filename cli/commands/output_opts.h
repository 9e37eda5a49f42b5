/* output_opts.h - the options that choose how rows are written. */
#pragma once
#include "cli/args/command.h"
#include "cli/output/output.h"

/* --format --json --spreadsheet: for OPT_GROUP(). */
extern const struct opt output_opts[];
/* Returns whether the user chose an output. */
bool output_asked(void);
/* Returns -1 and *err if the user chose two. */
int output_check(struct err *err);
/* Returns the output that the user chose, else the first. */
const struct output *output_chosen(void);
