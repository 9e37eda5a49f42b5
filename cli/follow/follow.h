/* follow.h - streams become a folder of finished databases.
 *
 * This process only receives: it stores the streams as parts that can each be
 * read alone. A worker process makes the databases of the segments, one after
 * the other, so that a slow disk or many symbols do not make the recorder lose
 * events. If the worker dies, of a hostile part or of lack of memory, a new one
 * replaces it. The number of waiting segments is limited: above the limit, the
 * streams are not read, with a message; no part is dropped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/follow/segments.h"

/* The most inputs of a run. */
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
	const char *command;	     /* run for each database; NULL: none */
	bool quiet;
	bool top;	   /* show hot functions on the terminal */
	const char *print; /* command whose output for the last ten seconds is
			    * printed after new segments; NULL: none */
};

/* Follows the streams to their end. Sets *damaged if input was lost or could
 * not be read. Returns 0, or -1 and *err; finished databases stay. */
int follow_stream(const struct follow_opts *o, bool *damaged, struct err *err);
