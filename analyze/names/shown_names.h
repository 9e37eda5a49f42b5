/* shown_names.h - short names that tell the functions of one output apart, and
 * are the same in each output of a recording. */
#pragma once

struct arena;
struct err;
struct name_opts;
struct shown_names;
struct store;

/* The names that are read together. */
struct shown_names *shown_names_new(void);
void shown_names_free(struct shown_names *s);
/* Copies a name; NULL is none. */
void shown_names_add(struct shown_names *s, const char *name);
/* Adds all functions of a database, inlined ones too: a name is not to be
 * shorter where the output lacks another one. Nothing if suffixes are
 * folded, which makes names of its own. Returns 0, or -1 and *err. */
int shown_names_read(struct shown_names *s, const struct name_opts *o,
		     struct store *db, struct err *err);
/* Finds the short forms of all names that were added, in memory of `text`.
 * Where short forms are equal, more is kept of them, as little as tells them
 * apart: clones, traits, template arguments, parameters, everything. No two are
 * shown alike. If full names are wanted, names stay as they are. */
void shown_names_make(struct shown_names *s, const struct name_opts *o,
		      struct arena *text);
/* Returns what is shown of a name, in the arena's memory: `name` itself if it
 * was not added, is as short as it gets, or is NULL. */
const char *shown_names_get(struct shown_names *s, const char *name);
