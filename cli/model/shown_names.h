/* shown_names.h - short names that tell the functions of one output apart. */
#ifndef CLI_MODEL_SHOWN_NAMES_H
#define CLI_MODEL_SHOWN_NAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

struct arena;

/* --full-names */
extern const struct opt full_names_opts[];

/* Returns whether names are to be shown as they are. */
bool full_names_asked(void);
/* Stores in shown[] the short forms of n different names, in memory of `text`;
 * NULL for a name that is as short as it gets. Where short forms are equal,
 * more is kept of them, as little as tells them apart: clones, traits, template
 * arguments, parameters, everything. No two are shown alike. */
void shown_names(const char *const *name, size_t n, const char **shown,
		 struct arena *text);
#endif
