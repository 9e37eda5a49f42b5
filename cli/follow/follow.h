/* follow.h - a stream becomes a folder of finished databases.
 *
 * This process only receives: it stores the stream in parts that can be read
 * alone. A child makes the database of each part, one after the other, so that
 * a slow disk or many symbols do not make the recorder lose events. Parts that
 * wait are bounded; when there are too many, the oldest is dropped, and said.
 */
#ifndef CLI_FOLLOW_FOLLOW_H
#define CLI_FOLLOW_FOLLOW_H
#include <stdbool.h>

#include "cli/follow/segments.h"

struct err;

struct follow_opts {
	const char *dir;
	const char *input; /* "-", a FIFO, or a file with a stream */
	struct segment_limit segment, keep;
	const char *command; /* run for each segment; NULL: none */
	bool quiet;
};

/* Follows the stream to its end. *damaged: part of it could not be read.
 * Returns 0, or -1 and *err; what was finished stays. */
int follow_stream(const struct follow_opts *o, bool *damaged, struct err *err);
#endif
