/* capture.h - the captures of a database being written, by their index. */
#pragma once
#include "schema/write/writing.h"

/* Returns what is known of a capture, which is added if it is new. Valid until
 * another one is added. */
struct capture_map *capture_new_map(struct store *db, unsigned int index);
static inline struct capture_map *capture_map(struct store *db,
					      unsigned int index)
{
	return index < db->w->n_capture ? &db->w->capture[index]
					: capture_new_map(db, index);
}
