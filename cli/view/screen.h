/* screen.h - a screen of view: what it draws, and how it answers keys. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/samples/filter.h"

struct screen;
struct opt;
struct store;
struct sums;

/* The part of the terminal in which a screen draws, in cells. */
struct area {
	int top, rows, columns;
};

/* What a key does; all zero: nothing. */
struct reply {
	char said[256]; /* a sentence for the user; "": none */
	/* What to open; the caller frees the strings. NULL or 0: not this. */
	char *code;   /* the code of this function */
	size_t nth;   /* which function of that name; 0: the first */
	char *thread; /* the waits of this thread; with it: */
	size_t wait;  /* the chain of its wait of this rank, from 1 */
	bool sums;    /* its time off the CPU by cause and place */
	char *kind;   /* the intervals of this kind by name */
	char *name;   /* the longest intervals with this name */
	int diff;     /* the table of a comparison by its key in DIFF_KEYS */
};

/* Sets r->said. */
void reply_say(struct reply *r, const char *text);

struct screen_ops {
	const char *keys; /* help on its own keys, for the last line */
	void (*draw)(struct screen *s, const struct area *a);
	/* Handles a key. Returns false if the screen has no such key. */
	bool (*key)(struct screen *s, int key, const struct area *a,
		    struct reply *out);
	/* Moves to the next place with the text, or shows all again if it is
	 * "". Returns false if no place has it. */
	bool (*find)(struct screen *s, const char *text, bool back);
	/* Moves the cursor to the row of a function, if there is one. NULL: the
	 * screen has no rows of functions. */
	void (*go)(struct screen *s, const char *function);
	/* Returns the name of the function under the cursor, borrowed, or NULL
	 * if there is none. NULL: the screen has no functions. */
	const char *(*function)(struct screen *s);
	/* The arguments of a command that prints the same, without filters and
	 * database. line(), unless NULL, replaces them: it copies a whole
	 * command line of fewer than max arguments. */
	const char *command[5];
	void (*line)(struct screen *s, const char **argv, size_t max);
	/* Reads output that is there by now. Returns whether more will come.
	 * NULL: the screen waits for nothing. */
	bool (*wait)(struct screen *s);
	void (*free)(struct screen *s);
};

/* The first member of each kind of screen. */
struct screen {
	const struct screen_ops *ops;
	char *title; /* owned */
};

/* Each returns a screen of s. The caller frees it (ops->free()) before s. */
struct screen *functions_screen(struct sums *s);
struct screen *tree_screen(struct sums *s);
struct screen *flame_screen(struct sums *s);

/* A command's output, and what its lines open. */
enum printed_kind {
	PRINTED_TEXT,	 /* nothing */
	PRINTED_CODE,	 /* annotate: the code of a function that is called */
	PRINTED_THREADS, /* a table with a column "Tid": a thread's waits */
	PRINTED_WAITS,	 /* path --waits: the chain of a wait */
	PRINTED_CHAINS,	 /* path --worst, of which the last chain is shown */
	PRINTED_KINDS,	 /* 'latency --by kind': the names of a kind */
	PRINTED_NAMES,	 /* 'latency': the longest intervals of a name */
	PRINTED_DIFF,	 /* 'diff': another table of the comparison */
};
#define DIFF_KEYS "swoelr"

/* Returns a screen with what a command of this program prints, or NULL and *err
 * if no process can be started. argv ends with NULL, and is copied. */
struct screen *printed_screen(enum printed_kind kind, const char *title,
			      const char *const *argv, struct err *err);

/* ---- a list of lines with a cursor */

struct list {
	size_t at, top, n;
	bool jumped; /* the next list_fit() shows lines around the cursor */
};

/* Moves the cursor for a key. Returns false if the key does not move it. */
bool list_key(struct list *l, int key, int rows);
/* Moves the cursor to a line. If the line was not in sight, it is centred. */
void list_go(struct list *l, size_t at);
/* Moves the cursor to the next line, in a circle, for which the expression
 * `holds` is true; `at` is its index there. Returns whether there is one. */
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
/* Sets `top` so that the cursor is in the `rows` lines from there. */
void list_fit(struct list *l, int rows);

/* ---- when samples were taken and records were lost, to choose a time from */

#define SPAN_PARTS 64

struct span {
	int64_t first, part; /* ns: begin of the span, length of a part */
	uint64_t samples[SPAN_PARTS], most;
	bool lost[SPAN_PARTS];
};

/* Reads *s. Returns 0, or -1 and *err, also if the database has no times. */
int span_load(struct span *s, struct store *db, struct err *err);
/* Draws the span in two rows, with the parts from `from` to `to` chosen. */
void span_draw(const struct span *s, int row, size_t from, size_t to);
/* Moves the choice for a key, or only its end once Enter has marked its begin.
 * Returns false when Enter ends the choice. */
bool span_move(int key, size_t *from, size_t *to, bool *marked);

/* ---- the filters as the user types them, and as arguments of other commands
 */

/* Writes the filter as text: "comm=server cpu=0". */
void choice_text(const struct filter *f, char *buf, size_t size);
/* Sets the filter from such a text. Returns 0, or -1 and *err if the text is
 * not a filter; *f is then unchanged. */
int choice_set(struct filter *f, const char *text, struct err *err);
/* Sets argv, which has room for CHOICE_ARGS, to those options in the table opts
 * that were given and that `command` has, too. Returns their number. */
#define CHOICE_ARGS 32
size_t choice_args(const struct opt *opts, const char *command,
		   const char **argv);
/* Runs a command of this program with its output in a new file "view-N.ending".
 * Sets said to the file and the command line. Returns 0, or -1 and *err. */
int choice_write(const char *const *argv, const char *ending, char *said,
		 size_t size, struct err *err);
