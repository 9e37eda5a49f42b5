/* capture.h - finds the captures of a database being written, by their
 * index. */
#pragma once
#include "schema/write/writing.h"

/* Returns the state of a capture, which is added if it is new. Valid until
 * another one is added. */
struct capture_map *capture_new_map(struct maker *mk, unsigned int index);
static inline struct capture_map *capture_map(struct maker *mk,
					      unsigned int index)
{
	return index < mk->w->n_capture ? &mk->w->capture[index]
					: capture_new_map(mk, index);
}
