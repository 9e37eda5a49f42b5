/* flame_draw.h - from samples, or folded text, to a tree that can be drawn.
 *
 * drawing_init(), drawing_read() once (or drawing_open() and own calls of
 * drawing_add()), then write the tree; drawing_release(). Notes are the lines
 * below the picture. Drawings that are compared share their labels. */
#ifndef CLI_PICTURES_FLAME_DRAW_H
#define CLI_PICTURES_FLAME_DRAW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/pictures/svg.h"

struct err;
struct flame_opts;
struct flame_tree;
struct label_facts;
struct label_list;
struct offcpu_sums;
struct labels;
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
	const struct flame_opts *opts; /* borrowed */
	struct labels *labels;	       /* borrowed */
	struct stacks *stacks;	       /* NULL: read from folded text */
	struct label_facts *facts;     /* NULL: not needed */
	struct flame_tree *tree;
	struct flame_tree
		*also; /* also gets all stacks, without weight; may be NULL */
	struct pick *pick;
	struct trust *trust; /* of the samples that are drawn; NULL: not said */
	struct report_rows
		*rows;	/* also counts all stacks; borrowed, may be NULL */
	uint32_t group; /* of the stack that is drawn, for rows */
	int event;	/* index in stacks; -1: all events */
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
	uint64_t bogus;	   /* weight of stacks with bogus frames */
	uint64_t inferred; /* and of those with an inferred caller */
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
int drawing_take(struct drawing *d, struct stacks *s, int event,
		 struct err *err);
/* The same of folded text. */
int drawing_take_text(struct drawing *d, const char *path, int *status,
		      struct err *err);
/* Opens a database, or makes one of a capture, and adds notes about its
 * captures. Returns a store to be closed, or NULL and *err. */
struct store *drawing_open(struct drawing *d, const char *path, int *status,
			   struct err *err);
/* Loads what is said about frames and user stacks. d->stacks must be loaded.
 * Returns 0, or -1 and *err. */
int drawing_facts(struct drawing *d, struct store *db, struct err *err);
/* Adds a stack, outermost frame first; may reverse l. Returns 1, 0 if --include
 * or --exclude leaves it out, or -1 and *err. */
int drawing_add(struct drawing *d, struct label_list *l, uint64_t weight,
		uint64_t samples, struct err *err);
/* Counts a missing user half of the stack just added by its verdict; NULL means
 * it is not missing. word is borrowed for the drawing's life. */
void drawing_missing(struct drawing *d, const char *word, uint64_t weight);
/* Counts the samples of the stack just added for the note of trust. */
void drawing_trust(struct drawing *d, const struct stacks_group *g);
/* Counts the frames of the stack just added that were inferred. */
void drawing_infer(struct drawing *d, const struct stacks_group *g,
		   const struct label_list *l, uint64_t weight);
/* Adds notes about waits that are not drawn, if there are any. */
void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s);
/* Adds a note about missing user halves, if there are any. */
void drawing_note_missing(struct drawing *d);
/* Adds a note about inferred callers, if there are any. */
void drawing_note_inferred(struct drawing *d);
/* Finishes the tree. Returns 0, or -1 and *err, which names path, if the tree
 * has no weight. */
int drawing_finish(struct drawing *d, const char *path, struct err *err);
/* Appends the frames for a thread's name, pid and tid that the options ask
 * for. */
void drawing_thread(struct drawing *d, const struct stacks_comm *c,
		    struct label_list *l);
/* Appends a frame that is not code. */
void drawing_group(struct drawing *d, const char *name, struct label_list *l);
/* Returns a buffer of DRAWING_NOTE_MAX bytes for a new note, NULL if there are
 * too many. */
char *drawing_note(struct drawing *d);
#endif
