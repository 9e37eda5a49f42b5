/* report_keys.h - options that report and its like share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/command.h"

struct report_opts;

/* How functions are named, and whether those that were inlined have rows. */
extern const struct opt report_names_opts[];

/* Stores the keys that --sort names (NULL: sym,dso), and its field. Returns 0,
 * or -1 and *err. */
int report_take_keys(struct report_opts *o, const char *sort, struct err *err);
/* Returns how many rows --limit asks for; NUMBER_UNSET: a table on a terminal
 * fills one screen. */
size_t report_limit(long limit, const char *format);
/* Returns what the groups of a server have to tell apart for these keys. */
unsigned int report_detail(unsigned int keys);
/* Stores what --inline, --no-inline and --fold-library ask for. Returns 0, or
 * -1 and *err if they exclude each other. */
int report_take_inlined(struct report_opts *o, struct err *err);
bool report_inline_chosen(void);
