/* flame_draw.h - from samples, or folded text, to a tree that can be drawn.
 *
 * drawing_init(), drawing_read() once (or drawing_open() and own calls of
 * drawing_add()), then write the tree; drawing_release(). Notes are the lines
 * below the picture (flame_notes.h). Drawings that are compared share their
 * labels. */
#pragma once

#include "cli/pictures/drawing.h"

struct label_list;
struct stacks_comm;
struct stacks_group;
struct store;

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
