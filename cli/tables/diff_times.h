/* diff_times.h - what changed between two sides in times that do not come from
 * samples: pairs of events, and waits. */
#pragma once
#include <stddef.h>

#include "analyze/diffs/compare.h"
#include "analyze/path/timed.h"

struct diff_limit;
struct diff_parts;
struct sides;

struct diff_times_opts {
	compare_open_fn *open;
	const void *open_arg;
	const char *format;
	size_t limit; /* rows; SIZE_MAX: all */
	struct timed_ask ask;
	struct diff_limit *fail; /* limit of growth; borrowed */
};

/* Prints the table. Returns an enum status, or -1 and *err. */
int diff_times(const struct sides *s, const struct diff_times_opts *o,
	       struct err *err);

/* Prints SQL that creates a view `changed` of the rows of table `result` for
 * which one of these columns shows a change. */
void diff_changed_view(const char *columns);

/* Returns an object for the first sentence of plain diff, on where the time of
 * the program went, or that of the threads that filter selects. filter is
 * borrowed. The recordings must have begun with a program and have all
 * switches. */
struct diff_parts *diff_parts_new(const struct filter *filter,
				  struct name_opts names);
/* Adds a run to the parts p; runs of side 0 come first. */
void diff_parts_add(void *p, int side, struct store *db, const char *path);
/* Returns the sentence, which the caller frees, or NULL if a run has no such
 * time. It is called once. */
char *diff_parts_sentence(struct diff_parts *p);
/* Returns the times of the sentence, borrowed. */
const struct timed *diff_parts_timed(const struct diff_parts *p);
void diff_parts_free(struct diff_parts *p);
