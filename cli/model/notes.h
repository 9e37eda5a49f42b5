/* notes.h - what must be known of a database to judge a picture of it, as
 * lines of text: what was captured, what was lost, what became of requests.
 * For the comments of exports. */
#ifndef CLI_MODEL_NOTES_H
#define CLI_MODEL_NOTES_H

struct err;
struct store;

/* One line, without its end; bytes of captures are cleaned. Borrowed. */
typedef void note_fn(void *arg, const char *line);

/* About the whole database, whatever the filter options choose; 0, or -1 and
 * *err. */
int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err);
#endif
