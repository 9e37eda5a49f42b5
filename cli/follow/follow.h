/* follow.h - streams become a folder of finished databases.
 *
 * This process only receives: it stores the streams in parts that can be read
 * alone. Another one makes the databases of segments, one after the other, so
 * that a slow disk or many symbols do not make the recorder lose events. If
 * that process ends, by a hostile part or for want of memory, a new one takes
 * its place. Segments that wait are bounded; when there are too many, the
 * streams wait, and that is said: no part is dropped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/follow/segments.h"

/* Inputs at once. */
#define FOLLOW_INPUTS 16

struct load_ask;

struct follow_opts {
	const char *dir;
	/* "-", FIFOs and files with a stream, folders with finished files,
	 * live sessions of LTTng */
	char *const *input;
	size_t n_inputs;
	struct segment_limit segment, keep;
	const struct load_ask *load; /* how segments are read */
	const char *command;	     /* run for each segment; NULL: none */
	bool quiet;
	bool top;	   /* show hot functions on the terminal */
	const char *print; /* a command, whose answer of the last ten seconds is
			    * printed each second; NULL: none */
};

/* Follows the streams to their end. *damaged: part of them could not be read.
 * Returns 0, or -1 and *err; what was finished stays. */
int follow_stream(const struct follow_opts *o, bool *damaged, struct err *err);
