/* recorder.h - what was captured, as lines of text that qualify a picture;
 * and how to record what a database lacks, with the recorder that made its
 * captures. */
#pragma once
#include <stddef.h>

struct err;
struct store;
struct text_out;

enum recorder_lack {
	LACKS_STACKS,
	LACKS_SWITCHES,
	LACKS_WAKES, /* wakes, and switches */
	RECORDER_LACKS
};

/* Returns the command that records what is lacking, as constant text; perf's if
 * the captures are of several recorders. NULL and *err: the database cannot be
 * read. */
const char *recorder_cure(struct store *db, enum recorder_lack lack,
			  struct err *err);
/* Writes the command that records these events, named as perf names them.
 * Returns 0, or -1 and *err. */
int recorder_put_events(struct store *db, const char *const *event, size_t n,
			struct text_out *out, struct err *err);

struct err;
struct store;

/* line: without a newline, safe to print, valid during the call. */
typedef void note_fn(void *arg, const char *line);

/* Calls fn for each note. Notes are about the whole database, whatever the
 * filter options select. Returns 0, or -1 and *err. */
int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err);
