/* screen.h - one of the things that view shows, and how it answers keys. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct screen;
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
	char *name;   /* the longest ones with this name */
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
enum said_kind {
	SAID_TEXT,
	SAID_CODE,    /* of annotate: calls to the code of what they call */
	SAID_THREADS, /* a table with the column "Tid": to a thread's waits */
	SAID_WAITS,   /* of path --waits: to the chain of a wait */
	SAID_CHAINS,  /* of path --worst: the last chain is asked for */
	SAID_KINDS,   /* of report --latency --by kind: to the names of one */
	SAID_NAMES,   /* of report --latency: to the longest with a name */
};
/* What a command of this program prints. argv, which is copied, ends with NULL.
 * Returns NULL and *err if no process can be started. */
struct screen *said_screen(enum said_kind kind, const char *title,
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
