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
struct flame_tree;
struct label_facts;
struct label_list;
struct labels;
struct pick;
struct stacks;
struct stacks_comm;
struct store;

#define DRAWING_NOTE_MAX 320
#define DRAWING_WORDS 16 /* more than there are verdicts */

struct drawing {
	struct labels *labels;	   /* borrowed */
	struct stacks *stacks;	   /* NULL: read from text */
	struct label_facts *facts; /* NULL: not needed */
	struct flame_tree *tree;
	struct flame_tree *also; /* gets all stacks too, without weight; NULL */
	struct pick *pick;
	int event;	   /* place in stacks; -1: all */
	const char *want;  /* name of the event to draw; NULL: the heaviest */
	uint64_t lost;	   /* records, by the database */
	bool lost_unknown; /* and an unknown number of others */
	struct {
		const char *word;
		uint64_t weight;
	} missing[DRAWING_WORDS]; /* user halves, by what became of them */
	size_t n_missing;
	uint64_t bogus; /* weight of stacks with bogus frames */
	struct svg_opts o;
	char title[200];
	char capture[200]; /* where the samples are from; "" not said */
	char note[SVG_NOTES][DRAWING_NOTE_MAX];
	size_t n_note;
};

/* The tree is empty; -1 and *err for --include and --exclude. */
int drawing_init(struct drawing *d, struct labels *labels, struct err *err);
void drawing_release(struct drawing *d);
/* All of a database, a capture or a folded text, finished. */
int drawing_read(struct drawing *d, const char *path, int *status,
		 struct err *err);
/* Opens a database, or makes one of a capture, and notes what it is of. */
struct store *drawing_open(struct drawing *d, const char *path, int *status,
			   struct err *err);
/* What tooltips say of the frames; d->stacks is loaded. */
int drawing_facts(struct drawing *d, struct store *db, struct err *err);
/* One stack, outermost frame first; l may be turned round. 1; 0 when --include
 * and --exclude say no; -1 and *err. */
int drawing_add(struct drawing *d, struct label_list *l, uint64_t weight,
		uint64_t samples, struct err *err);
/* The user half of what was added is missing, for that reason (NULL: it is
 * there); word must live as long as the drawing. */
void drawing_missing(struct drawing *d, const char *word, uint64_t weight);
/* The line about those, if there are any. */
void drawing_note_missing(struct drawing *d);
/* Ends adding: path is for the error when nothing was added. */
int drawing_finish(struct drawing *d, const char *path, struct err *err);
/* The frames for a thread's name, process and number, as asked for. */
void drawing_thread(struct drawing *d, const struct stacks_comm *c,
		    struct label_list *l);
/* A frame that is no code. */
void drawing_group(struct drawing *d, const char *name, struct label_list *l);
/* A new line to fill, DRAWING_NOTE_MAX bytes; NULL: there are too many. */
char *drawing_note(struct drawing *d);
/* Forgets the notes so far. */
void drawing_drop_notes(struct drawing *d);
/* The name of the event that is drawn; NULL: none, or several. */
const char *drawing_event(const struct drawing *d);
/* A whole smaller than its parts would draw frames outside the picture. */
void drawing_check_total(const struct drawing *d);
#endif
