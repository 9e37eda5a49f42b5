/* shown_names.h - short names that tell the functions of one output apart. */
#pragma once
#include <stdbool.h>

#include "cli/command.h"

struct arena;

/* --full-names */
extern const struct opt full_names_opts[];

/* Returns whether names are to be shown as they are. */
bool full_names_asked(void);
struct shown_names;

/* The names that are read together. */
struct shown_names *shown_names_new(void);
void shown_names_free(struct shown_names *s);
/* Copies a name; NULL is none. */
void shown_names_add(struct shown_names *s, const char *name);
/* Finds the short forms of all names that were added, in memory of `text`.
 * Where short forms are equal, more is kept of them, as little as tells them
 * apart: clones, traits, template arguments, parameters, everything. No two are
 * shown alike. With --full-names, names stay as they are. */
void shown_names_make(struct shown_names *s, struct arena *text);
/* Returns what is shown of a name, in the arena's memory: `name` itself if it
 * was not added, is as short as it gets, or is NULL. */
const char *shown_names_get(struct shown_names *s, const char *name);
