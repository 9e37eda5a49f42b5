/* outline.h - rows that open into the rows below them: functions with their
 * callers or callees, or the tree of all calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;

#define OUTLINE_ROOT UINT32_MAX

struct outline_line {
	struct calls *tree; /* its children are in; borrowed; NULL: not
			     * made yet */
	uint32_t node;	    /* in the tree */
	uint32_t row;	    /* of sums; OUTLINE_ROOT: a node */
	uint32_t label;	    /* of sums_labels(), unless it is a row */
	uint32_t depth;
	uint64_t weight, self, samples;
	uint64_t parent; /* weight of the line that it is below */
	bool open, leaf; /* leaf: nothing is below it */
};

struct outline {
	struct outline_line *line;
	size_t n, cap;
};

/* Puts the children of a line, heaviest first, below it. Its tree must be
 * there. */
void outline_open(struct outline *o, size_t at);
/* Takes away all that is below a line. */
void outline_close(struct outline *o, size_t at);
/* Opens a line, the heaviest below it, and so on, while it has half of the
 * line's weight. Returns the last line. */
size_t outline_open_hot(struct outline *o, size_t at);
/* Returns the line that a line is below; itself if there is none. */
size_t outline_parent(const struct outline *o, size_t at);
void outline_release(struct outline *o);
