/* mark_words.h - what the marks mean that stand in stacks, tables and pictures
 * where a function or a number would. */
#pragma once

#include "cli/stacks/verdict_words.h"

/* Ends with text NULL. */
extern const struct help_line mark_words[];
/* Returns the meaning of a frame's name that is a mark, such as "[user:
 * chain_lost]"; NULL if it is none. */
const char *mark_meaning(const char *name);
