/* labels.h - the text of a frame in a line of folded stacks.
 *
 * It is made of the frame's function or image, and of the functions that were
 * inlined into it: these are told first, then come the frames by their ids. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct frames;
struct label_making;
struct maker;

/* Copies s to out, with replacements for what would break a line of folded
 * stacks. out always ends with a 0. Returns the length. */
size_t labels_text(const char *s, char *out, size_t size);

struct label_making *label_making_new(void);
void label_making_free(struct label_making *l); /* NULL is fine */
/* The name of a symbol by the id of its row. */
void labels_symbol(struct label_making *l, uint32_t id, const char *name);
/* A function that was inlined into a frame: not told twice with the same
 * depth, of which the outermost function has the highest. */
void labels_inlined(struct label_making *l, uint32_t frame, uint32_t depth,
		    const char *name);
/* All symbols and inlined functions were told; fr has the images. */
void labels_begin(struct label_making *l, const struct frames *fr);
/* Writes the label of a frame, whose id is above the last one. symbol: of its
 * function; 0: none. Returns 0, or -1 and *err. */
int labels_put(struct label_making *l, struct maker *mk, uint32_t frame,
	       uint64_t image, uint64_t symbol, struct err *err);
/* Makes the labels of all rows of frames, which have their last names, again.
 * Returns 0, or -1 and *err. */
int labels_make(struct maker *mk, struct err *err);
