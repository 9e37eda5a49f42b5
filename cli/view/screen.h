/* screen.h - one of the things that view shows, and how it answers keys. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/samples/filter.h"

struct screen;
struct opt;
struct store;
struct sums;

/* The part of the terminal that is a screen's own. */
struct area {
	int top, rows, columns;
};

/* What comes of a key; zero-initialised, nothing. */
struct reply {
	char said[256]; /* a sentence for the user */
	/* What to open; owned by who gets the reply. */
	char *code;   /* of this function, */
	size_t nth;   /* the nth of its name; 0: the first */
	char *thread; /* the waits of this thread, or */
	size_t wait;  /* the chain of its wait of this rank, from 1, or */
	bool sums;    /* its time off the CPU by cause and place */
	char *kind;   /* the intervals of this kind by name, or */
	char *name;   /* the longest ones with this name, or */
	int diff; /* the table of a comparison with this key, from DIFF_KEYS */
};

void reply_say(struct reply *r, const char *text);

struct screen_ops {
	const char *keys; /* what its own keys do, for the last line */
	void (*draw)(struct screen *s, const struct area *a);
	/* Returns false if the key is none of its own. */
	bool (*key)(struct screen *s, int key, const struct area *a,
		    struct reply *out);
	/* Goes to the next place with the text, "": shows all again. Returns
	 * false if there is none. */
	bool (*find)(struct screen *s, const char *text, bool back);
	/* Moves the cursor to the row of a function, if there is one. NULL:
	 * rows have none. */
	void (*go)(struct screen *s, const char *function);
	/* Returns the name of the function under the cursor, borrowed; NULL: no
	 * function. NULL: the screen has none. */
	const char *(*function)(struct screen *s);
	/* The arguments that print the same, without filters and the database;
	 * or, if it is not NULL, a function that copies the whole command line,
	 * of fewer than max arguments. */
	const char *command[5];
	void (*line)(struct screen *s, const char **argv, size_t max);
	/* Takes what came meanwhile. Returns whether there is more to come.
	 * NULL: nothing comes. */
	bool (*wait)(struct screen *s);
	void (*free)(struct screen *s);
};

/* The first member of each kind of screen. */
struct screen {
	const struct screen_ops *ops;
	char *title; /* owned */
};

/* Each returns a screen, which the view frees before the sums. */
struct screen *functions_screen(struct sums *s);
struct screen *tree_screen(struct sums *s);
struct screen *flame_screen(struct sums *s);

/* What lines of a command's output lead to. */
enum printed_kind {
	PRINTED_TEXT,
	PRINTED_CODE,	 /* of annotate: calls to the code of what they call */
	PRINTED_THREADS, /* a table with the column "Tid": to a thread's waits
			  */
	PRINTED_WAITS,	 /* of path --waits: to the chain of a wait */
	PRINTED_CHAINS,	 /* of path --worst: the last chain is asked for */
	PRINTED_KINDS,	 /* of 'latency --by kind': to the names of one */
	PRINTED_NAMES,	 /* of 'latency': to the longest with a name */
	PRINTED_DIFF,	 /* of 'diff': to another table of the comparison */
};
#define DIFF_KEYS "swoelr"

/* What a command of this program prints. argv, which is copied, ends with NULL.
 * Returns NULL and *err if no process can be started. */
struct screen *printed_screen(enum printed_kind kind, const char *title,
			      const char *const *argv, struct err *err);

/* ---- a list of lines with a cursor */

struct list {
	size_t at, top, n;
	bool jumped; /* to a line of which the ones around it are wanted */
};

/* Moves the cursor for a key. Returns false if the key moves none. */
bool list_key(struct list *l, int key, int rows);
/* Moves the cursor to a line, which has others around it if it was not shown.
 */
void list_go(struct list *l, size_t at);
/* Does that for the next line, in a circle, of which the expression `holds`,
 * which refers to its index as `at`, is true. Returns whether there is one. */
#define list_find(l, back, at, holds)                                          \
	({                                                                     \
		size_t i_ = 0, at, n_ = (l)->n;                                \
                                                                               \
		while (++i_ <= n_) {                                           \
			at = ((l)->at + ((back) ? n_ - i_ : i_)) % n_;         \
			if (holds)                                             \
				break;                                         \
		}                                                              \
		if (i_ <= n_)                                                  \
			list_go(l, at);                                        \
		i_ <= n_;                                                      \
	})
/* Moves `top` so that the cursor is in that many rows. */
void list_fit(struct list *l, int rows);

/* ---- when samples were taken and records were lost, in a line of the
 * terminal, to choose a time from */

#define SPAN_PARTS 64

struct span {
	int64_t first, part; /* ns: where it begins, how long a part is */
	uint64_t samples[SPAN_PARTS], most;
	bool lost[SPAN_PARTS];
};

/* Returns 0, or -1 and *err, also if the database has no times. */
int span_load(struct span *s, struct store *db, struct err *err);
/* Draws it in two rows, with the parts from `from` to `to` chosen. */
void span_draw(const struct span *s, int row, size_t from, size_t to);
/* Moves the chosen part for a key; once marked, only its end. Returns false
 * when Enter ends the choice. */
bool span_move(int key, size_t *from, size_t *to, bool *marked);

/* ---- the filters as the user types them, and as arguments of other commands
 */

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
