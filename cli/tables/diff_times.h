/* diff_times.h - what changed between two sides in times that are no samples:
 * pairs of events, and waits. */
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
	struct diff_limit *fail; /* what may not grow; borrowed */
};

/* Prints the table. Returns an enum status, or -1 and *err. */
int diff_times(const struct sides *s, const struct diff_times_opts *o,
	       struct err *err);

/* Writes SQL that makes a view `changed` of those rows of table `result` in
 * which one of these columns says so. */
void diff_changed_view(const char *columns);

/* What plain diff says first, of recordings that began with a program and have
 * the switches of all threads: what its time went to, or that of the threads
 * that the filter selects, which is borrowed. */
struct diff_parts *diff_parts_new(const struct filter *filter,
				  struct name_opts names);
/* Adds a run to p, the parts; those of side 0 first. */
void diff_parts_add(void *p, int side, struct store *db, const char *path);
/* Returns the sentence, to be freed; NULL: a run has no such time. Called once.
 */
char *diff_parts_sentence(struct diff_parts *p);
/* Returns the parts behind the sentence. */
const struct timed *diff_parts_timed(const struct diff_parts *p);
void diff_parts_free(struct diff_parts *p); /* NULL is fine */
