/* bare_code.h - where the code of a database is: images, places of frames, and
 * stacks, without names.
 *
 * While a database is being made, frames and stacks are borrowed from what it
 * is made of; otherwise they are read from it. Ids are as in code.h: even in a
 * damaged database they are in range, and a parent is smaller than its
 * child. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "analyze/samples/code.h"
#include "stitch/tasks/frame.h"

struct bare_code {
	const struct code_image *image;	  /* [0] is empty */
	size_t n_image, n_frame, n_stack; /* the highest id of each, plus 1 */
	/* private: */
	const struct frames *fr; /* NULL: see frame and stack, by id - 1 */
	struct known_code *code;
	struct frame *frame;
	struct stack *stack;
	size_t cap_frame, cap_stack;
};

/* Returns the code, for bare_code_free(); NULL and *err if the database is
 * damaged. fr, if not NULL, has the frames and stacks that are in the database,
 * and is borrowed until bare_code_free(). */
struct bare_code *bare_code_load(struct store *db, const struct frames *fr,
				 struct err *err);
void bare_code_free(struct bare_code *c);

/* Return the object of an id from 1 to n_... - 1. */
static inline const struct frame *bare_code_frame(const struct bare_code *c,
						  uint32_t id)
{
	return c->fr ? frames_get_frame(c->fr, id) : &c->frame[id - 1];
}

static inline const struct stack *bare_code_stack(const struct bare_code *c,
						  uint32_t id)
{
	return c->fr ? frames_get_stack(c->fr, id) : &c->stack[id - 1];
}
