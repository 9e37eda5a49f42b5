/* notes.h - facts that qualify a picture of a database, as lines of text: what
 * was captured, what was lost, the fate of requests. Exports add them as
 * comments. */
#pragma once

struct err;
struct store;

/* line: without a newline, safe to print, valid during the call. */
typedef void note_fn(void *arg, const char *line);

/* Calls fn for each note. They are about the whole database, whatever the
 * filter options select. Returns 0, or -1 and *err. */
int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err);
