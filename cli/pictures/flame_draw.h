/* flame_draw.h - from samples, or folded text, to a tree that can be drawn.
 *
 * drawing_init(), drawing_read() once (or drawing_open() and own calls of
 * drawing_add()), then write the tree; drawing_release(). Notes are the lines
 * below the picture, SVG_NOTES of them: those that come later are left out.
 * Drawings that are compared share their labels. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/pictures/svg.h"

struct flame_opts;
struct label_list;
struct labels;
struct offcpu_sums;
struct pick;
struct report_rows;
struct stacks;
struct stacks_comm;
struct stacks_group;
struct store;
struct trust;

#define DRAWING_NOTE_MAX 768
#define DRAWING_WORDS 16 /* more than there are verdicts */

struct drawing {
	/* what is asked for, borrowed */
	const struct flame_opts *opts;
	struct labels *labels;

	/* where stacks come from */
	struct stacks *stacks; /* NULL: folded text */
	int event;	       /* index in stacks; -1: all events */
	uint32_t group; /* in stacks, of the one that is added; for rows */

	/* where they go */
	struct pick *pick; /* leaves some out */
	struct flame_tree *tree;
	struct flame_tree *also;  /* gets all, without weight; borrowed, may be
				   * NULL */
	struct report_rows *rows; /* counts all; borrowed, may be NULL */
	struct trust *trust;	  /* counts their samples; NULL: not said */

	/* what notes say about those that were added: weights */
	struct drawing_missed {
		const char *word;
		uint64_t weight;
	} missing[DRAWING_WORDS]; /* missing user halves by verdict */
	size_t n_missing;
	struct drawing_name {
		uint64_t weight;
		bool idle;
	} * name; /* of threads, by label */
	size_t n_name, cap_name;
	uint64_t bogus;	   /* of stacks with fabricated frames */
	uint64_t inferred; /* of those with an inferred caller */

	/* how it is drawn */
	struct label_facts *facts; /* NULL: not needed */
	struct svg_opts o;
	char title[240];
	char note[SVG_NOTES][DRAWING_NOTE_MAX];
	size_t n_note;
};

/* Makes an empty tree. Returns 0, or -1 and *err if --include or --exclude is
 * not valid. */
int drawing_init(struct drawing *d, const struct flame_opts *f,
		 struct labels *labels, struct err *err);
void drawing_release(struct drawing *d);
/* Reads a database, a capture or a folded text and finishes the tree. Returns
 * 0, or -1 and *err. */
int drawing_read(struct drawing *d, const char *path, int *status,
		 struct err *err);
/* Adds the samples of one event of stacks, which are borrowed: several runs are
 * drawn as one. Returns 0, or -1 and *err. */
int drawing_add_run(struct drawing *d, struct stacks *s, int event,
		    struct err *err);
/* The same of folded text. */
int drawing_add_text(struct drawing *d, const char *path, int *status,
		     struct err *err);
/* Opens a database, or makes one of a capture, and adds notes about its
 * captures. Returns a store to be closed, or NULL and *err. */
struct store *drawing_open(struct drawing *d, const char *path, int *status,
			   struct err *err);
/* Loads what is said about frames and user stacks. d->stacks must be loaded.
 * Returns 0, or -1 and *err. */
int drawing_facts(struct drawing *d, struct store *db, struct err *err);
/* Adds the stack of a group, outermost frame first; may reverse l. Returns 1, 0
 * if --include or --exclude leaves it out, or -1 and *err. */
int drawing_add_group(struct drawing *d, const struct stacks_group *g,
		      struct label_list *l, struct err *err);
/* Finishes the tree. Returns 0, or -1 and *err, which names path, if the tree
 * has no weight. */
int drawing_finish(struct drawing *d, const char *path, struct err *err);
/* Appends the frames for a thread's name, pid and tid that the options ask
 * for. */
void drawing_thread(struct drawing *d, const struct stacks_comm *c,
		    struct label_list *l);
/* Appends a frame that is not code. */
void drawing_group(struct drawing *d, const char *name, struct label_list *l);

/* Adds notes about waits that are not drawn, if there are any. */
void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s);
/* Adds a note about missing user halves, if there are any. */
void drawing_note_missing(struct drawing *d);
/* Adds a note about inferred callers, if there are any. */
void drawing_note_inferred(struct drawing *d);
/* Adds a note, unless there are too many. */
void drawing_say(struct drawing *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
